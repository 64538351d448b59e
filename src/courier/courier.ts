import type { Sent } from '../outbox/queue.js';
import type { Handed } from '../outbox/receipts.js';
import type { Entry, Row } from '../outbox/store.js';
import { type ItemText, idOf, isItem, isOlder } from '../recorder/event.js';
import { BATCH_PATH } from '../wire.js';
import { ask } from './ask.js';
import { isOn, newBisection } from './bisect.js';
import { nextBatch } from './cut.js';
import { addTo } from './flight.js';
import { createHandover } from './handover.js';
import { type Change, judge } from './judge.js';
import { fail, isFailing, isProven, type Link, linkNameOf, newLink, release, take, timeLeft } from './lease.js';
import { createPasses } from './passes.js';
import type { Courier, CourierPorts, Report } from './ports.js';
import { bytesOfQuestions, isChange, MOST_ASKED, QUESTION, receiptOf, withQuestions } from './question.js';
import { allIn, changedRows, leftIn } from './rows.js';
import { createScope, type Scope } from './scope.js';
import { isKeptAlive } from './transport.js';

/** The meaning of an answer for the store. The next transaction writes it. */
interface Settling {
  readonly change: Change;
  readonly writes: readonly Row[];
  /** Handovers that are settled. */
  readonly taken?: readonly Handed[] | undefined;
}

/** An awaited step compares the value that it began with: another one means that its result is late. */
interface State {
  /** The page's name for the lease. A page from the back/forward cache gets a new one. */
  readonly holder: string;
  /**
   * - `wait`: no pass is under way.
   * - `read`: its transaction can still be aborted. Then nothing of `settling` is stored.
   * - `commit`: its transaction is as good as stored.
   * - `send`: it holds the lease.
   * - `stay away`: the page has unloaded, or is in the back/forward cache.
   */
  readonly does: 'wait' | 'read' | 'commit' | 'send' | 'stay away';
  readonly settling?: Settling | undefined;
}

