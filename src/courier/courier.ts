import type { Queue, Sent } from '../outbox/queue.js';
import type { Entry, ReadRows, Row, Store } from '../outbox/store.js';
import { type ItemText, idOf, isEvent, isItem, isOlder } from '../recorder/event.js';
import { ask } from './ask.js';
import { isOn, newSearch, refused, SETTLED, taken, unanswered, WAIT } from './bisect.js';
import { type Batch, type BatchLimits, nextBatch } from './cut.js';
import { createDeferral } from './deferral.js';
import { fail, isFailing, isProven, type Link, newLink, release, succeed, take, timeLeft } from './lease.js';
import { allIn, changedRows } from './rows.js';
import { createScope, type Scope } from './scope.js';
import { type Answer, KEEPALIVE_QUOTA } from './transport.js';

/**
 * What the sending tab reports to itself and to the other tabs: ids in flight, settled ids, which of these were rejected, and
 * the settled events themselves, because their pages may have them in the store only. Earlier versions leave those out.
 */
export type Report = readonly [
  taken: readonly string[],
  done: readonly string[],
  rejected: readonly string[],
  sent?: readonly Sent[],
];

/** A compressed body. */
type Packed = Uint8Array<ArrayBuffer> | undefined;

/** The courier's ports. */
export interface DeliveryPorts {
  readonly store: Store;
  readonly queue: Queue;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** Makes a name for the lease that no other page and no other tracker ever has. */
  makeName(): string;
  /** Whether a page of this name has left, so that its lease is void. */
  hasLeft(tab: string): boolean;
  /** `flushInterval`: ms from an event's arrival to the request that takes it, over a link that is proven. */
  readonly limits: BatchLimits & { readonly flushInterval: number; readonly maxAge: number };
  /** There is no relay that drops duplicates. */
  readonly isDirect: boolean;
  /** Bytes of the page's keep-alive requests in flight, of all its trackers. */
  readonly flight: { bytes: number };
  /** Compresses the batch's body. If it rejects, the body is sent as it is. */
  pack(body: string): Promise<Packed>;
  /** Sends a batch. */
  send(batch: Batch, leaving: boolean, packed?: Packed): Promise<Answer> | false;
  /** Leaves a batch with the browser, which sends it when the page ends; returns how to abort it. */
  defer(batch: Batch): () => void;
  /** Receives reports for the other tabs. */
  onReport(report: Report): void;
  /** Events of other pages are dropped. Those of this page follow as settled. */
  onLost(items: ItemText[], reason: 'rejected' | 'expired'): void;
  /** Events of this page are settled, whichever tab sent them. */
  onSettled(items: ItemText[], rejected: readonly string[]): void;
  onError(message: string | undefined): void;
  /** A batch was answered, or has failed. */
  onAnswer(uuids: string[], answer: Answer): void;
  /** A transaction has read or changed the link. `tab` is the page's name for the lease. */
  onLink(link: Link, tab: string): void;
}

export interface Delivery {
  /** An event was queued. */
  added(): void;
  /**
   * Sends what is queued. Resolves when it is confirmed, dropped or waiting to retry. With `force` a back-off ends, but neither a
   * pause that an answer has asked for nor the wait after this page's key or address was refused.
   */
  flush(force?: boolean): Promise<void>;
  /** Another tab, or this one, reports. */
  receive(...report: Report): void;
  /** This event is to go to the single-event endpoint. */
  single(id: string): void;
  /** Ids that are settled or handed over, and whose rows may still be in the store. */
  settled(): ReadonlySet<string>;
  /**
   * The page unloads: hands over what is queued, and from now on at once what is still added. Returns the page's name for the lease if
   * it may leave the lease in the store, else ''. The caller journals that, because a page that leaves can write there, but cannot
   * read first.
   */
  leave(): string;
  /** Whether a transaction of the courier is open. The database queues every other one behind it, even one that is committed. */
  isReading(): boolean;
  /** The visitor has refused: nothing that is under way is sent or written any more, and the browser sends nothing either. */
  forget(): void;
  /** The page is back: the next flush sends what was queued meanwhile. */
  restore(): void;
}

/** Changes the link inside a transaction. */
type Change = (link: Link, tab: string, now: number) => void;

