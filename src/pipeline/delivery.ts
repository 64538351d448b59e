import { type Batch, type BatchLimits, batchesWithin, nextBatch } from './batch.js';
import { type ItemText, idOf } from './event.js';
import { createIsolation } from './isolation.js';
import { failed, isProven, type Link, leaseLeft, newLink, release, succeeded, take, waitLeft } from './link.js';
import { type Queue, without } from './queue.js';
import type { Row, Store } from './store.js';
import type { Answer } from './transport.js';

/** What delivery asks of the tracker. */
export interface DeliveryPorts {
  readonly store: Store;
  readonly queue: Queue;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** Names this page load among the holders of the lease. */
  readonly tab: string;
  readonly limits: BatchLimits;
  /** Ms from an item's arrival to the request that takes it. */
  readonly flushInterval: number;
  send(batch: Batch): Promise<Answer>;
  /** Hands a batch to the browser as the page goes away; `false` when it is known not to have been taken. */
  handOver(batch: Batch): boolean;
  /** Whether an item is to go to the single-event endpoint. */
  isSingle(id: string): boolean;
  /** These are on their way now; none when the answer has come. */
  onTaken(ids: string[]): void;
  /** These have been answered for: those of `rejected` refused, the others confirmed. `own` are this page's. */
  onSettled(ids: string[], rejected: ReadonlySet<string>, own: ItemText[]): void;
  /** Something has come in after the page began to go away. */
  onLate(): void;
  onError(message: string): void;
}

export interface Delivery {
  /** An item of this size has come in. */
  added(size: number): void;
  /** Sends all there is; resolves when it is answered for or has to wait. With `force` it waits for no back-off. */
  flush(force: boolean): Promise<void>;
  /** The visitor or the network is back: a back-off ends. */
  wake(): void;
  /** The page is going away: hands over what is left. */
  leave(): void;
  /** The page has come back. */
  restore(): void;
  /** Another tab has these on their way. */
  takenElsewhere(ids: string[]): void;
  stop(): void;
}

/** What an answer changes in the store. */
interface Settlement {
  readonly change: (link: Link) => Link;
  readonly rows?: Row[];
}

interface Flight {
  readonly batch: Batch;
  readonly ids: string[];
  readonly rows: Row[];
}

