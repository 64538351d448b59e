import type { OtherJournal } from '../outbox/journal.js';
import { eraseEntries } from '../outbox/local.js';
import type { Entry, Row } from '../outbox/store.js';
import { type ItemText, idOf, isEvent, stamp } from '../recorder/event.js';
import { jsonOf, parseJson } from '../wire.js';
import { adopt, withoutRefused } from './adopt.js';
import { type Call, eventsIn, type Finished, finish, isChange, isEarly } from './calls.js';
import { AT_ONCE, decide } from './decide.js';
import { createEarly, earlyCall } from './early.js';
import { createEpochs, type Refusal } from './epochs.js';
import { type Held, heldOf, withCall } from './held.js';
import { createHint } from './hint.js';
import { judgeRecord, RENEWED, SOON } from './judgeRecord.js';
import { detachLate, withVisitor } from './late.js';
import {
  ANSWER,
  ASKING,
  AWAY,
  DOUBTED,
  type Life,
  MISSING,
  OPEN,
  REFUSED,
  type Reason,
  SIGNAL,
  WAITING,
} from './life.js';
import type { Rows, VisitorPorts } from './ports.js';
import { learn, markOf, merge, newVisitor, type ReportedVisitor, type Visitor, visitorIn } from './record.js';
import { epochIn, isErasedFor, mergedInto, type Stored, takenIn, takenWith, unread, VISITOR } from './stored.js';
import { createWaiters } from './waiters.js';
import { changedBy, guess, isSame, meetCall, type Who } from './who.js';

/** More calls that wait are not journaled until the page leaves: it would take too long. */
const MOST_JOURNALED = 1e3;
/** How often, and after how many ms, a busy database is asked again whether the visitor has refused. */
const MOST_ASKED = 3;
const REST = 3000;
/**
 * After how many ms another one is asked again, if the visitor may have refused. The message of another tab arrives meanwhile, or the
 * browser deletes the database for a page that has left.
 */
const BREATH = 50;

/** A question to the database: who is the visitor? */
interface Question {
  /** The moment at which it is asked, and the time. */
  readonly life: Life;
  readonly since: number;
  /** Whether it is asked again. */
  readonly isRepeated: boolean;
  /** This page's journal at that moment. */
  readonly own: Pick<OtherJournal, 'name' | 'texts'>;
  /** Adds the changes by other hosts and by the link that has opened the page. */
  meet(visitor: Visitor): Visitor;
}

/** The result of a question. */
interface Answered {
  readonly visitor: Visitor;
  /** The epoch of the record. */
  readonly epoch: string;
  /** The journals that are taken in. */
  readonly others: readonly OtherJournal[];
  readonly rows: Rows;
}

