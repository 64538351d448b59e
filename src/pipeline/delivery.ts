import { type Batch, type BatchLimits, batchesWithin, nextBatch } from './batch.js';
import { type ItemText, idOf } from './event.js';
import { createIsolation } from './isolation.js';
import { fail, isProven, type Link, leaseLeft, newLink, release, succeed, take, waitLeft } from './link.js';
import type { Queue } from './queue.js';
import type { Row, Store } from './store.js';
import type { Answer, Courier } from './transport.js';

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
  readonly courier: Courier;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** Names this page load among the holders of the lease. */
  readonly tab: string;
  readonly limits: BatchLimits;
  /** Ms from an item's arrival to the request that takes it. */
  readonly flushInterval: number;
  /** Ids of events that are to go to the single-event endpoint. */
  readonly singles: Set<string>;
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
  flush(force: boolean): Promise<void>;
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

/** What an answer changes in the store. */
type Settlement = [change: (link: Link) => void, rows?: Row[]];

/** All keep-alive bodies of a page together, in bytes: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const KEEPALIVE_QUOTA = 65_536;
/** So many failures in a row before a 500 may mean the batch: the service says 500 for a poison event, too. */
const DOUBTS = 3;

const { now } = Date;

/** The rows that change when these ids are done with, without them. */
const without = (rows: readonly Row[], ids: readonly string[]): Row[] =>
  rows.flatMap(([key, items]): Row[] => {
    const rest = items.filter((text) => !ids.includes(idOf(text)));
    return rest.length < items.length ? [[key, rest]] : [];
  });

