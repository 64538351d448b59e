import { now, relayed, tracksMany } from '../breakPlans.ts';
import { INVARIANTS } from '../checks.ts';
import type { KnownBreak } from '../knownBreak.ts';
import { has } from '../plan.ts';

/** Known breaks that walks of the theme `storage` have found. */
export const storageBreaks: readonly KnownBreak[] = [
  {
    name: 'the bound counts events twice that a page has read in the store and then learns of from their page, so an event is dropped as full too early',
    invariant: INVARIANTS.dropped,
    source: { docs: 'The count of stored events is an estimate.' },
    plan: relayed(
      60_106_918,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 0, person: 'bob' } },
        { wait: { tasks: 4 }, action: { verb: 'offline' } },
        { wait: now, action: { verb: 'track', tab: 2, count: 3, name: 'walk' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 2 } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: { ms: 13517 }, action: { verb: 'fillDisk', isFull: true } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: { tasks: 7 }, action: { verb: 'track', tab: 1, count: 3, name: 'walk' } },
        { wait: { ms: 436 }, action: { verb: 'network', kind: 'hangs' } },
        { wait: { tasks: 2 }, action: { verb: 'track', tab: 1, count: 60, name: 'walk' } },
      ],
      {
        theme: 'storage',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false', maxQueuedEvents: '80' },
      },
    ),
    mayShow: (plan, detail) => tracksMany(plan) && detail.endsWith('full'),
  },
  {
    name: 'a page takes in what earlier pages have left, beyond the bound of its own',
    invariant: INVARIANTS.bounds,
    source: { docs: 'Events of earlier pages' },
    plan: relayed(
      40151,
      [
        { wait: { tasks: 0 }, action: { verb: 'hangOpens', ms: 2500 } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'offline' } },
        { wait: { tasks: 0 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 316 }, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } },
        { wait: { tasks: 2 }, action: { verb: 'track', tab: 1, count: 60, name: 'walk' } },
        { wait: { tasks: 9 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 2 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
        { wait: { ms: 745 }, action: { verb: 'online' } },
      ],
      {
        theme: 'storage',
        isDirect: true,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', flushInterval: '200', maxQueuedEvents: '80' },
        hasStub: false,
      },
    ),
    mayShow: tracksMany,
  },
  {
    name: 'a page from the back/forward cache counts as queued what another page has sent, so it has too many',
    invariant: INVARIANTS.bounds,
    source: { docs: 'The count of stored events is an estimate.' },
    plan: relayed(
      38802,
      [
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { tasks: 5 }, action: { verb: 'track', tab: 1, count: 60, name: 'walk' } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: { ms: 33757 }, action: { verb: 'service', status: undefined, takes: false } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 1 } },
        { wait: { ms: 2 }, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        theme: 'storage',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', compress: 'false', maxQueuedEvents: '80' },
        hasStub: true,
      },
    ),
    mayShow: (plan) => tracksMany(plan) && has(plan, 'back'),
  },
  {
    name: 'another page has taken in an event from the journal of a page that then drops it as full',
    invariant: INVARIANTS.revived,
    source: { docs: 'The count of stored events is an estimate.' },
    plan: relayed(
      446628,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } },
        { wait: { tasks: 8 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'fillDisk', isFull: true } },
        { wait: { ms: 318 }, action: { verb: 'online' } },
      ],
      {
        theme: 'storage',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', compress: 'false', maxQueuedEvents: '80' },
        hasStub: false,
      },
    ),
    mayShow: tracksMany,
  },
];