/** Knows the visitor. Calls wait until the visitor is known, and change the visitor in order. */
export const createVisitor = (ports: VisitorPorts) => {
  const { service, store, journal, elsewhere, weigh } = ports;
  const { readHint, writeHint, eraseHint, rawHint } = createHint(service, store.local);
  const epochs = createEpochs(service, store.local);
  const early = createEarly(service, store.local, epochs.isOver);
  let life: Life = { at: WAITING, firstId: ports.given || undefined };
  /** Undefined before the page may know the visitor, and after a refusal. */
  let who: Who | undefined;
  /** Calls that wait for the visitor. */
  let held: Held = { calls: [], size: 0 };
  /** The last transaction, until it is done. */
  let asking: Promise<void> | undefined;
  const waiters = createWaiters();

  const is = (at: Life['at']) => life.at === at;
  /** The primary key, or its mark if this page does not know the key. */
  const keyOf = (of: Visitor | undefined) => of?.keys[service]?.[0];
  /** Whether this is the customer of the visitor. */
  const isCustomer = (key: unknown) =>
    typeof key === 'string' && [key, markOf(key)].includes(keyOf(who?.visitor) as string);

  /**
   * Another page has erased the mark of this service, as a refusal does, and this page got no message. Only the database shows
   * whether the visitor has refused. Until it has answered, this page stores and sends nothing.
   */
  const isMissing = () =>
    life.doubt === MISSING || ((is(AWAY) || !!life.isSure) && epochs.isMarkErased(!!who?.seen || !!life.isStopped));
  const isDoubtful = () => is(AWAY) && isMissing();

  /** Journals the changes that the database may lack. */
  const write = () => {
    if (!who) return journal.write({});
    const { begin, visitor, stored } = who;
    const texts = finish(begin, held.calls, service)[1].map((item) => stamp(...item));
    const changed = visitor === stored ? undefined : visitor;
    journal.write({ visitor: changed, texts, isLeft: is(AWAY), epoch: epochs.current() });
  };

  /** Journals the calls that wait for the database. */
  const writeHeld = () => {
    if (is(ASKING) && life.doubt !== MISSING && held.calls.length < MOST_JOURNALED) write();
  };

  /** Writes the hint, so that also a page that has no time to ask the database knows the visitor. */
  const hint = (known: Who) => {
    who = known;
    // A refusal has ended the epoch of this page, which is about to learn of it.
    if (epochs.isOver()) return;
    const isSeen = rawHint() === known.seen;
    writeHint(known.visitor);
    epochs.mark();
    // This page has not noticed yet what another tab has written meanwhile.
    if (isSeen) who = { ...known, seen: rawHint() };
  };

  /** From now on the visitor is known. */
  const know = (known: Who) => {
    hint(known);
    if (!epochs.isOver()) elsewhere?.share(known.visitor, ports.fail, service);
    ports.onVisitor(known.visitor);
  };

  /** Gives the visitor id to those who wait for it, once it is certain or there will be none. */
  const give = () => {
    const isUnknown = !who || is(ASKING) || isDoubtful();
    // After a signal, the visitor may still consent.
    const end =
      is(REFUSED) && life.reason !== SIGNAL
        ? 'the visitor has refused'
        : isUnknown && life.isStopped && 'the tracker was stopped';
    if (end) waiters.end(end);
    // A stopped page never finishes the calls that it leaves to the next one.
    else if (who && !isUnknown && (life.isStopped || (life.isSure && !held.calls[0]))) waiters.give(who.visitor.thread);
  };

  /** Takes finished items. Upserts wait until their visitor id has a customer. Those of an earlier visitor id never have one. */
  const take = (items: readonly Finished[], ...others: [isAdopted?: boolean, left?: readonly ItemText[]]) => {
    const waiting = items.filter(isEarly);
    ports.take(
      items.filter((item) => !waiting.includes(item)),
      ...others,
    );
    for (const item of waiting) if (item[1].correlationValue === who?.visitor.thread) early.keep(item);
  };

  /** The upsert that waits follows the call that identifies its visitor. Another visitor id drops it. */
  const holdEarly = ({ fresh, key, at }: Call) => {
    // Until the database has answered, the upsert is left there, because the page may leave.
    for (const text of fresh && (life.isSure || !key) ? early.take() : []) {
      const call = earlyCall(text, undefined, at);
      if (key && call) held = withCall(held, call, weigh);
    }
  };

  /** Finishes waiting calls, a few at a time, so that the page's own work goes on. */
  const pump = (most = AT_ONCE) => {
    if (!who || !(is(OPEN) || is(AWAY))) return;
    const { calls } = held;
    const isBacklog = !!calls[1];
    const [begin, items, count] = finish(who.begin, calls.slice(0, most), service, life.isSure);
    held = heldOf(calls.slice(count), weigh);
    who = { ...who, begin };
    take(items);
    if (held.calls[0]) {
      if (is(OPEN)) setTimeout(pump);
      return;
    }
    give();
    if (isBacklog) write();
  };
  const pumpAll = () => pump(Number.POSITIVE_INFINITY);

  /** Asks again soon, unless this page has learned of a refusal until then. */
  const askSoon = (mine: Life, again = MOST_ASKED) =>
    new Promise<void>((resolve) => {
      setTimeout(() => {
        if (life !== mine || is(AWAY)) return resolve();
        ask(again - 1);
        resolve(asking);
      }, BREATH);
    });

  /** Merges the visitor into the stored record. The rows of the moment are stored with it. */
  const save = () => {
    ports.keep();
    const { entries, settle } = ports.rows();
    const mine = (who as Who).visitor;
    // A page that leaves closes its channel.
    const isInformed = ports.isInformed();
    let isOther = false;
    const change = (stored: unknown) => {
      isOther = isInformed && epochs.isOther(epochIn(stored, service));
      return isOther ? undefined : mergedInto(stored, mine, service, epochs.next());
    };
    const saving = store.transact<Stored>(entries, VISITOR, change).then((merged) => {
      const isLatest = asking === saving;
      if (isLatest) asking = undefined;
      settle(!!merged);
      // The visitor may have refused, and have consented again since.
      if (!who || !isLatest) return;
      if (isOther && is(OPEN)) askSoon(life);
      if (isOther || !merged) return;
      if (who.visitor === mine) who = { ...who, stored: mine };
      write();
      // Where nothing can be written into localStorage, another tab may have changed the visitor unnoticed.
      follow(merge(who.visitor, merged));
    });
    asking = saving;
    write();
  };

  /** A crash of the browser may have brought back a hint from before a refusal. Then the visitor of the record counts. */
  const replaceHint = (kept: Visitor, found: string) => {
    if (!epochs.isOutdated(found)) return;
    if (epochs.correct(found)) eraseHint();
    const [guessed, calls] = guess(undefined, kept, who?.seen, held.calls, service);
    who = guessed;
    held = heldOf(calls, weigh);
  };

  /** Another page has taken in these items of this page, counts them, and sends them. */
  const forgetTaken = (texts: readonly ItemText[]) => {
    const ids = new Set(texts.map(idOf));
    const isTheirs = ({ text = '' }: Call) => ids.has(idOf(text));
    ports.forget(ids, eventsIn(held.calls.filter(isTheirs)));
    held = heldOf(
      held.calls.filter((call) => !isTheirs(call)),
      weigh,
    );
  };

  /**
   * Decides whether the visitor has refused since the question, from the record and the mark in localStorage.
   *
   * @param found the epoch of the record
   */
  const judge = ({ life: mine, isRepeated }: Question, stored: unknown, found: string | undefined) =>
    judgeRecord({
      isErased: isErasedFor(stored, service),
      isOther: epochs.isOther(found),
      isRenewed: epochs.isRenewed(found),
      isMissing: isMissing(),
      isDoubted: mine.doubt === DOUBTED,
      isInformed: !!mine.isSure && ports.isInformed(),
      isRepeated,
    });

  /**
   * The database has answered, within its transaction. Returns undefined if the answer is too late, or if the visitor has refused.
   *
   * @param rows the stored rows, unless this page knows them
   * @param isShut there is no database
   */
  const answer = (
    question: Question,
    stored: unknown,
    rows?: readonly Row[],
    isShut?: boolean,
  ): Answered | typeof SOON | undefined => {
    const { life: mine, since, own, meet } = question;
    if (life !== mine || !who) return undefined;
    const found = epochIn(stored, service);
    const verdict = judge(question, stored, found);
    if (verdict === SOON) {
      if (mine.doubt === MISSING) life = { ...mine, doubt: DOUBTED };
      return SOON;
    }
    if (verdict) return ports.onMissed(verdict === RENEWED, !!mine.isGranted) as undefined;
    const epoch = found ?? epochs.next();
    const kept = visitorIn(stored, service);
    if (found && epochs.isOther(found)) epochs.follow(found);
    if (kept && found) replaceHint(kept, found);
    const taken = takenIn(stored);
    if (taken.includes(own.name)) forgetTaken(own.texts);
    // The room of the origin is known before the journals of other pages are taken in.
    const present = rows && ports.measure(rows);
    // Without a database, a page cannot know whether an open page has finished its calls itself.
    const others = journal.others(since).filter(({ isLeft }) => isLeft || !isShut);
    const settled = ports.settled(!mine.isSure);
    const isKnown = (text: string) => settled.has(idOf(text)) || !!present?.has(idOf(text));
    const due = others.filter(({ name }) => !taken.includes(name));
    const texts = early.take();
    const journals = [{ texts }, ...withoutRefused(due, found, epochs.isEnded)];
    const [base, left, waiting] = adopt(journals, kept, who.begin, isKnown, service);
    const before = who.visitor;
    const [next, items, rest] = decide(who, held.calls, base, readHint()?.thread, meet, service, waiting);
    const { visitor } = next;
    held = heldOf(rest, weigh);
    life = { at: OPEN, isSure: true };
    know(next);
    take(items, journal.isAmong(taken), left);
    if (texts[0]) ports.keep();
    // Also the first visitor in the database: another tab may have begun with another one, before or after a refusal.
    const isNews = kept || !isShut || !isSame(visitor, before, service);
    if (isNews && !isSame(visitor, kept, service)) ports.onChange({ ...visitor, epoch });
    // In the same task, before the queue stores them by themselves: the record and its `$identify` are stored together.
    // Until the transaction is done, the journals have this page's calls and the items of other pages.
    return { visitor, epoch, others, rows: ports.rows() };
  };

  /** The transaction of an answer is done. */
  const conclude = ({ visitor, others, rows }: Answered, merged: Stored | undefined) => {
    rows.settle(!!merged);
    ports.keep();
    if (who && merged) {
      who = { ...who, stored: who.visitor === visitor ? visitor : who.stored };
      epochs.confirm(epochIn(merged, service));
    }
    journal.replace(others, !!merged);
    // Another tab may have changed the visitor meanwhile: the id that is given now is that of the next event.
    check();
    pump();
    write();
  };

  /** Asks the database who the visitor is. */
  const ask = (again = MOST_ASKED) => {
    const mine: Life = { ...life, at: ASKING };
    life = mine;
    const linked = who?.number ? '' : ports.arrive();
    const meet = (visitor: Visitor) => {
      const met = elsewhere?.meet(visitor, service) ?? visitor;
      return linked ? linked(met) : met;
    };
    const isRepeated = again < MOST_ASKED;
    const question: Question = { life: mine, since: Date.now(), isRepeated, own: journal.latest(), meet };
    let result: Answered | typeof SOON | undefined;
    const change = (found: unknown, rows?: readonly Row[], isShut?: boolean): Stored | undefined => {
      // A tab that did not know of the refusal yet has written the record again.
      const stored = epochs.isEnded(epochIn(found, service)) ? undefined : found;
      // A database that has failed is asked again.
      if (!result || result === SOON) result = answer(question, stored, rows, isShut);
      if (!result || result === SOON) return undefined;
      const taken = takenWith(stored, result.others);
      const merged = { ...mergedInto(stored, result.visitor, service, result.epoch), taken };
      if (who) who = { ...who, taken, epochs: merged.epochs };
      return merged;
    };
    const asked = store
      .transact<Stored>(
        () => (result && result !== SOON ? result.rows.entries : []),
        VISITOR,
        (stored, found) => change(stored, mine.isSure ? undefined : found),
        () => (mine.isSure ? undefined : ports.query()),
      )
      .then(async (merged) => {
        if (result === SOON) await askSoon(life, again);
        if (asking === asked) asking = undefined;
        if (result === SOON) return;
        // Without an answer this page does not know whether the visitor has refused.
        if (!result && life === mine && again && isMissing())
          return void setTimeout(() => life === mine && ask(again - 1), REST);
        // Without a database, this page keeps its own knowledge.
        if (!result) change(undefined, undefined, true);
        if (!result) return;
        conclude(result, merged);
        if (!mine.isSure) ports.onLoad();
      });
    asking = asked;
  };

  /** Takes a call in its turn. */
  const hold = (made: Call) => {
    if (!who) {
      held = withCall(held, made, weigh);
      return;
    }
    const [met, call] = meetCall(who, made, service);
    who = met;
    if (!call) return;
    const { visitor } = call;
    const isOther = visitor && visitor.thread !== met.visitor.thread;
    held = isOther ? heldOf(withVisitor(held.calls, visitor), weigh) : withCall(held, call, weigh);
    holdEarly(call);
    if (!isChange(call)) return held.calls[1] ? undefined : pump();
    const changed = changedBy(met, call, service);
    const isNew = changed !== met;
    if (isNew) (life.isSure && !is(ASKING) ? know : hint)(changed);
    pumpAll();
    if (!isNew || visitor) return;
    // Also a `reset` before the answer: its id is that of the call. The tabs may lack the hint, where localStorage is full.
    if (life.isSure || !call.key) ports.onChange({ ...changed.visitor, epoch: epochs.stored() ?? epochs.latest() });
    if (is(OPEN)) save();
  };

  /** Another tab or another host may know a later visitor. */
  const follow = (visitor: Visitor) => {
    if (!who || isSame(visitor, who.visitor, service)) return;
    hold({ visitor: visitorIn(visitor, service) });
    // Only the database has the primary key.
    if (is(OPEN) && typeof keyOf(visitor) === 'number') ask();
  };

  /** Another tab or host may have changed the visitor. The hint and the cookie show it at once, also where there is no channel. */
  const check = () => {
    // Before consent, and after a refusal, the page does not read localStorage.
    if (!who) return;
    const seen = rawHint();
    // `enter` notices a refusal that a page missed while it was away.
    if (is(AWAY) && !seen) return;
    const isNew = seen !== who.seen;
    who = { ...who, seen };
    // The hint may be that of a later consent, and this page may have missed the refusal.
    if (isNew && epochs.isOver()) return is(OPEN) ? ask() : undefined;
    const known = isNew ? readHint() : undefined;
    const merged = merge(who.visitor, known ?? who.visitor);
    follow(elsewhere?.meet(merged, service) ?? merged);
  };

  /** Receives a visitor that another tab reports. */
  const receive = (message: ReportedVisitor): void => {
    const other = visitorIn(message);
    if (!who || is(AWAY) || !other) return;
    const { visitor } = who;
    if (epochs.isEnded(message.epoch)) return;
    // One of the two tabs does not know of a refusal yet. The database has the later epoch.
    if (epochs.isUnlike(message.epoch)) {
      if (is(OPEN)) ask();
      return;
    }
    follow(learn(visitor, other));
    // Two tabs have begun with a first id each, as after a refusal: the database has one of them.
    if (is(OPEN) && !other.since && other.turn === visitor.turn && other.thread !== visitor.thread) ask();
  };

  /** @param doubt why this page does not know whether the visitor has refused */
  const start = (doubt?: Life['doubt']) => {
    epochs.begin();
    const known = readHint();
    const seen = rawHint();
    const hinted = who ? merge(who.visitor, known ?? who.visitor) : (known ?? newVisitor(undefined, life.firstId));
    const here = elsewhere?.meet(hinted, service) ?? hinted;
    const [guessed, calls] = guess(who, here, seen, held.calls, service);
    who = guessed;
    held = heldOf(calls, weigh);
    if (!doubt) hint(who);
    life = { at: ASKING, doubt };
    ask();
    if (calls[0]) writeHeld();
  };

  return {
    /** Consent is given, and the page is visible. */
    grant() {
      if (is(ASKING) && life.doubt) {
        life = { ...life, isGranted: true };
        return ask();
      }
      if (life.isStopped || !(is(WAITING) || is(REFUSED))) return;
      // Another tab has written its visitor before it learned of the refusal.
      if (epochs.isEnded(epochs.marked())) eraseEntries(service, store.local);
      start();
    },
    /** A call that needs the visitor. */
    enter(call: Call) {
      // If the visitor consents in spite of a signal, the customer is the one of that time.
      const isHeld =
        is(REFUSED) && life.reason === SIGNAL && !life.isStopped && (isChange(call) || !isEvent(call.text as ItemText));
      // A tracker that was stopped receives no messages.
      if (!isHeld && (is(REFUSED) || isDoubtful())) return ports.onRefused(eventsIn([call]));
      if (isChange(call)) check();
      hold(call);
    },
    write: writeHeld,
    /** This item was rejected. An upsert waits for the next `$identify` if that of its customer was dropped, too. Returns whether it waits. */
    keep(text: ItemText): boolean {
      const { primary_key, signature: _signature, ...upsert } = Object(parseJson(text));
      const { thread, keys } = who?.visitor ?? {};
      const [key, , isUnsent] = keys?.[service] ?? [];
      const isWaiting = !!isUnsent && key === primary_key;
      if (isWaiting) early.keep([jsonOf(upsert), { correlationValue: thread }], true);
      return isWaiting;
    },
    isCustomer(primaryKey: string | undefined) {
      check();
      return isCustomer(primaryKey);
    },
    /** Whether the call starts another visitor id, as far as this page knows. A late call starts none for the page. */
    isOther(call: Call): boolean {
      const { fresh, key } = call;
      if (!fresh || (key && (keyOf(who?.visitor) === undefined || isCustomer(key)))) return false;
      return !who || detachLate([call], who.met, who.past, service)[0][0] === call;
    },
    /** How many events the calls count for that wait. */
    size: () => held.size,
    check,
    receive,
    /** Finishes waiting calls as well as this page can. Returns whether the page may write. */
    leave(): boolean {
      if (!who) life = { ...life, firstId: undefined };
      if (!who || isDoubtful()) return false;
      const { isSure, isStopped, doubt } = life;
      if (doubt !== MISSING) check();
      life = { at: AWAY, isSure: !!isSure, isStopped, doubt };
      if (epochs.isRefused()) journal.write({});
      if (doubt === MISSING || epochs.isRefused()) return false;
      pumpAll();
      return true;
    },
    /** The record that a page writes unread as it leaves, in case the browser crashes before the journal is on the disk. */
    unread(): Entry[] {
      if (!life.isSure || !who || who.visitor === who.stored || epochs.isOver()) return [];
      const record = unread(who, readHint(), service);
      return record ? [[VISITOR, record]] : [];
    },
    /** After the handover: journals the changes that the database has not confirmed. */
    writeChanges: write,
    /** The page is back from the back/forward cache. The page may have left a moment after a refusal, and have seen the erased hint. */
    restore() {
      if (is(AWAY)) start(isMissing() || epochs.isMarkErased(true) ? MISSING : undefined);
      else epochs.restore();
    },
    /**
     * Nothing is written or sent from now on.
     *
     * @param refusal is missing if this page has only seen signs of a refusal
     */
    refuse(reason: Reason, refusal?: Refusal) {
      const texts = eventsIn(held.calls);
      life = { at: REFUSED, reason, isStopped: life.isStopped };
      epochs.end(refusal);
      held = heldOf([], weigh);
      early.forget();
      who = undefined;
      write();
      ports.onRefused(texts);
      give();
    },
    /** Nothing begins any more. */
    stop() {
      life = { ...life, isStopped: true };
      give();
    },
    /** Resolves to the visitor id once it is known. */
    visitorId() {
      check();
      const visitorId = waiters.wait();
      give();
      return visitorId;
    },
    /** The visitor, for other hosts and other tabs. Undefined before the database has answered. */
    known: () => (who?.number && !isDoubtful() ? who.visitor : undefined),
    /** The signature that is known by now, if another one was refused. The app may not call `identify` again. */
    newerSignature(primaryKey: string, refused: string | undefined): string | undefined {
      const { keys } = who?.visitor ?? {};
      const [key, signature, isUnsent] = keys?.[service] ?? [];
      return isUnsent && key === primaryKey && signature !== refused ? signature : undefined;
    },
    /** The visitor id, also before the database has answered. */
    id: () => who?.visitor.thread,
    pages: () => (isDoubtful() ? 0 : (who?.number ?? 0)),
    isAway: () => is(AWAY),
    epochs,
    /** Whether the visitor may have refused since this page has seen the hint. */
    mayBeOver: () => epochs.isMarkErased(!!who?.seen),
    /** Is another value after each answer, departure and the like. */
    moment: (): unknown => life,
    /** Whether the visitor has refused, and not only the browser. */
    hasRefused: () => life.reason === ANSWER,
    /** Whether the page may write. */
    isStarted: () => !!who,
    /** Whether a plugin may store something: a page that is away may have missed a refusal. */
    mayStore: () => !!who && !isDoubtful() && !epochs.isOver(),
    /** Resolves once the last transaction is done. */
    asked: async () => asking,
    /** Resolves once no call waits any more. The database has answered: those that have waited are finished a few at a time. */
    async finished() {
      const given = waiters.wait();
      give();
      await given.catch(() => {});
    },
    /** Whether a transaction is running. Other transactions wait behind it. */
    isBusy: () => !!asking,
  };
};