/** The loop: one request at a time over all tabs, oldest rows first; each turn's transaction settles the last answer. */
export const createDelivery = (ports: DeliveryPorts): Delivery => {
  const { store, queue, courier, service, tab, limits, flushInterval, singles, onError } = ports;
  const linkName = `link ${service}`;
  const isolation = createIsolation(limits);
  let link: Link | undefined;
  let phase: 'here' | 'away' | 'stopped' = 'here';
  let departures = 0;
  let isRunning = false;
  /** Bytes of the request under way, and of what has been handed over since the page was last shown. */
  let flyingBytes = 0;
  let handedBytes = 0;
  let freshEvents = 0;
  let freshSize = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Promise.resolve();
  let next: Promise<void> | undefined;
  let isForced = false;
  let busy = new Set<string>();

  const hear = ({ taken, done, rejected }: Report): Row[] => {
    busy = new Set(taken);
    const { removed, rows } = queue.remove(done);
    ports.onSettled(removed, rejected);
    return rows;
  };

  const report = (taken: readonly string[], done: readonly string[] = [], rejected: readonly string[] = []): Row[] => {
    ports.onReport({ taken, done, rejected });
    return hear({ taken, done, rejected });
  };

  const renew = (old: Link) => take(old, tab, now());

  /** What has been answered for is told to all tabs, and leaves the store with the next transaction. */
  const settle = (
    change: Settlement[0],
    rows: Row[] = [],
    done: string[] = [],
    rejected: string[] = [],
  ): Settlement => {
    report([], done, rejected);
    return [change, without(rows, done)];
  };

  const wait = (isRefused: boolean, retryAfter?: number): Settlement =>
    settle((old) => {
      fail(old, now(), isRefused, retryAfter);
      release(old, tab);
    });

  const judge = (rows: Row[], batch: Batch, { outcome, status, retryAfter, rejected = [], message }: Answer) => {
    const ids = batch.items.map(idOf);
    if (outcome === 'delivered') {
      for (const { uuid, reason } of rejected) onError(`${uuid} rejected: ${reason}`);
      const guilty = isolation.clear();
      const succeeded = (old: Link) => {
        succeed(old, now());
        renew(old);
      };
      return settle(succeeded, rows, [...ids, ...guilty], [...guilty, ...rejected.map(({ uuid }) => uuid)]);
    }
    if (outcome === 'failed') {
      // The same again, byte for byte, unless the batch itself has come into doubt.
      isolation.limits.maxBatchEvents = ids.length;
      if (status === 500 && (link as Link).failures >= DOUBTS && !isolation.narrow(batch, status)) isolation.clear();
      return wait(false, retryAfter);
    }
    const isNarrowed = outcome === 'rejected' && isolation.narrow(batch, status);
    if (!ids[1] || !isNarrowed) onError(`${message}`);
    if (isNarrowed) return settle(renew);
    isolation.clear();
    return wait(true, retryAfter);
  };

  /** Nothing is left to send: what was stored before the store was found empty, other tabs have delivered. */
  const finish = (rows: Row[], stored: string[]): Settlement => {
    const suspects = isolation.clear();
    if (suspects[0] && !isolation.isSure()) return wait(false);
    const done = rows.length ? suspects : stored;
    return settle((old) => release(old, tab), rows, done, suspects);
  };

  const turn = async (): Promise<Settlement> => {
    const since = departures;
    const stored = queue.stored();
    const rows = await store.read(service, isolation.reach());
    // What was read may have been handed over meanwhile; the lease may have run out while the tab was frozen.
    if (since !== departures || now() > (link as Link).until) return [renew];
    const items = rows.flatMap(([, texts]) => texts).filter((text) => !isolation.suspects.has(idOf(text)));
    const batch = nextBatch(items, isolation.limits, singles);
    if (!batch) return finish(rows, stored);
    const taken = batch.items.map(idOf);
    report(taken);
    // Should this attempt fail, the event travels in a batch, with the time at which it happened.
    for (const id of taken) singles.delete(id);
    flyingBytes = batch.bytes;
    const answer = await courier.send(batch);
    flyingBytes = 0;
    return judge(rows, batch, answer);
  };

  const pass = async () => {
    const force = isForced;
    clearTimeout(timer);
    next = timer = undefined;
    isForced = false;
    freshEvents = freshSize = 0;
    isRunning = true;
    queue.persist();
    let [change, rows]: Settlement = [(old) => (force || !waitLeft(old, now())) && renew(old)];
    for (;;) {
      const before = link;
      let isWiped = false;
      link = await store.transact<Link>(rows ?? [], linkName, (old) => {
        isWiped = !old && !!before;
        const changed = old ?? newLink();
        change(changed);
        if (phase !== 'here') release(changed, tab);
        return changed;
      });
      // The site, or the visitor, has deleted the database; memory still has what was in it.
      if (isWiped) queue.rewrite();
      if (link.holder !== tab) break;
      [change, rows] = await turn();
    }
    isRunning = false;
    const delay = waitLeft(link, now()) || leaseLeft(link, tab, now());
    if (delay || queue.items()[0]) schedule(delay || flushInterval);
  };

  const flush = (force: boolean): Promise<void> => {
    isForced ||= force;
    current = next ??= current.then(pass).catch((error) => onError(`delivery: ${error}`));
    return current;
  };

  const schedule = (delay: number) => {
    if (phase === 'here') timer ??= setTimeout(flush, delay, false);
  };

  const leave = () => {
    phase = 'away';
    departures++;
    const isOnline = navigator.onLine !== false;
    const idle = isOnline ? queue.items().filter((text) => !busy.has(idOf(text))) : [];
    const handed: string[] = [];
    for (const batch of batchesWithin(idle, limits, KEEPALIVE_QUOTA - flyingBytes - handedBytes)) {
      if (!courier.handOver(batch)) break;
      handedBytes += batch.bytes;
      handed.push(...batch.items.map(idOf));
    }
    const isSure = isOnline && link && isProven(link, now());
    const entries: (Row | [string, Link])[] = isSure ? report([...busy], handed) : [];
    queue.persist();
    if (link && isRunning) {
      // Also one that is being taken at this moment: it would outlive the page.
      release(link, tab);
      entries.push([linkName, link]);
    }
    if (entries[0]) store.transact(entries);
  };

  return {
    added(size) {
      if (phase === 'away') queueMicrotask(leave);
      else if (++freshEvents < limits.maxBatchEvents && (freshSize += size) < limits.maxBatchBytes)
        schedule(flushInterval);
      else if (!link || !waitLeft(link, now())) flush(false);
    },
    flush,
    hear,
    wake() {
      if (!link?.refused) flush(true);
    },
    leave,
    restore() {
      phase = 'here';
      handedBytes = 0;
      flush(true);
    },
    stop() {
      phase = 'stopped';
      clearTimeout(timer);
    },
  };
};