/** All keep-alive bodies of a page together, in bytes: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const KEEPALIVE_QUOTA = 65_536;

/** The loop: one request at a time over all tabs, oldest rows first; each turn's transaction settles the last answer. */
export const createDelivery = (ports: DeliveryPorts): Delivery => {
  const { store, queue, service, tab, limits } = ports;
  const { now } = Date;
  const linkName = `link ${service}`;
  const isolation = createIsolation(limits);
  let link = newLink;
  let phase: 'here' | 'away' | 'stopped' = 'here';
  let departures = 0;
  let running = false;
  let flight: Flight | undefined;
  let elsewhere: string[] = [];
  let fresh = { events: 0, size: 0 };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Promise.resolve();
  let next: Promise<void> | undefined;
  let forced = false;
  let handedBytes = 0;

  const settle = (ids: string[], rejected: string[]): Row[] => {
    const { removed, rows } = queue.remove(ids);
    if (ids.length) ports.onSettled(ids, new Set(rejected), removed);
    return rows;
  };

  const retake: Settlement = { change: (old) => take(old, tab, now(), true) };

  const judge = ({ batch, ids, rows }: Flight, answer: Answer): Settlement => {
    const { outcome, status, retryAfter, message = outcome, rejected = [] } = answer;
    const wait = (refused: boolean): Settlement => ({
      change: (old) => release(failed(old, now(), refused, retryAfter), tab),
    });
    switch (outcome) {
      case 'delivered': {
        for (const { uuid, reason } of rejected) ports.onError(`${uuid} was rejected: ${reason}`);
        const guilty = isolation.clear();
        const done = [...ids, ...guilty];
        settle(done, [...guilty, ...rejected.map(({ uuid }) => uuid)]);
        return { change: (old) => retake.change(succeeded(old, now())), rows: without(rows, new Set(done)) };
      }
      case 'failed':
        isolation.repeat(batch, status === 500 ? link.failures : 0);
        return wait(false);
      case 'rejected':
        if (ids.length === 1) ports.onError(message);
        if (isolation.narrow(batch, status)) return retake;
    }
    if (!link.refused) ports.onError(`${message}; everything is kept and tried again later`);
    return wait(true);
  };

  /** Nothing is left to send. What was stored before the store was found empty, another tab has delivered. */
  const finish = (rows: Row[], stored: string[]): Settlement => {
    const { sure, unsure } = isolation.finish();
    settle(sure, sure);
    if (!rows.length) settle(stored, []);
    return {
      change: (old) => release(unsure ? failed(old, now(), false, undefined) : old, tab),
      rows: without(rows, new Set(sure)),
    };
  };

  const turn = async (): Promise<Settlement> => {
    const since = departures;
    const stored = queue.stored();
    const { count, bytes } = isolation.reach();
    const rows = await store.read(service, count, bytes);
    // What was read may have been handed over meanwhile; the lease may have run out while the tab was frozen.
    if (since !== departures || now() > link.until) return retake;
    const items = rows.flatMap((row) => row.items).filter((text) => !isolation.isSuspect(idOf(text)));
    const batch = nextBatch(items, isolation.limits(), ports.isSingle);
    if (!batch) return finish(rows, stored);
    const sent = { batch, ids: batch.items.map(idOf), rows };
    flight = sent;
    ports.onTaken(sent.ids);
    const answer = await ports.send(batch);
    flight = undefined;
    const settlement = judge(sent, answer);
    ports.onTaken([]);
    return settlement;
  };

  const schedule = (delay: number) => {
    if (phase === 'here') timer ??= setTimeout(flush, delay, false);
  };

  const pass = async () => {
    const force = forced;
    clearTimeout(timer);
    next = timer = undefined;
    forced = false;
    fresh = { events: 0, size: 0 };
    running = true;
    queue.persist();
    let settlement: Settlement = { change: (old) => take(old, tab, now(), force) };
    for (;;) {
      const { change, rows } = settlement;
      let isWiped = false;
      const settled = (old?: Link) => {
        isWiped = !old && link !== newLink;
        const changed = change(old ?? newLink);
        return phase === 'here' ? changed : release(changed, tab);
      };
      link = await store.update(linkName, settled, rows);
      if (isWiped) {
        // The site, or the visitor, has deleted the database: memory still has what was in it.
        queue.detach(queue.stored());
        queue.persist();
      }
      if (link.holder !== tab || phase !== 'here') break;
      settlement = await turn();
    }
    running = false;
    const delay = Math.max(waitLeft(link, now()), leaseLeft(link, tab, now()));
    if (delay || queue.items().length) schedule(delay || ports.flushInterval);
  };

  const flush = (force: boolean): Promise<void> => {
    forced ||= force;
    next ??= current.then(pass).catch((error) => ports.onError(`delivery: ${error}`));
    current = next;
    return next;
  };

  const leave = () => {
    phase = 'away';
    departures++;
    // A lease that is being taken at this moment would outlive the page.
    const mayHold = link.holder === tab || (running && !leaseLeft(link, tab, now()) && !elsewhere.length);
    const flying = new Set(flight?.ids);
    const isOnline = navigator.onLine !== false;
    const rest = queue.items().filter((text) => !flying.has(idOf(text)) && !elsewhere.includes(idOf(text)));
    const handed: string[] = [];
    const room = KEEPALIVE_QUOTA - handedBytes - (flight?.batch.bytes ?? 0);
    for (const batch of isOnline ? batchesWithin(rest, limits, room) : []) {
      if (!ports.handOver(batch)) break;
      handedBytes += batch.bytes;
      handed.push(...batch.items.map(idOf));
    }
    const isSure = isOnline && isProven(link, now());
    const left = isSure ? settle(handed, []) : [];
    queue.persist();
    const rows: Row[] = left.map(({ key, items }) => ({ key, items: items.filter((text) => !flying.has(idOf(text))) }));
    if (isSure && flight) {
      // It goes on without the page; but should the page live on, it may hear that it failed.
      rows.push(...without(flight.rows, new Set([...flying, ...handed])));
      queue.detach(flying);
    }
    if (rows.length || mayHold) store.write(rows, mayHold ? { [linkName]: release(link, tab) } : {});
  };

  return {
    added(size) {
      fresh.events++;
      fresh.size += size;
      if (phase === 'away') ports.onLate();
      else if (fresh.events < limits.maxBatchEvents && fresh.size < limits.maxBatchBytes) schedule(ports.flushInterval);
      else if (!waitLeft(link, now())) flush(false);
    },
    flush,
    wake: () => {
      if (!link.refused || !waitLeft(link, now())) flush(true);
    },
    leave,
    restore: () => {
      phase = 'here';
      handedBytes = 0;
      flush(true);
    },
    takenElsewhere: (ids) => {
      elsewhere = ids;
    },
    stop: () => {
      phase = 'stopped';
      clearTimeout(timer);
    },
  };
};
