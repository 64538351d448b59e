import { type Batch, type BatchLimits, batchesWithin, nextBatch } from './batch.js';
import { type ItemText, idOf } from './event.js';
import { fail, isProven, type Link, newLink, release, succeed, take, timeLeft } from './link.js';
import type { Queue } from './queue.js';
import type { Entry, Row, Store } from './store.js';
import type { Answer } from './transport.js';

/** What the sending tab says, to itself and to the other tabs. */
export interface Report {
  /** Ids of what is under way now. */
  readonly taken: readonly string[];
  /** Ids of what has been answered for. */
  readonly done: readonly string[];
  /** Ids of those of them that were refused. */
  readonly rejected: readonly string[];
}

/** What delivery works with. */
export interface DeliveryPorts {
  readonly store: Store;
  readonly queue: Queue;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** Names this page load among the holders of the lease. */
  readonly tab: string;
  /** `flushInterval`: ms from an item's arrival to the request that takes it. */
  readonly limits: BatchLimits & { readonly flushInterval: number };
  /** Ids of events that are to go to the single-event endpoint. */
  readonly singles: Set<string>;
  send(batch: Batch, leaving: boolean): Answer | Promise<Answer>;
  /** To be told to the other tabs. */
  onReport(report: Report): void;
  /** Items of this page have been answered for, by whichever tab has sent them. */
  onSettled(items: ItemText[], rejected: readonly string[]): void;
  onError(message: string): void;
}

export interface Delivery {
  /** An item of this size has come in. */
  added(size: number): void;
  /** Sends all there is; resolves when it is answered for or has to wait. With `force` no back-off is waited for. */
  flush(force?: boolean): Promise<void>;
  /** Another tab, or this one, reports. Returns the rows of this page that change. */
  hear(report: Report): Row[];
  /** The visitor or the network is back: that ends a back-off. */
  wake(): void;
  /** The page is going away: hands over what is left. */
  leave(): void;
  /** The page has come back. */
  restore(): void;
  stop(): void;
}

/** All keep-alive bodies of a page together, in bytes: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const KEEPALIVE_QUOTA = 65_536;
/** So many events in a row refused one by one: then it is the service, not the events. */
const BREAKER = 5;

const { now } = Date;

/** The rows that change when these ids are done with, without them. */
const without = (rows: readonly Row[], ids: readonly string[]): Row[] =>
  rows
    .filter(([, items]) => items.some((text) => ids.includes(idOf(text))))
    .map(([key, items]) => [key, items.filter((text) => !ids.includes(idOf(text)))]);

/** What a turn changes in the store. */
type Settlement = [change: (link: Link) => void, rows?: Row[]];

