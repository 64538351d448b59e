import type { NamedJournal, OtherJournal } from '../outbox/journal.js';
import type { Row } from '../outbox/store.js';
import { type ItemText, idOf } from '../recorder/event.js';
import { adopt, withoutRefused, withoutTaken } from './adopt.js';
import { type Call, eventsIn } from './calls.js';
import { decide } from './decide.js';
import { type Desk, is, isMissing } from './desk.js';
import { heldOf } from './held.js';
import { judgeRecord, RENEWED, SOON } from './judgeRecord.js';
import type { Knowledge } from './knowledge.js';
import { ASKING, AWAY, DOUBTED, type Life, MISSING, OPEN } from './life.js';
import type { Rows } from './ports.js';
import { merge, type Visitor, visitorIn } from './record.js';
import { epochIn, isErasedFor, mergedInto, type Stored, takenIn, takenWith, VISITOR } from './stored.js';
import type { Turn } from './turn.js';
import { guess, isSame } from './who.js';

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
  readonly own: NamedJournal;
  /** Adds the changes by other hosts and by the link that has opened the page. */
  meet(visitor: Visitor): Visitor;
}

/** The result of a question. */
export interface Answered {
  readonly visitor: Visitor;
  /** The epoch of the record. */
  readonly epoch: string;
  /** The journals that are taken in. */
  readonly others: readonly OtherJournal[];
  readonly rows: Rows;
}

/**
 * Asks the database who the visitor is.
 *
 * @param check notices what another tab has changed
 * @param onStored the transaction of an answer is done. `merged` is the record, or undefined if it is not stored
 */
export const createAsk = (
  desk: Desk,
  { hint, announce }: Knowledge,
  { take }: Turn,
  check: () => void,
  onStored: (answered: Answered, merged: Stored | undefined) => void,
) => {
  const { ports, hints, epochs, early } = desk;
  const { service, store, journal, elsewhere, weigh } = ports;

  /** Asks again soon, unless this page knows of a refusal by then. */
  const askSoon = (mine: Life, again = MOST_ASKED) =>
    new Promise<void>((resolve) => {
      setTimeout(() => {
        if (!desk.who || desk.life !== mine || is(desk, AWAY)) return resolve();
        ask(again - 1);
        resolve(desk.asking);
      }, BREATH);
    });

  /** A crash of the browser may have brought back a hint from before a refusal. Then the visitor of the record counts. */
  const replaceHint = (kept: Visitor, found: string) => {
    if (!epochs.isOutdated(found)) return;
    if (epochs.correct(found)) hints.eraseHint();
    const [guessed, calls] = guess(undefined, kept, desk.who?.seen, desk.held.calls, service);
    desk.who = guessed;
    desk.held = heldOf(calls, weigh);
  };

  /** Another page has taken in these items of this page, counts them, and sends them. */
  const forgetTaken = (texts: readonly ItemText[]) => {
    const ids = new Set(texts.map(idOf));
    const isTheirs = ({ text = '' }: Call) => ids.has(idOf(text));
    const { calls } = desk.held;
    ports.forget(ids, eventsIn(calls.filter(isTheirs)));
    desk.held = heldOf(
      calls.filter((call) => !isTheirs(call)),
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
      isMissing: isMissing(desk),
      doubt: mine.doubt,
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
    if (desk.life !== mine || !desk.who) return undefined;
    const found = epochIn(stored, service);
    const verdict = judge(question, stored, found);
    if (verdict === SOON) {
      if (mine.doubt === MISSING) desk.life = { ...mine, doubt: DOUBTED };
      return SOON;
    }
    if (verdict) return ports.onMissed(verdict === RENEWED) as undefined;
    const epoch = found ?? epochs.next();
    const kept = visitorIn(stored, service);
    if (found && epochs.isOther(found)) epochs.follow(found);
    if (kept && found) replaceHint(kept, found);
    const taken = takenIn(stored);
    const theirs = [...(mine.earlier ?? []), own].filter(({ name }) => taken.includes(name));
    for (const { texts } of theirs) forgetTaken(texts);
    // The room of the origin is known before the journals of other pages are taken in.
    const present = rows && ports.measure(rows);
    // Without a database, a page cannot know whether an open page has finished its calls itself.
    const others = journal.others(since).filter(({ isLeft }) => isLeft || !isShut);
    const settled = ports.settled(!mine.isSure);
    const isKnown = (text: string) => settled.has(idOf(text)) || !!present?.has(idOf(text));
    // Another tab may have begun another visitor id meanwhile. The upsert that waits may be of that one.
    check();
    const texts = early.take();
    const journals = [{ texts }, ...withoutRefused(withoutTaken(others, taken), found, epochs.isEnded)];
    const { held } = desk;
    // Items of another page come after its rows, and this page's come after those that another page has taken in. So an open page gets
    // another number for them.
    const who = theirs[0] || others[0] ? { ...desk.who, number: 0 } : desk.who;
    const [base, left, waiting] = adopt(journals, kept, who.begin, isKnown, service);
    const { begin } = who;
    // A page that has left may have begun another visitor id. Then only the record has the primary key for the calls that waited before.
    const begun = kept?.thread === begin.thread ? merge(kept, begin) : begin;
    const [next, items, rest] = decide(
      { ...who, begin: begun },
      held.calls,
      base,
      hints.readHint(),
      meet,
      service,
      waiting,
    );
    const { visitor } = next;
    desk.held = heldOf(rest, weigh);
    desk.life = { at: OPEN, isSure: true };
    hint(next);
    const ended = epochs.ended();
    journal.adopt(others);
    take(items, journal.isAmong(taken), left);
    if (texts[0]) ports.keep();
    // A listener may have refused.
    if (epochs.ended() !== ended) return undefined;
    // Or it may have changed the visitor again, which is announced by now.
    if (desk.who?.visitor === visitor && !announce(visitor)) return undefined;
    // Also the first visitor in the database: another tab may have begun with another one, before or after a refusal.
    const isNews = kept || !isShut || !isSame(visitor, who.visitor, service);
    if (isNews && !isSame(visitor, kept, service)) ports.onChange({ ...visitor, epoch });
    // In the same task, before the queue stores them by themselves: the record and its `$identify` are stored together.
    // Until the transaction is done, the journals have this page's calls and the items of other pages.
    return { visitor, epoch, others, rows: ports.rows() };
  };

  const ask = (again = MOST_ASKED) => {
    const mine: Life = { ...desk.life, at: ASKING };
    desk.life = mine;
    const linked = desk.who?.number ? '' : ports.arrive();
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
      // A transaction that has failed is run anew, and the first result counts.
      result ??= answer(question, stored, rows, isShut);
      if (!result || result === SOON) return undefined;
      const taken = takenWith(stored, result.others);
      const merged = { ...mergedInto(stored, result.visitor, service, result.epoch), taken };
      if (desk.who) desk.who = { ...desk.who, taken, epochs: merged.epochs };
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
        if (result === SOON) await askSoon(desk.life, again);
        if (desk.asking === asked) desk.asking = undefined;
        if (result === SOON) return;
        // Without an answer this page does not know whether the visitor has refused.
        if (!result && desk.life === mine && again && isMissing(desk))
          return void setTimeout(() => desk.life === mine && ask(again - 1), REST);
        // Without a database, this page keeps its own knowledge.
        if (!result) change(undefined, mine.isSure ? undefined : [], true);
        if (!result) return;
        onStored(result, merged);
        if (!mine.isSure) ports.onLoad();
      });
    desk.asking = asked;
  };

  return { ask, askSoon };
};
