import { createCourier } from '../../src/courier/courier.ts';
import type { Batch } from '../../src/courier/cut.ts';
import type { Courier, Report } from '../../src/courier/ports.ts';
import type { Answer } from '../../src/courier/transport.ts';
import type { Books } from '../../src/outbox/books.ts';
import type { Queue } from '../../src/outbox/queue.ts';
import { createReceipts } from '../../src/outbox/receipts.ts';
import { type ItemText, idOf } from '../../src/recorder/event.ts';
import { createMemoryStore, type MemoryStore } from '../outbox/memoryStore.ts';
import { createOutbox } from '../outbox/outbox.ts';

export const SERVICE = '/clew';
export const LINK = `link ${SERVICE}`;

/** Far more requests than a tab of any test makes. */
const MOST_REQUESTS = 1000;

/** Answers a request, now or later. The function may throw, like a transport that fails. */
export type Respond = (batch: Batch, leaving: boolean) => Answer | Promise<Answer> | false;

export interface Tab {
  store: MemoryStore;
  queue: Queue;
  courier: Courier;
  /** The requests with events that went out, as they are without a receipt. */
  sent: Batch[];
  /** The requests without events, which only ask about handovers. */
  questions: Batch[];
  /** The body of each request. */
  bodies: string[];
  /** Ids of this tab's items that were confirmed, or rejected. */
  delivered: string[];
  rejected: string[];
  errors: string[];
  /** The request that the browser would send if the page ended now. */
  deferred(): Batch | undefined;
  /** The page unloads, and the tracker journals its name if it leaves a lease. */
  leave(): void;
  /** Queues one event (or the items given) as a tracker does, and returns the ids. */
  track(...items: ItemText[]): string[];
}

export interface TabOptions {
  store?: MemoryStore;
  name?: string;
  /** Number of the page load. */
  page?: number;
  respond?: Respond;
  isDirect?: boolean;
  /** Bytes in flight, of all trackers of the page. */
  flight?: { bytes: number };
  /** Takes the request that the browser is to send when the page ends. The function may throw, like a browser that refuses. */
  defer?: (batch: Batch) => () => void;
  books?: Books;
  /** Resolves when a body has been packed. */
  pack?: () => Promise<undefined>;
  limits?: { maxBatchEvents?: number; maxBatchBytes?: number; flushInterval?: number };
  /** Passes this tab's reports to the other tabs. */
  onReport?: (report: Report) => void;
  /** Receives the ids of confirmed events, as a listener of the app does. */
  onDelivered?: (ids: readonly string[]) => void;
}

/** Names of pages that have left with the lease, as all pages of an origin see them. */
const journals = new WeakMap<MemoryStore, string[]>();

/** localStorage of an origin, which all its pages share. */
const locals = new WeakMap<MemoryStore, Record<string, string>>();
export const localOf = (store: MemoryStore): Record<string, string> => {
  const local = locals.get(store) ?? {};
  locals.set(store, local);
  return local;
};

/** Removes the id of the request and its questions, which stand before everything else. */
const withoutReceipt = (body: string): string => body.replace(/^\{"handover":"[^"]*",("handovers":\[\[.*?\]\],)?/, '{');

/** The outbox and courier of a tab: a queue, its delivery, and a service that answers with `respond`. */
export const createTab = (options: TabOptions = {}): Tab => {
  const { store = createMemoryStore(), name = 'tab', page = 1, respond = () => ({ outcome: 'delivered' }) } = options;
  const limits = {
    maxBatchEvents: 200,
    maxBatchBytes: 60_000,
    flushInterval: 3000,
    maxAge: Number.POSITIVE_INFINITY,
    ...options.limits,
  };
  const queue = createOutbox({ store, service: SERVICE, page: name, limits, pages: () => page });
  const left = journals.get(store) ?? [];
  journals.set(store, left);
  const sent: Batch[] = [];
  const questions: Batch[] = [];
  const bodies: string[] = [];
  const delivered: string[] = [];
  const rejected: string[] = [];
  const errors: string[] = [];
  let deferred: Batch | undefined;
  const courier = createCourier({
    store,
    queue,
    service: SERVICE,
    makeName: () => name,
    clock: () => [1_700_000_000_000, 1000],
    farewell: { hasLeft: (tab) => left.includes(tab), mayHaveProperties: () => !!left[0], settle: () => {} },
    flight: options.flight ?? { bytes: 0 },
    limits,
    isDirect: options.isDirect ?? false,
    receipts: options.isDirect ? undefined : createReceipts(SERVICE, localOf(store)),
    books: options.books,
    pack: options.pack ?? (async () => undefined),
    send(batch, leaving) {
      // A courier that asks without end, while no time passes, would keep the test from ending.
      if (bodies.length >= MOST_REQUESTS) throw new Error(`expected at most ${MOST_REQUESTS} requests of a tab`);
      (batch.items[0] ? sent : questions).push({ ...batch, body: withoutReceipt(batch.body) });
      bodies.push(batch.body);
      const answer = respond(batch, leaving) as Answer | Promise<Answer> | false | undefined;
      const isPlain = !!answer && 'outcome' in answer;
      // A transport that breaks its contract may return anything.
      return isPlain ? Promise.resolve(answer) : (answer as Promise<Answer> | false);
    },
    keep: () => false,
    defer(batch) {
      const takeBack = options.defer?.(batch);
      deferred = batch;
      return () => {
        takeBack?.();
        deferred = undefined;
      };
    },
    onReport: options.onReport ?? (() => {}),
    onAnswer: () => {},
    onLink: () => {},
    onSettled(items, refused) {
      const ids = items.map(idOf);
      for (const id of ids) (refused.includes(id) ? rejected : delivered).push(id);
      const confirmed = ids.filter((id) => !refused.includes(id));
      if (confirmed[0]) options.onDelivered?.(confirmed);
    },
    onLost: () => () => {},
    onError: (message) => errors.push(message ?? ''),
  });
  return {
    store,
    queue,
    courier,
    sent,
    questions,
    bodies,
    delivered,
    rejected,
    errors,
    deferred: () => deferred,
    leave() {
      const lease = courier.leave();
      if (lease) left.push(lease);
    },
    track(...items) {
      for (const text of items) {
        queue.add(text);
        courier.added();
      }
      return items.map(idOf);
    },
  };
};

/** Tabs of one store that receive each other's reports. */
export const createTabs = (count: number, options: TabOptions = {}): Tab[] => {
  const store = createMemoryStore();
  const tabs: Tab[] = [];
  for (let i = 0; i < count; i++) {
    const tell = (report: Report) => {
      for (const [other, tab] of tabs.entries()) if (other !== i) tab.courier.receive(...report);
    };
    tabs.push(createTab({ ...options, store, name: `tab ${i}`, page: i + 1, onReport: tell }));
  }
  return tabs;
};

/** An answer that arrives when the test calls `give`. */
export const pendingAnswer = () => {
  let give: (answer: Answer) => void = () => {};
  const answer = new Promise<Answer>((resolve) => {
    give = resolve;
  });
  return { answer, give };
};

/** A service that refuses the events for which `isPoison` holds. `arrived` has the ids of all other events, in order. */
export const poisonable = (isPoison: (text: ItemText) => boolean, refusal: Answer) => {
  const arrived: string[] = [];
  const respond: Respond = ({ items }) => {
    if (items.some(isPoison)) return refusal;
    arrived.push(...items.map(idOf));
    return { outcome: 'delivered' };
  };
  return { arrived, respond };
};
