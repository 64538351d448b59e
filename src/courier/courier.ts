import type { Queue } from '../outbox/queue.js';
import type { Entry, ReadRows, Row, Store } from '../outbox/store.js';
import { type ItemText, idOf, isItem, isOlder } from '../recorder/event.js';
import { isOn, newSearch, refused, SETTLED, taken, unanswered, WAIT } from './bisect.js';
import { type Batch, type BatchLimits, nextBatch } from './cut.js';
import { fail, isProven, type Link, newLink, release, succeed, take, timeLeft } from './lease.js';
import type { Answer } from './transport.js';

/**
 * What the sending tab says, to itself and to the other tabs: ids of what is under way now, of what has been answered
 * for, and of what of that was refused.
 */
export type Report = readonly [taken: readonly string[], done: readonly string[], rejected: readonly string[]];

/** What has been made of a body, for whoever sends it. */
type Packed = Uint8Array<ArrayBuffer> | undefined;

/** Nothing is under way; the only one that is false. */
const IDLE = 0;
/** A turn's transaction is: the database holds back every other one until it has read, also those that are committed. */
export const READING = 1;
/** A turn has the lease, or is about to send by it. */
const SENDING = 2;
type Phase = typeof IDLE | typeof READING | typeof SENDING;

/** What delivery works with. */
export interface DeliveryPorts {
  readonly store: Store;
  readonly queue: Queue;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** The page's name among those who may hold the lease. */
  tab(): string;
  /** `flushInterval`: ms from an item's arrival to the request that takes it, over a link that is proven. */
  readonly limits: BatchLimits & { readonly flushInterval: number; readonly maxAge: number };
  /** There is no relay that drops repeats. */
  readonly isDirect: boolean;
  /** Ids of events that are to go to the single-event endpoint. */
  readonly singles: Set<string>;
  /** The batch's body made smaller; what rejects goes out as it is. */
  pack(body: string): Promise<Packed>;
  /** Sends a batch, packed if it has been. */
  send(batch: Batch, leaving: boolean, packed?: Packed): Promise<Answer> | false;
  /** Leaves a batch with the browser, which sends it when the page ends in whatever way; returns how to take it back. */
  defer(batch: Batch): () => void;
  /** To be told to the other tabs. */
  onReport(report: Report): void;
  /** Events of earlier pages are older than `maxAge`, and are dropped. Those of this page follow as settled and rejected. */
  onExpired(items: ItemText[]): void;
  /** Items of this page have been answered for, by whichever tab has sent them. */
  onSettled(items: ItemText[], rejected: readonly string[]): void;
  onError(message: string | undefined): void;
  /** A batch has been answered, or has failed. */
  onAnswer(uuids: string[], answer: Answer): void;
  /** Who sends now. */
  onLink(link: Link): void;
}

export interface Delivery {
  /** An item has come in. */
  added(): void;
  /** Sends all there is; resolves when it is answered for or has to wait. With `force` a back-off ends,
   * but not the wait after a refusal of key or address. */
  flush(force?: boolean): Promise<void>;
  /** Another tab, or this one, reports. */
  hear(...report: Report): void;
  /** The page is going away: hands over what is left, and from now on at once what still comes. */
  leave(): void;
  /** What it is at: 0 when nothing is under way. */
  phase(): Phase;
  /** Ids of what has been answered for, or handed over, and may be in the store still. */
  settled(): ReadonlySet<string>;
  /** The visitor has refused: what is under way is neither sent nor written any more, nor is what was left with the browser. */
  forget(): void;
  /** The page has come back: what has come in meanwhile goes with the next flush. */
  restore(): void;
}

/** All keep-alive bodies of a page together, in bytes: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const KEEPALIVE_QUOTA = 65_536;
/**
 * Ids of so many settled items are remembered, the latest: their rows may lie behind a backlog, and where nothing can be
 * stored nobody ever sees that they are gone.
 */
export const MOST_SETTLED = 1e3;
/** How often (ms) the browser may be given a new batch to send when the page ends. */
const DEFER_INTERVAL = 100;

const { now } = Date;

/** Whoever can write into the store can write anything. */
const allIn = (rows: readonly Row[]) => rows.flatMap(([, items]) => [items].flat()) as readonly unknown[];

/** The rows that change when only these items are left, as they are then. */
const changedRows = (rows: readonly Row[], isLeft: (text: unknown) => text is ItemText): Row[] =>
  rows.flatMap((row): Row[] => {
    const [key] = row;
    const all = allIn([row]);
    const left = all.filter(isLeft);
    return left[0] && left.length === all.length ? [] : [[key, left[0] ? left : undefined]];
  });

/** Name of the link's record in the store. */
export const linkNameOf = (service: string): string => `link ${service}`;