/** What an answer means for the store. The next transaction writes it. */
interface Settling {
  readonly change: Change;
  readonly writes: readonly Row[];
}

/** What the courier does. An awaited step compares the value that it began with: another one means that its result is late. */
type State =
  | { readonly does: 'wait' }
  /** Its transaction can still be aborted: then nothing of `settling` is stored. */
  | { readonly does: 'read'; readonly settling: Settling }
  /** Its transaction is as good as stored. */
  | { readonly does: 'commit' }
  /** It holds the lease. */
  | { readonly does: 'send' }
  /** The page has unloaded, or is in the back/forward cache. */
  | { readonly does: 'stay away' };

/** A pass that has not begun. */
interface NextPass {
  /** Somebody has called `flush(true)` for it. */
  isForced: boolean;
  readonly done: Promise<void>;
}

/** One pass: it sends what was queued when it began. */
interface Pass {
  /** The page's name when the pass began. A page from the back/forward cache gets a new one. */
  readonly holder: string;
  readonly isDue: Scope;
  /** The state that the pass has set. */
  entered: State;
  /** How many unsettled events the last read has found. */
  remaining: number;
  /** The last answer has settled events. */
  hasSettled: boolean;
  /** There was nothing to send when it began. */
  readonly wasEmpty: boolean;
}

/**
 * Ids of so many settled items are remembered, the latest: their rows may lie behind a backlog, and without storage the
 * courier never sees that their rows are deleted.
 */
const MOST_SETTLED = 1e3;

const { now } = Date;

/** Name of the link's record in the store. */
export const linkNameOf = (service: string): string => `link ${service}`;

