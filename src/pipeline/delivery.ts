import { type Batch, type BatchLimits, nextBatch } from './batch.js';
import { type ItemText, idOf } from './event.js';
import { fail, isProven, type Link, newLink, release, succeed, take, timeLeft } from './link.js';
import { changedRows, type Queue } from './queue.js';
import type { Entry, Row, Store } from './store.js';
import type { Answer } from './transport.js';

/**
 * What the sending tab says, to itself and to the other tabs: ids of what is under way now, of what has been answered
 * for, and of what of that was refused.
 */
export type Report = readonly [taken: readonly string[], done: readonly string[], rejected: readonly string[]];

/** What delivery works with. */
export interface DeliveryPorts {
  readonly store: Store;
  readonly queue: Queue;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** Names this page load among those who may hold the lease. */
  readonly tab: string;
  /** `flushInterval`: ms from an item's arrival to the request that takes it. */
  readonly limits: BatchLimits & { readonly flushInterval: number };
  /** Ids of events that are to go to the single-event endpoint. */
  readonly singles: Set<string>;
  send(batch: Batch, leaving: boolean): Promise<Answer> | false;
  /** To be told to the other tabs. */
  onReport(report: Report): void;
  /** Items of this page have been answered for, by whichever tab has sent them. */
  onSettled(items: ItemText[], rejected: readonly string[]): void;
  onError(message: string | undefined): void;
}

export interface Delivery {
  /** An item of this size has come in. */
  added(size: number): void;
  /** Sends all there is; resolves when it is answered for or has to wait. With `force` a back-off ends,
   * but not the wait after a refusal of key or address. */
  flush(force?: boolean): Promise<void>;
  /** Another tab, or this one, reports. Returns the rows of this page that change. */
  hear(...report: Report): Row[];
  /** The page is going away: hands over what is left, and from now on at once what still comes. */
  leave(): void;
  /** The page has come back: what has come in meanwhile goes with the next flush. */
  restore(): void;
}

/** All keep-alive bodies of a page together, in bytes: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const KEEPALIVE_QUOTA = 65_536;
/** So many events in a row refused one by one: then it is the service, not the events. */
const BREAKER = 5;

const { now } = Date;

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
  /** What the next transaction does. */
  let change: (link: Link, tab: string, now: number) => void;
  let entries: Entry[] = [];
  let isAway = false;
  let isRunning = false;
  let isForced = false;
  /** Bytes of the request under way. */
  let flying = 0;
  /** How much of a batch has come in since the last flush. */
  let fresh = 0;
  let busy: readonly string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Promise.resolve();
  let next: Promise<void> | undefined;

  const hear = (...[taken, done, rejected]: Report): Row[] => {
    const [removed, rows] = queue.remove(done);
    busy = taken;
    onSettled(removed, rejected);
    return rows;
  };

  const report = (...said: Report): Row[] => {
    onReport(said);
    return hear(...said);
  };

  /** Sends the next batch and sees what the answer means. */
  const turn = async () => {
    const since = link;
    const rows = await store.read(service);
    // What was read may have been handed over meanwhile; the lease may have run out while the tab was frozen.
    if (since !== link || now() > link.until) return;
    const stored = rows.flatMap(([, items = []]) => items);
    // What memory has and the store has not is no less to be sent: storage may be refused, or have been cleared.
    const batch = nextBatch(
      stored[0] ? stored : [...queue.items.values()],
      { ...limits, maxBatchEvents: most },
      singles,
    );
    if (!batch) {
      change = release;
      return;
    }
    const ids = batch.items.map(idOf);
    report(ids, [], []);
    // Should this attempt fail, the event travels in a batch, with the time at which it happened.
    for (const id of ids) singles.delete(id);
    flying = batch.bytes;
    // In a function of its own: a transport may throw, too.
    const answer = await (async () => send(batch, false) as Promise<Answer>)().catch(
      (message): Answer => ({ outcome: 'failed', message }),
    );
    flying = 0;
    judge(rows, ids, answer);
  };

  /** What an answer means. */
  const judge = (rows: Row[], ids: string[], { outcome, retryAfter, rejected, message }: Answer) => {
    let done: string[] = [];
    let refused = ids;
    // The same again, byte for byte.
    most = ids.length;
    isRefused = outcome === 'refused';
    if (outcome === 'delivered') {
      done = ids;
      // Whatever answers is free to say anything under this name.
      refused = rejected?.map?.((one) => one?.uuid) ?? [];
      refusals = 0;
      most = limits.maxBatchEvents;
      change = succeed;
    } else if (outcome === 'rejected' && ids[1]) {
      // Half of it, until what is refused for what is in it stands alone.
      most >>= 1;
    } else if (outcome === 'rejected' && ++refusals < BREAKER) {
      done = ids;
    } else {
      isRefused = outcome !== 'failed';
      change = (...held) => fail(...held, isRefused, retryAfter);
    }
    if (isRefused || (done[0] && refused[0])) onError(message);
    const own = report([], done, refused);
    entries = [...changedRows(rows, (text) => !done.includes(idOf(text))), ...own];
  };

  const schedule = (delay: number) => {
    if (!isAway) timer ??= setTimeout(flush, delay);
  };

  const pass = async () => {
    const force = isForced;
    change = (...held) => take(...held, force);
    clearTimeout(timer);
    next = timer = undefined;
    isForced = false;
    fresh = 0;
    isRunning = true;
    queue.persist();
    for (;;) {
      link = await store.transact<Link>(entries, linkName, (old = newLink()) => {
        change(old, tab, now());
        if (isAway) release(old, tab);
        return old;
      });
      entries = [];
      if (link.by !== tab) break;
      change = take;
      await turn();
    }
    isRunning = false;
    const delay = timeLeft(link, tab, now());
    if (delay || queue.items.size) schedule(delay || limits.flushInterval);
  };

  const flush = (force = false): Promise<void> => {
    isForced ||= force && !isRefused;
    current = next ??= current.then(pass);
    return current;
  };

  const leave = () => {
    isAway = true;
    const handed: string[] = [];
    let room = KEEPALIVE_QUOTA - flying;
    let idle = [...queue.items.values()].filter((text) => navigator.onLine && !busy.includes(idOf(text)));
    for (;;) {
      const batch = nextBatch(idle, { ...limits, maxBatchBytes: Math.min(limits.maxBatchBytes, room) });
      const answer = batch && batch.bytes <= room && send(batch, true);
      if (!answer) break;
      // Whatever comes of it later, nobody is there to hear it.
      answer.catch(() => {});
      room -= batch.bytes;
      handed.push(...batch.items.map(idOf));
      idle = idle.slice(batch.items.length);
    }
    // Once is enough, even if they stay queued.
    busy = [...busy, ...handed];
    const left: Entry[] = isProven(link, now()) ? report(busy, handed, []) : [];
    queue.persist();
    if (isRunning) {
      // Also a lease that is being taken at this moment: it would outlive the page.
      link = { ...link, by: '', until: 0 };
      left.push([linkName, link]);
    }
    if (left[0]) store.transact(left);
  };

  return {
    added(size) {
      fresh += Math.max(1 / limits.maxBatchEvents, size / limits.maxBatchBytes);
      if (isAway) queueMicrotask(leave);
      else if (fresh < 1) schedule(limits.flushInterval);
      else if (!timeLeft(link, tab, now())) flush();
    },
    flush,
    hear,
    leave,
    restore() {
      isAway = false;
    },
  };
};