/** One pass: it sends what was queued when it began. */
interface Pass {
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

/**
 * As a page unloads, Chromium rejects its requests, sometimes before `pagehide`, and still sends those that it keeps alive. A request that
 * has failed so shortly (ms) before may be one of them.
 */
const UNLOADING = 100;

/** A request, until a page knows what has come of it. */
interface Flying {
  /** Names it to the relay; '' without a relay. */
  readonly id: string;
  /** Ids of its events. */
  readonly ids: readonly string[];
  /** When it failed without an answer although the browser keeps it alive, in ms since the epoch. */
  readonly rejectedAt?: number;
}

const { now } = Date;

/** The courier. Each transaction of a pass settles the last answer, holds the lease, and reads what is to send. */
export const createCourier = (ports: CourierPorts): Courier => {
  const { store, queue, service, limits, isDirect, receipts, onReport, onSettled, onError } = ports;
  const linkName = linkNameOf(service);
  const bisection = newBisection(limits.maxBatchBytes);
  /** Ids in flight, here or in another tab, or handed over. */
  const busy = new Set<string>();
  /** Ids that are settled, and whose rows may still be in the store. */
  const settled = new Set<string>();
  /** Ids that go to the single-event endpoint. */
  const singles = new Set<string>();
  let state: State = { holder: ports.makeName(), does: 'wait' };
  /** This page's last request, until it is answered. */
  let flying: Flying | undefined;
  /** As the last transaction left it. */
  let link = newLink();

  const isAway = () => state.does === 'stay away';
  const handover = createHandover(ports, bisection, busy, isAway);

  const isLeft = (text: unknown): text is ItemText => isItem(text) && !settled.has(idOf(text));
  /** The store may refuse writes, or have been cleared: then memory has more than the store. */
  const orMemory = (rows: readonly Row[]): readonly Row[] => (rows[0] ? rows : queue.rows());

  const enter = (pass: Pass, does: State['does'], settling?: Settling) => {
    pass.entered = state = { holder: pass.entered.holder, does, settling };
  };
  /** The page has left or forgotten since, and may be back. */
  const isLate = (pass: Pass) => state !== pass.entered;

  const apply = ([taken, done, rejected, sent]: Report, isOthers?: boolean) => {
    const removed = queue.remove(done, sent, isOthers);
    busy.clear();
    for (const id of taken) busy.add(id);
    // A page has handed them over as it left, and perhaps the database had no time to delete them.
    for (const id of done) if (busy.has(id)) settled.add(id);
    handover.renew();
    onSettled(removed, rejected);
  };

  const report = (...made: Report) => {
    const [taken, done, rejected, sent = []] = made;
    onReport([taken, done, rejected, sent.filter(([page]) => page !== queue.page)]);
    apply(made);
  };

  /** The stored link, to be changed. A lease is void if its page has left; a record by foreign code may be anything. */
  const copyOf = (old: Link | undefined): Link => {
    const link = old && old.until >= 0 && old.fails >= 0 ? { ...old } : newLink();
    if (ports.hasLeft(link.by)) release(link, link.by);
    return link;
  };

  /**
   * One transaction: writes what the last answer means, takes or renews the lease, and reads what is to send. Resolves to the
   * rows, or to undefined when the pass is over.
   */
  const read = async (pass: Pass, settling: Settling): Promise<readonly Row[] | undefined> => {
    const { change, writes, taken = [] } = settling;
    const { holder } = pass.entered;
    let rows: readonly Row[] = [];
    /** All unsettled rows of the service, if this transaction has seen the end of the store. */
    let all: readonly Row[] | undefined;
    enter(pass, 'read', settling);
    // A few more than a batch: some may be settled already, and some wait for the relay's answer.
    const most = bisection.aside + limits.maxBatchEvents + 10 + (receipts?.held().size ?? 0);
    let changed = link;
    const query = (old: Link | undefined) => {
      changed = copyOf(old);
      change(changed, holder, now());
      return changed.by === holder ? ([service, most] as const) : undefined;
    };
    const update = (_old: Link | undefined, found: readonly Row[]) => {
      rows = found;
      const isHolder = changed.by === holder;
      const stored = leftIn(rows, isLeft);
      const left = orMemory(stored);
      const isEnd = allIn(rows).length < most;
      all = isHolder && isEnd ? stored : undefined;
      const isDue = pass.isDue(left, isEnd);
      // Rows of foreign data hold no events, and are deleted.
      if (!isDue && (left[0] || !rows[0])) release(changed, holder);
      pass.remaining = allIn(left).length;
      if (isLate(pass)) return changed;
      link = changed;
      enter(pass, 'commit');
      return changed;
    };
    const written = await store.transact(writes, linkName, update, query);
    if (isLate(pass)) return;
    // Without storage, the courier uses what this page knows.
    if (!written) {
      const asked = query(link);
      const found = asked ? await store.read(...asked) : [];
      if (isLate(pass)) return;
      update(link, found);
    }
    receipts?.drop(taken);
    ports.onLink(link, holder);
    if (written && all) queue.saw(all);
    // Only these may still have a row.
    const kept = new Set(written && all ? allIn(rows).filter(isItem).map(idOf) : [...settled].slice(-MOST_SETTLED));
    for (const id of settled) if (!kept.has(id)) settled.delete(id);
    if (writes[0] && !written) release(link, holder);
    return link.by === holder ? rows : undefined;
  };

  /** Which of these events are other pages'. */
  const othersIn = (rows: readonly Row[], ids: ReadonlySet<string>): ItemText[] =>
    rows.flatMap(([key, texts = []]) => {
      const isOthers = (text: ItemText) => ids.has(idOf(text)) && !queue.items.has(idOf(text));
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
    const ids = new Set(done);
    const isDone = (text: ItemText) => ids.has(idOf(text));
    const sent = rows.map(([key, texts = []]): Sent => [key[3], ...texts.filter(isDone)]).filter(([, text]) => text);
    ports.onLost(othersIn(rows, new Set(lost)), reason);
    queue.settled(sent.flatMap(([, ...texts]) => texts));
    report([], done, lost, sent);
    for (const id of done) settled.add(id);
    pass.hasSettled = !!done[0];
  };

  /** Sends the next batch of these rows, and returns what its answer means for the store. */
  const send = async (pass: Pass, rows: readonly Row[]): Promise<Settling> => {
    const left = orMemory(leftIn(rows, isLeft));
    const open = receipts?.open() ?? [];
    const handed = new Set(open.flatMap(({ ids }) => ids));
    const all = left.flatMap(([, texts = []]) => texts);
    const held = all.filter((text) => handed.has(idOf(text)));
    const items = ports.ready(all.filter((text) => !handed.has(idOf(text))));
    if (!items[bisection.aside]) bisection.aside = 0;
    const waiting = items.slice(bisection.aside);
    const asked = open.slice(0, MOST_ASKED);
    const room = receipts ? bytesOfQuestions(asked.length) : 0;
    const cut = nextBatch(
      waiting,
      { ...limits, maxBatchBytes: Math.min(bisection.most, bisection.largest - room) },
      singles,
    );
    const isBatch = cut?.path === BATCH_PATH;
    // Other events do not wait for what was handed over, unless that changes the customer, or may belong to a page that is open.
    const isFirst = !isBatch || held.some(isChange) || open.some(({ isArmed }) => isArmed);
    const batch = held[0] && isFirst ? QUESTION : cut;
    // These rows hold nothing to send: delete them and read on, unless all that is left waits for a new token.
    if (!batch) return { change: left[0] ? release : take, writes: changedRows(rows, isLeft) };
    enter(pass, 'send');
    // An event that is as large as any goes alone, without a receipt.
    const hasReceipt = !!receipts && (!batch.items[0] || batch.bytes + room <= bisection.largest);
    const questions = hasReceipt && batch.path === BATCH_PATH ? asked : [];
    const id = hasReceipt ? receipts.makeId() : '';
    const sent = id ? withQuestions(batch, id, questions) : batch;
    const packed = await ports.pack(sent.body).catch(() => undefined);
    // The page has left, or the lease has expired while the tab was frozen: another tab may be sending these events.
    if (isLate(pass) || now() > link.until) return { change: take, writes: [] };
    const ids = batch.items.map(idOf);
    // This page knows that its own events are not so old: the clock may have jumped.
    const expired = othersIn(left, new Set(ids))
      .filter((text) => isOlder(text, limits.maxAge))
      .map(idOf);
    if (expired[0]) {
      settle(pass, left, expired, expired, 'expired');
      return { change: take, writes: changedRows(rows, isLeft) };
    }
    report(ids, [], []);
    // If this attempt fails, the event travels in a batch, with its timestamp.
    for (const id of ids) singles.delete(id);
    passes.attempt();
    const mine: Flying = { id, ids };
    flying = mine;
    const answering = ask(() => ports.send(sent, false, packed));
    addTo(ports.flight, sent.bytes, answering);
    const answer = await answering;
    const isRejected = answer.outcome === 'failed' && answer.status === undefined && isKeptAlive(packed ?? sent.body);
    if (flying === mine) flying = isRejected ? { ...mine, rejectedAt: now() } : undefined;
    // The page has left, and is back.
    if (id && answer.outcome === 'delivered') receipts?.drop([{ id }]);
    ports.onAnswer(ids, answer);
    const [ended, verdict] = ports.withoutExpired(batch.items, answer);
    const { done, lost, isError, change } = judge(bisection, { ...batch, items: ended }, !waiting[ids.length], verdict);
    if (isError) onError(answer.message);
    const { taken = [], others = [] } = receiptOf(questions, batch, answer) ?? {};
    receipts?.drop(others);
    const takenIds = taken.flatMap(({ ids }) => ids);
    if (takenIds[0]) ports.onTaken(takenIds);
    settle(pass, left, [...done, ...takenIds], lost);
    // All tabs wait, unless one is sending again. After a refusal nothing is written.
    if (answer.retryAfter && isLate(pass) && !isAway() && queue.persist())
      await store.transact<Link>([], linkName, (old) => {
        const paused = copyOf(old);
        fail(paused, '', now(), false, answer.retryAfter);
        return paused;
      });
    // After its lease has expired, the tab must not restore a row that another tab has deleted.
    const isHeld = !isLate(pass) && now() < link.until;
    return { change, writes: changedRows(rows, isLeft).filter(([, items]) => !items || isHeld), taken };
  };

  /** How long an event waits for others. The first request goes at once, because its answer shows whether the link works. */
  const interval = () => (isProven(link, now()) ? limits.flushInterval : 1);

  /** The pass is over: schedules the next one if events remain. */
  const rest = ({ entered, remaining, hasSettled, wasEmpty }: Pass) => {
    const delay = timeLeft(link, entered.holder, now());
    // Another tab may release its lease at any time.
    if (delay) passes.schedule(link.by ? Math.min(delay, limits.flushInterval) : delay);
    else if ((hasSettled || wasEmpty) && (remaining >= limits.maxBatchEvents || isFull())) passes.flush();
    else if (remaining || queue.items.size) passes.schedule(wasEmpty ? interval() : limits.flushInterval);
  };

  const passes = createPasses(async (isForced) => {
    // What is queued gets its rows, so that the pass knows them from later ones.
    queue.persist();
    if (isAway()) return;
    const pass: Pass = {
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
    enter(pass, 'wait');
    rest(pass);
  });

  /** The request whose answer only a later page can get. */
  const takeFlying = (isUnloading?: boolean): Flying | undefined => {
    const last = flying;
    flying = undefined;
    const { rejectedAt } = last ?? {};
    const isKept = rejectedAt === undefined || (isUnloading && navigator.onLine && now() - rejectedAt < UNLOADING);
    return isKept ? last : undefined;
  };

  const leave = (records: readonly Entry[] = [], isUnloading?: boolean): string => {
    const { holder, settling, does } = state;
    state = { holder, does: 'stay away' };
    handover.renew();
    const isHeld = link.by === holder && timeLeft(link, '', now()) > 0;
    const after = { ...link };
    // The transaction that was to write the last answer is aborted.
    if (isHeld) settling?.change(after, holder, now());
    // A service that fails would fail again, and does not drop duplicates.
    const isSure = isProven(after, now());
    const { id, ids } = takeFlying(isUnloading) ?? { ids: [] };
    for (const id of ids) busy.add(id);
    const handed = isDirect && isFailing(after, now()) ? [] : handover.handOver();
    if (id) receipts?.write({ id, ids });
    // The page cannot read the answer. It keeps its events until a relay has answered about them; a service cannot be asked.
    if (isDirect && isSure && !isOn(bisection)) report([...busy], handed, []);
    store.abort();
    const written: Entry[] = [...records, ...(settling?.writes.filter(([, items]) => !items || isHeld) ?? [])];
    release(after, holder);
    // In one transaction with the rows: a tab that takes the lease must not find settled events.
    if (isHeld && settling) written.push([linkName, after]);
    link = after;
    queue.persist(written, true);
    // An aborted transaction may have been complete already. The one that was to release the lease may be lost.
    return isHeld || does !== 'wait' ? holder : '';
  };

  const isFull = () => queue.items.size >= limits.maxBatchEvents || queue.length() >= limits.maxBatchBytes;

  return {
    added() {
      handover.renewSoon();
      if (isAway()) queueMicrotask(() => leave());
      // A pass that is under way looks at the queue at its end.
      if (state.does !== 'wait') return;
      // Not in the call's own task: what a click tracks on its way to another page is handed over, and not in flight.
      if (!isFull()) passes.schedule(interval());
      else if (!timeLeft(link, state.holder, now())) passes.flush();
    },
    flush: passes.flush,
    receive: (...made) => apply(made, true),
    leave,
    isReading: () => state.does === 'read' || state.does === 'commit',
    single: (id) => void singles.add(id),
    settled: () => settled,
    forget() {
      if (!isAway()) state = { holder: state.holder, does: 'wait' };
      link = newLink();
      passes.renew();
      apply([[], [], []]);
    },
    restore() {
      state = { holder: ports.makeName(), does: 'wait' };
      passes.renew();
    },
  };
};