/** The courier: one request at a time over all tabs, oldest rows first. Each transaction settles the last answer. */
export const createDelivery = (ports: DeliveryPorts): Delivery => {
  const { store, queue, service, limits, isDirect, flight, onReport, onSettled, onError } = ports;
  const linkName = linkNameOf(service);
  const search = newSearch(limits.maxBatchBytes);
  let state: State = { does: 'wait' };
  /** The page's name for the lease. */
  let tab = ports.makeName();
  const singles = new Set<string>();
  /** As the last transaction left it. */
  let link = newLink();
  let settled = new Set<string>();
  /** Ids in flight, here or in another tab, or handed over. */
  let busy = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Promise.resolve();
  let next: NextPass | undefined;

  const isLeft = (text: unknown): text is ItemText => isItem(text) && !settled.has(idOf(text));

  /** What is unsettled in these rows, each event once: a page that did not know whether an event was stored has journaled it. */
  const unsettled = (rows: readonly Row[]): Row[] => {
    const known = new Set<string>();
    const isNew = (text: unknown): text is ItemText =>
      isLeft(text) && !known.has(idOf(text)) && !!known.add(idOf(text));
    return rows.flatMap((row): Row[] => {
      const texts = allIn([row]).filter(isNew);
      return texts[0] ? [[row[0], texts]] : [];
    });
  };
  /** The store may refuse writes, or have been cleared: then memory has more than the store. */
  const orMemory = (rows: readonly Row[]): readonly Row[] => (rows[0] ? rows : queue.rows());

  /** The first events that no tab is sending, in at most `room` bytes. */
  const nextIdle = (room: number): Batch | undefined => {
    const idle: ItemText[] = [];
    for (const [id, text] of queue.items) {
      if (idle.length >= limits.maxBatchEvents) break;
      // A customer's properties never overtake older ones.
      if (!busy.has(id) && (isEvent(text) || !queue.hasOlder())) idle.push(text);
    }
    const batch = nextBatch(idle, { ...limits, maxBatchBytes: Math.min(search.largest, room) });
    return batch && batch.bytes <= room ? batch : undefined;
  };

  const isAway = () => state.does === 'stay away';
  const deferral = createDeferral(() => (isAway() ? undefined : nextIdle(KEEPALIVE_QUOTA)), ports.defer);

  const receive = (...[taken, done, rejected, sent]: Report) => {
    const removed = queue.remove(done, sent);
    busy = new Set(taken);
    // A page has handed them over as it left, and perhaps the database had no time to delete them.
    for (const id of done) if (busy.has(id)) settled.add(id);
    deferral.renew();
    onSettled(removed, rejected);
  };

  const report = (...made: Report) => {
    const [taken, done, rejected, sent = []] = made;
    onReport([taken, done, rejected, sent.filter(([page]) => page !== queue.page)]);
    receive(...made);
  };

  /** The stored link, to be changed. A lease is void if its page has left; a record by foreign code may be anything. */
  const copyOf = (old: Link | undefined): Link => {
    const link = old && old.until >= 0 && old.fails >= 0 ? { ...old } : newLink();
    if (ports.hasLeft(link.by)) release(link, link.by);
    return link;
  };

  const enter = (pass: Pass, entered: State) => {
    pass.entered = state = entered;
  };
  /** The page has left or forgotten since, and may be back. */
  const isLate = (pass: Pass) => state !== pass.entered;

  /**
   * One transaction: writes what the last answer means, takes or renews the lease, and reads what is to send. Resolves to the
   * rows, or to undefined when the pass is over.
   */
  const read = async (pass: Pass, settling: Settling): Promise<Row[] | undefined> => {
    const { change, writes } = settling;
    let rows: Row[] = [];
    /** All unsettled rows of the service, if this transaction has seen the end of the store. */
    let all: Row[] | undefined;
    enter(pass, { does: 'read', settling });
    const update = async (old: Link | undefined, readRows: ReadRows) => {
      const changed = copyOf(old);
      change(changed, pass.holder, now());
      // A few more than a batch: some may be settled already.
      const most = search.aside + limits.maxBatchEvents + 10;
      const isHolder = changed.by === pass.holder;
      rows = isHolder ? await readRows(service, most) : [];
      const stored = unsettled(rows);
      const left = orMemory(stored);
      const isEnd = allIn(rows).length < most;
      all = isHolder && isEnd ? stored : undefined;
      const isDue = pass.isDue(left, isEnd);
      // Rows of foreign data hold no events, and are deleted.
      if (!isDue && (left[0] || !rows[0])) release(changed, pass.holder);
      pass.remaining = allIn(left).length;
      if (isLate(pass)) return changed;
      link = changed;
      enter(pass, { does: 'commit' });
      return changed;
    };
    const written = await store.transact(writes, linkName, update);
    if (isLate(pass)) return;
    // Without storage, the courier uses what this page knows.
    if (!written) await update(link, store.read);
    if (isLate(pass)) return;
    ports.onLink(link, tab);
    if (written && all) queue.saw(all);
    const isAll = written && allIn(rows).length < limits.maxBatchEvents;
    const found = isAll ? allIn(rows).filter(isItem).map(idOf) : [...settled].slice(-MOST_SETTLED);
    settled = new Set(found.filter((id) => settled.has(id)));
    if (writes[0] && !written) release(link, pass.holder);
    return link.by === pass.holder ? rows : undefined;
  };

  /** Counts a request among the bytes in flight until it is answered. */
  const count = (bytes: number, answer: Promise<unknown>) => {
    flight.bytes += bytes;
    const end = () => {
      flight.bytes -= bytes;
    };
    answer.then(end, end);
  };

  /** Sends the next batch of these rows, and returns what its answer means for the store. */
  const send = async (pass: Pass, rows: readonly Row[]): Promise<Settling> => {
    const left = orMemory(unsettled(rows));
    const items = left.flatMap(([, texts = []]) => texts);
    if (!items[search.aside]) search.aside = 0;
    const waiting = items.slice(search.aside);
    const batch = nextBatch(waiting, { ...limits, maxBatchBytes: search.most }, singles);
    // These rows hold nothing to send: delete them and read on.
    if (!batch) return { change: take, writes: changedRows(rows, isLeft) };
    enter(pass, { does: 'send' });
    const packed = await ports.pack(batch.body).catch(() => undefined);
    // The page has left, or the lease has expired while the tab was frozen: another tab may be sending these events.
    if (isLate(pass) || now() > link.until) return { change: take, writes: [] };
    const ids = batch.items.map(idOf);
    // This page knows that its own events are not so old: the clock may have jumped.
    const expired = othersIn(left, ids)
      .filter((text) => isOlder(text, limits.maxAge))
      .map(idOf);
    if (expired[0]) {
      settle(pass, left, expired, expired, 'expired');
      return { change: take, writes: changedRows(rows, isLeft) };
    }
    report(ids, [], []);
    // If this attempt fails, the event travels in a batch, with its timestamp.
    for (const id of ids) singles.delete(id);
    // This is the attempt that a flush has asked for which waits for this pass.
    if (next) next.isForced = false;
    const answering = ask(() => ports.send(batch, false, packed));
    count(batch.bytes, answering);
    const answer = await answering;
    ports.onAnswer(ids, answer);
    const change = judge(pass, left, batch, !waiting[ids.length], answer);
    // All tabs wait, unless one is sending again. After a refusal nothing is written.
    if (answer.retryAfter && isLate(pass) && !isAway() && queue.persist())
      await store.transact<Link>([], linkName, (old) => {
        const paused = copyOf(old);
        fail(paused, '', now(), false, answer.retryAfter);
        return paused;
      });
    // After its lease has expired, the tab must not restore a row that another tab has deleted.
    const isHeld = !isLate(pass) && now() < link.until;
    return { change, writes: changedRows(rows, isLeft).filter(([, items]) => !items || isHeld) };
  };

  /** Which of these events are other pages'. */
  const othersIn = (rows: readonly Row[], ids: readonly string[]): ItemText[] =>
    rows.flatMap(([key, texts = []]) => {
      const isOthers = (text: ItemText) => ids.includes(idOf(text)) && !queue.items.has(idOf(text));
      return key[3] === queue.page ? [] : texts.filter(isOthers);
    });

  /** These need not be sent any more. Of those that are lost, other pages' are reported here, because their pages may have gone. */
  const settle = (
    pass: Pass,
    rows: readonly Row[],
    done: readonly string[],
    lost: readonly string[],
    reason: 'rejected' | 'expired' = 'rejected',
  ) => {
    const isDone = (text: ItemText) => done.includes(idOf(text));
    const sent = rows.map(([key, texts = []]): Sent => [key[3], ...texts.filter(isDone)]).filter(([, text]) => text);
    ports.onLost(othersIn(rows, lost), reason);
    queue.settled(sent.flatMap(([, ...texts]) => texts));
    report([], done, lost, sent);
    for (const id of done) settled.add(id);
    pass.hasSettled = !!done[0];
  };

  /** What an answer means: settles events, and returns how the link changes. */
  const judge = (
    pass: Pass,
    rows: readonly Row[],
    { items, bytes }: Batch,
    isLast: boolean,
    answer: Answer,
  ): Change => {
    const { outcome, status, retryAfter, message } = answer;
    const ids = items.map(idOf);
    const isDelivered = outcome === 'delivered';
    const verdict = isDelivered
      ? taken(search, bytes, isLast)
      : outcome === 'rejected' || (status === 500 && isOn(search))
        ? refused(search, bytes, !ids[1], isLast, status)
        : unanswered(search, bytes);
    const isRefused = verdict === WAIT && outcome !== 'failed';
    const done = verdict === SETTLED ? ids : [];
    // The service's answers have no fixed form: `rejected` may be anything.
    const lost = isDelivered ? (answer.rejected?.map?.((one) => one?.uuid) ?? []) : done;
    // A failure with a 2xx is the answer of another server, and 0 is a transport that breaks its contract.
    const isForeign = outcome === 'failed' && (status ?? 300) < 300;
    if (isRefused || lost[0] || isForeign) onError(message);
    settle(pass, rows, done, lost);
    if (isDelivered) return succeed;
    return verdict === WAIT ? (...held) => fail(...held, isRefused, retryAfter) : take;
  };

  /** After `delay` ms. */
  const schedule = (delay: number) => {
    if (!isAway()) timer ??= setTimeout(flush, delay);
  };

  /** The pass is over: schedules the next one if events remain. */
  const rest = ({ holder, remaining, hasSettled, wasEmpty }: Pass) => {
    const delay = timeLeft(link, holder, now());
    // Another tab may release its lease at any time.
    if (delay) schedule(link.by ? Math.min(delay, limits.flushInterval) : delay);
    else if ((hasSettled || wasEmpty) && (remaining >= limits.maxBatchEvents || isFull())) flush();
    else if (remaining || queue.items.size) schedule(limits.flushInterval);
  };

  const run = async (isForced: boolean): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // What is queued gets its rows, so that the pass knows them from later ones.
    queue.persist();
    if (isAway()) return;
    const pass: Pass = {
      holder: tab,
      isDue: createScope(queue.page, queue.count()),
      entered: state,
      remaining: 0,
      hasSettled: false,
      wasEmpty: !queue.items.size,
    };
    let settling: Settling = { change: (...held) => take(...held, isForced), writes: [] };
    while (queue.persist()) {
      const rows = await read(pass, settling);
      if (isLate(pass)) return;
      if (!rows) break;
      settling = await send(pass, rows);
      // A late answer still settles its events.
      if (isLate(pass)) return void queue.persist(settling.writes);
    }
    enter(pass, { does: 'wait' });
    rest(pass);
  };

  /** All flushes that are called during a pass share the following one. */
  const flush = (isForced = false): Promise<void> => {
    if (!next) {
      const mine: NextPass = {
        isForced,
        done: current.then(() => {
          // The page has left or forgotten meanwhile.
          if (next !== mine) return undefined;
          next = undefined;
          return run(mine.isForced);
        }),
      };
      next = mine;
    }
    next.isForced ||= isForced;
    current = next.done;
    return current;
  };

  /** Hands over what no tab is sending, as far as there is room. Returns the ids. */
  const handOver = (): string[] => {
    const handed: string[] = [];
    try {
      while (navigator.onLine) {
        const batch = nextIdle(KEEPALIVE_QUOTA - flight.bytes);
        const answer = batch && ports.send(batch, true);
        if (!answer) break;
        count(batch.bytes, Promise.resolve(answer));
        handed.push(...batch.items.map(idOf));
        // Once is enough, even if they stay queued.
        for (const id of handed) busy.add(id);
      }
    } catch {}
    return handed;
  };

  const leave = (): string => {
    const left = state;
    state = { does: 'stay away' };
    deferral.renew();
    const isHeld = link.by === tab && timeLeft(link, '', now()) > 0;
    // The transaction that was to write the last answer is aborted.
    const settling = left.does === 'read' ? left.settling : undefined;
    const after = { ...link };
    if (isHeld) settling?.change(after, tab, now());
    // A service that fails would fail again, and does not drop duplicates.
    const handed = isDirect && isFailing(after, now()) ? [] : handOver();
    // The page cannot read the answer. A relay drops duplicates, so the page keeps its events; a service does not.
    if (isDirect && isProven(after, now()) && !isOn(search)) report([...busy], handed, []);
    store.abort();
    const written: Entry[] = settling?.writes.filter(([, items]) => !items || isHeld) ?? [];
    release(after, tab);
    // In one transaction with the rows: a tab that takes the lease must not find settled events.
    if (isHeld && settling) written.push([linkName, after]);
    link = after;
    queue.persist(written);
    // An aborted transaction may have been complete already, and WebKit drops the one that was to release the lease.
    return isHeld || left.does === 'read' ? tab : '';
  };

  /** As if nothing were under way: the page may never learn how it ended. */
  const renew = () => {
    next = undefined;
    current = Promise.resolve();
  };

  const isFull = () => queue.items.size >= limits.maxBatchEvents || queue.length() >= limits.maxBatchBytes;

  return {
    added() {
      deferral.soon();
      if (isAway()) queueMicrotask(leave);
      // A pass that is under way looks at the queue at its end.
      if (state.does !== 'wait') return;
      // Not in the call's own task: what a click tracks on its way to another page is handed over, and not in flight.
      if (!isFull()) schedule(isProven(link, now()) ? limits.flushInterval : 1);
      else if (!timeLeft(link, tab, now())) flush();
    },
    flush,
    receive,
    leave,
    isReading: () => state.does === 'read' || state.does === 'commit',
    single: (id) => void singles.add(id),
    settled: () => settled,
    forget() {
      if (!isAway()) state = { does: 'wait' };
      link = newLink();
      renew();
      receive([], [], []);
    },
    restore() {
      tab = ports.makeName();
      state = { does: 'wait' };
      renew();
    },
  };
};
