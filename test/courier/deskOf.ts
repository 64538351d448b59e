import { newBisection } from '../../src/courier/bisect.ts';
import type { Desk, Pass } from '../../src/courier/desk.ts';
import { newLink } from '../../src/courier/lease.ts';
import type { CourierPorts } from '../../src/courier/ports.ts';
import { NO_RENEWAL } from '../../src/courier/renewal.ts';
import { createMemoryStore, type MemoryStore } from '../outbox/memoryStore.ts';
import { createOutbox } from '../outbox/outbox.ts';
import { SERVICE } from './tab.ts';

/** The state that the steps of a pass share, with a store in memory and a pass that has begun. */
export const deskOf = (changes: Partial<CourierPorts> = {}, store: MemoryStore = createMemoryStore()) => {
  const queue = createOutbox({ store, service: SERVICE, page: 'me' });
  const ports: CourierPorts = {
    store,
    queue,
    service: SERVICE,
    makeName: () => 'me',
    clock: () => [1_700_000_000_000, 1000],
    farewell: { hasLeft: () => false, mayHaveProperties: () => false, settle: () => {} },
    limits: { maxBatchEvents: 2, maxBatchBytes: 60_000, flushInterval: 3000, maxAge: Number.POSITIVE_INFINITY },
    isDirect: false,
    receipts: undefined,
    books: undefined,
    flight: { bytes: 0 },
    pack: async () => undefined,
    send: async () => ({ outcome: 'delivered' }),
    defer: () => undefined,
    keep: () => false,
    onReport: () => {},
    onLost: () => () => {},
    onSettled: () => {},
    onError: () => {},
    onAnswer: () => {},
    onLink: () => {},
    ...changes,
  };
  const desk: Desk = {
    ports,
    bisection: newBisection(60_000),
    known: { busy: new Set(), settled: new Set(), singles: new Set() },
    state: { holder: 'me', does: 'wait' },
    link: newLink(),
    renewal: NO_RENEWAL,
    waiting: 0,
    refusals: 0,
  };
  const pass: Pass = {
    refusals: 0,
    scope: { page: 'me', latest: 1e3 },
    entered: desk.state,
    found: { link: desk.link, rows: [], remaining: 0 },
    hasSettled: false,
    wasEmpty: false,
  };
  return { store, queue, desk, pass };
};