/** The loop: one request at a time over all tabs, oldest rows first; each turn's transaction settles the last answer. */
export const createDelivery = (ports: DeliveryPorts): Delivery => {
  const { store, queue, service, tab, limits, singles, send, onReport, onSettled, onError } = ports;
  const linkName = `link ${service}`;
  /** How many events may go next: fewer after a refusal, to find the one that is refused. */
  let most = limits.maxBatchEvents;
  let refusals = 0;
  /** The key or the address is refused: a wait that the visitor's coming back does not end. */
  let isRefused = false;
  /** As of the last transaction; a page that leaves makes it another one. */
  let link = newLink();
  let phase: 'here' | 'away' | 'stopped' = 'here';
  let isRunning = false;
  let isForced = false;
  /** Bytes of the request under way, and of what has been handed over since the page was last shown. */
  let flying = 0;
  let handedOver = 0;
  /** How much of a batch has come in since the last flush. */
  let fresh = 0;
  let busy: readonly string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Promise.resolve();
  let next: Promise<void> | undefined;

  const hear = ({ taken, done, rejected }: Report): Row[] => {
    const { removed, rows } = queue.remove(done);
    busy = taken;
    onSettled(removed, rejected);
    return rows;
  };

  const report = (taken: readonly string[], done: readonly string[] = [], rejected: readonly string[] = []): Row[] => {
    onReport({ taken, done, rejected });
    return hear({ taken, done, rejected });
  };

  const renew = (old: Link) => take(old, tab, now());

  /** What an answer means, and what it changes in the store. */
  const judge = (ids: string[], rows: Row[], answer: Answer): Settlement => {
    const { outcome, retryAfter, rejected = [], message } = answer;
    const isDelivered = outcome === 'delivered';
    const isSingle = !ids[1];
    refusals = outcome === 'rejected' && isSingle ? refusals + 1 : 0;
    isRefused = outcome === 'refused' || refusals >= BREAKER;
    const isPoison = refusals && !isRefused;
    // The same again, byte for byte, unless it was refused: then half of it, until one stands alone.
    most = isDelivered || isPoison ? limits.maxBatchEvents : ids.length;
    if (isRefused || isPoison || rejected[0]) onError(`${message}`);
    if (isDelivered || isPoison) {
      const own = report([], ids, isPoison ? ids : rejected.map(({ uuid }) => uuid));
      return [isPoison ? renew : (old) => succeed(old, tab, now()), [...without(rows, ids), ...own]];
    }
    report([]);
    if (outcome !== 'rejected' || isRefused) return [(old) => fail(old, tab, now(), isRefused, retryAfter)];
    most >>= 1;
    return [renew];
  };

  const turn = async (): Promise<Settlement> => {
    const since = link;
    const rows = await store.read(service);
    // What was read may have been handed over meanwhile; the lease may have run out while the tab was frozen.
    if (since !== link || now() > link.until) return [renew];
    const stored = rows.flatMap(([, items]) => items);
    // What memory has and the store has not is no less to be sent: storage may be refused, or have been cleared.
    const batch = nextBatch(stored[0] ? stored : queue.items(), { ...limits, maxBatchEvents: most }, singles);
    if (!batch) return [(old) => release(old, tab)];
    const ids = batch.items.map(idOf);
    report(ids);
    // Should this attempt fail, the event travels in a batch, with the time at which it happened.
    for (const id of ids) singles.delete(id);
    flying = batch.bytes;
    let answer: Answer;
    try {
      answer = await send(batch, false);
    } catch (error) {
      answer = { outcome: 'failed', message: `${error}` };
    }
    flying = 0;
    return judge(ids, rows, answer);
  };

  const schedule = (delay: number) => {
    if (phase === 'here') timer ??= setTimeout(flush, delay);
  };

  const pass = async () => {
    const force = isForced;
    let [change, rows = []]: Settlement = [(old) => take(old, tab, now(), force)];
    clearTimeout(timer);
    next = timer = undefined;
    isForced = false;
    fresh = 0;
    isRunning = true;
    queue.persist();
    for (;;) {
      link = await store.transact<Link>(rows, linkName, (old = newLink()) => {
        change(old);
        if (phase !== 'here') release(old, tab);
        return old;
      });
      if (link.holder !== tab) break;
      [change, rows = []] = await turn();
    }
    isRunning = false;
    const delay = timeLeft(link, tab, now());
    if (delay || queue.size()) schedule(delay || limits.flushInterval);
  };

  const flush = (force = false): Promise<void> => {
    isForced ||= force;
    current = next ??= current.then(pass);
    return current;
  };

  const leave = () => {
    phase = 'away';
    const isOnline = navigator.onLine !== false;
    const handed: string[] = [];
    const idle = queue.items().filter((text) => isOnline && !busy.includes(idOf(text)));
    try {
      for (const batch of batchesWithin(idle, limits, KEEPALIVE_QUOTA - flying - handedOver)) {
        const answer = send(batch, true);
        if ('outcome' in answer && answer.outcome === 'failed') break;
        // Whatever comes of it later, nobody is there to hear it.
        if ('catch' in answer) answer.catch(() => {});
        handedOver += batch.bytes;
        handed.push(...batch.items.map(idOf));
      }
    } catch {}
    const entries: Entry[] = isProven(link, now()) ? report(busy, handed) : [];
    queue.persist();
    if (isRunning) {
      // Also a lease that is being taken at this moment: it would outlive the page.
      link = { ...link, holder: '', until: 0 };
      entries.push([linkName, link]);
    }
    if (entries[0]) store.transact(entries);
  };

  return {
    added(size) {
      fresh += Math.max(1 / limits.maxBatchEvents, size / limits.maxBatchBytes);
      if (phase === 'away') queueMicrotask(leave);
      else if (fresh < 1) schedule(limits.flushInterval);
      else if (!timeLeft(link, tab, now())) flush();
    },
    flush,
    hear,
    wake() {
      if (!isRefused) flush(true);
    },
    leave,
    restore() {
      phase = 'here';
      handedOver = 0;
      flush(true);
    },
    stop() {
      phase = 'stopped';
      clearTimeout(timer);
    },
  };
};