/** The loop: one request at a time over all tabs, oldest rows first; each turn's transaction settles the last answer. */
export const createDelivery = (ports: DeliveryPorts): Delivery => {
  const { store, queue, service, tab, limits, isDirect, singles, pack, send, defer, onReport, onSettled, onError } =
    ports;
  const linkName = linkNameOf(service);
  const search = newSearch(limits.maxBatchBytes);
  /** The key or the address is refused: a wait that the visitor's coming back does not end. */
  let isRefused = false;
  /** As of the last transaction; a page that leaves makes it another one. */
  let link = newLink();
  /** What the next transaction does. */
  let change: (link: Link, tab: string, now: number) => void;
  let entries: Entry[] = [];
  /** What it found there is to send. */
  let rows: Row[] = [];
  let settled = new Set<string>();
  let isAway = false;
  /** Counts the page's departures: what was under way at one may never hear how it ended. */
  let era = 0;
  let phase: Phase = IDLE;
  let isForced = false;
  /** Bytes of the request under way. */
  let flying = 0;
  let busy = new Set<string>();
  /** Takes back what the browser was to send. */
  let undefer: (() => void) | undefined;
  let deferring: ReturnType<typeof setTimeout> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Promise.resolve();
  let next: Promise<void> | undefined;

  const isLeft = (text: unknown): text is ItemText => isItem(text) && !settled.has(idOf(text));

  /** The first of what nobody sends at this moment. */
  const nextIdle = (room = KEEPALIVE_QUOTA) => {
    const idle: ItemText[] = [];
    for (const [id, text] of queue.items) {
      if (idle.length >= limits.maxBatchEvents) break;
      if (!busy.has(id)) idle.push(text);
    }
    return nextBatch(idle, { ...limits, maxBatchBytes: Math.min(search.largest, room) });
  };

  /** The net for a page that ends without a word: a crash, or the browser's end. */
  const deferNext = () => {
    undefer?.();
    clearTimeout(deferring);
    deferring = undefined;
    const batch = isAway ? undefined : nextIdle();
    try {
      undefer = batch && defer(batch);
    } catch {}
  };

  const hear = (...[taken, done, rejected]: Report) => {
    const removed = queue.remove(done);
    busy = new Set(taken);
    // Handed over as a page went away: perhaps the database had no time to delete it.
    for (const id of done) if (busy.has(id)) settled.add(id);
    deferNext();
    onSettled(removed, rejected);
  };

  const report = (...said: Report) => {
    onReport(said);
    hear(...said);
  };

  /** Sends the next batch and sees what the answer means. */
  const turn = async () => {
    const since = link;
    // A page that could not be sure that something was stored has carried it over: it may be there twice.
    const stored = new Map(allIn(rows).flatMap((text) => (isLeft(text) ? [[idOf(text), text] as const] : [])));
    // What memory has and the store has not is no less to be sent: storage may be refused, or have been cleared.
    const items = [...(stored.size ? stored : queue.items).values()];
    if (!items[search.aside]) search.aside = 0;
    const waiting = items.slice(search.aside);
    const batch = nextBatch(waiting, { ...limits, maxBatchBytes: search.most }, singles);
    const packed = batch && (await pack(batch.body).catch(() => undefined));
    // What was read may have been handed over meanwhile; the lease may have run out while the tab was frozen.
    if (since !== link || now() > link.until) return;
    if (!batch) {
      // Behind what nobody can read there may be more.
      entries = changedRows(rows, isLeft);
      return;
    }
    const expired = batch.items.filter((text) => isOlder(text, limits.maxAge));
    if (expired[0]) {
      const old = expired.map(idOf);
      ports.onExpired(expired.filter((text) => !queue.items.has(idOf(text))));
      return settle(old, old);
    }
    const ids = batch.items.map(idOf);
    report(ids, [], []);
    // Should this attempt fail, the event travels in a batch, with the time at which it happened.
    for (const id of ids) singles.delete(id);
    // This is the attempt that an earlier return of the visitor asked for.
    isForced = false;
    flying = batch.bytes;
    // In a function of its own: a transport may throw, too.
    const answer = await (async () => send(batch, false, packed) as Promise<Answer>)().catch(
      (message): Answer => ({ outcome: 'failed', message }),
    );
    flying = 0;
    judge(ids, batch.bytes, !waiting[ids.length], answer);
  };

  /** These need not be sent any more. */
  const settle = (done: readonly string[], lost: readonly string[]) => {
    report([], done, lost);
    for (const id of done) settled.add(id);
    // A tab that was frozen for longer than its lease must not write again what another one has sent and deleted meanwhile.
    entries = changedRows(rows, isLeft).filter(([, left]) => !left || now() < link.until);
  };

  /** What an answer means. */
  const judge = (ids: string[], bytes: number, isLast: boolean, answer: Answer) => {
    const { outcome, status, retryAfter, message } = answer;
    ports.onAnswer(ids, answer);
    const isDelivered = outcome === 'delivered';
    const verdict = isDelivered
      ? taken(search, bytes, isLast)
      : outcome === 'rejected' || (status === 500 && isOn(search))
        ? refused(search, bytes, !ids[1], isLast, status)
        : unanswered(search, bytes);
    const done = verdict === SETTLED ? ids : [];
    // Whatever answers is free to say anything under this name.
    const lost = isDelivered ? (answer.rejected?.map?.((one) => one?.uuid) ?? []) : done;
    isRefused = verdict === WAIT && outcome !== 'failed';
    if (isDelivered) change = succeed;
    if (verdict === WAIT) change = (...held) => fail(...held, isRefused, retryAfter);
    if (isRefused || lost[0]) onError(message);
    settle(done, lost);
  };

  /** After `delay` ms; 0 is the flush interval. */
  const schedule = (delay: number) => {
    if (!isAway) timer ??= setTimeout(flush, delay || limits.flushInterval);
  };

  const pass = async () => {
    const mine = isAway ? -1 : era;
    const force = isForced;
    change = (...held) => take(...held, force);
    clearTimeout(timer);
    next = timer = undefined;
    isForced = false;
    // A page that is going away has no time for questions: what it knows is written at once.
    while (queue.persist(mine === era ? [] : entries) && mine === era) {
      phase = READING;
      const update = async (old: Link | undefined, read: ReadRows) => {
        const changed = old && old.until >= 0 && old.fails >= 0 ? { ...old } : newLink();
        change(changed, tab(), now());
        // A few more than a batch takes: that there are some, and in place of those that are answered for already.
        const found = changed.by === tab() ? await read(service, search.aside + limits.maxBatchEvents + 10) : [];
        if (!found[0] && !queue.items.size) release(changed, tab());
        rows = found;
        return changed;
      };
      const written = await store.transact(entries, linkName, update);
      // Where nothing can be stored, what this page knows has to do.
      const known = written ?? (mine === era ? await update(link, store.read) : link);
      if (mine !== era) continue;
      phase = SENDING;
      link = known;
      ports.onLink(link);
      const found = allIn(rows).filter(isItem).map(idOf);
      // Behind what was read there may be more.
      const isAll = written && found.length < limits.maxBatchEvents;
      settled = new Set(isAll ? found.filter((id) => settled.has(id)) : [...settled].slice(-MOST_SETTLED));
      if (link.by !== tab() || (entries[0] && !written)) break;
      entries = [];
      change = take;
      await turn();
    }
    if (mine !== era) return;
    phase = IDLE;
    entries = [];
    const delay = timeLeft(link, tab(), now());
    // Another tab may be done at any time.
    const soon = link.by ? Math.min(delay, limits.flushInterval) : delay;
    if (delay || queue.items.size) schedule(soon);
  };

  const flush = (force = false): Promise<void> => {
    isForced ||= force && !isRefused;
    current = next ??= current.then(pass);
    return current;
  };

  const leave = () => {
    isAway = true;
    era++;
    undefer?.();
    const handed: string[] = [];
    try {
      for (let room = KEEPALIVE_QUOTA - flying; navigator.onLine; ) {
        const batch = nextIdle(room);
        const answer = batch && batch.bytes <= room && send(batch, true);
        if (!answer) break;
        // Whatever comes of it later, nobody is there to hear it.
        answer.catch(() => {});
        room -= batch.bytes;
        handed.push(...batch.items.map(idOf));
        // Once is enough, even if they stay queued.
        for (const id of handed) busy.add(id);
      }
    } catch {}
    // Nobody hears whether it arrives. A relay drops what comes twice, so it is kept; a service does not.
    if (isDirect && isProven(link, now()) && !isOn(search)) report([...busy], handed, []);
    store.abort();
    // Also a lease that is being taken at this moment: it would outlive the page.
    if (phase) link = { ...link, by: '', until: 0 };
    // With what the transaction that was broken off would have done.
    queue.persist(phase ? [...entries, [linkName, link]] : []);
  };

  /** As if nothing were under way: it may never hear how it ended. */
  const renew = () => {
    phase = IDLE;
    flying = 0;
    next = undefined;
    current = Promise.resolve();
  };

  return {
    added() {
      deferring ??= setTimeout(deferNext, DEFER_INTERVAL);
      if (isAway) queueMicrotask(leave);
      else if (queue.items.size < limits.maxBatchEvents && queue.length() < limits.maxBatchBytes)
        // What proves the link goes at once. Otherwise it waits: what a click tracks on its way to another page is handed
        // over then, and is not under way with nobody there to hear the answer.
        schedule(isProven(link, now()) ? 0 : 1);
      else if (!timeLeft(link, tab(), now())) flush();
    },
    flush,
    hear,
    leave,
    phase: () => phase,
    settled: () => settled,
    forget() {
      era++;
      link = newLink();
      entries = [];
      renew();
      hear([], [], []);
    },
    restore() {
      isAway = false;
      renew();
    },
  };
};
