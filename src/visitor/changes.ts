import { type Answered, createAsk } from './ask.js';
import { type Call, isChange } from './calls.js';
import { type Desk, is, isMissing, keyOf } from './desk.js';
import { heldOf, withCall } from './held.js';
import type { Knowledge } from './knowledge.js';
import { withVisitor } from './late.js';
import { ASKING, AWAY, type Life, OPEN } from './life.js';
import { learn, merge, newVisitor, type ReportedVisitor, type Visitor, visitorIn } from './record.js';
import { epochIn, mergedInto, type Stored, VISITOR } from './stored.js';
import type { Turn } from './turn.js';
import { changedBy, guess, isSame, meetCall, type Who } from './who.js';

/** Changes of the visitor: by calls of this page, by other tabs and hosts, and by the record in the database. */
export const createChanges = (desk: Desk, knowledge: Knowledge, turn: Turn) => {
  const { ports, hints, epochs } = desk;
  const { service, store, journal, elsewhere, weigh } = ports;
  const { write, writeHeld, hint, announce } = knowledge;
  const { holdEarly, pump, pumpAll } = turn;

  /** The transaction of an answer is done. */
  const conclude = ({ visitor, others, rows }: Answered, merged: Stored | undefined) => {
    rows.settle(!!merged);
    ports.keep();
    const { who } = desk;
    if (who && merged) {
      desk.who = { ...who, stored: who.visitor === visitor ? visitor : who.stored };
      epochs.confirm(epochIn(merged, service), ports.isInformed());
    }
    journal.replace(others, !!merged);
    // Another tab may have changed the visitor meanwhile: the id that is given now is that of the next event.
    check();
    pump();
    // `pump` may have finished more calls, and `write` takes those out of the journal.
    ports.keep();
    write();
  };

  const { ask, askSoon } = createAsk(desk, knowledge, turn, () => check(), conclude);

  /** Merges the visitor into the stored record. The rows of the moment are stored with it. */
  const save = () => {
    ports.keep();
    const { entries, settle } = ports.rows();
    const mine = (desk.who as Who).visitor;
    // A page that leaves closes its channel.
    const isInformed = ports.isInformed();
    let isOther = false;
    const change = (stored: unknown) => {
      isOther = isInformed && epochs.isOther(epochIn(stored, service));
      return isOther ? undefined : mergedInto(stored, mine, service, epochs.next());
    };
    const saving = store.transact<Stored>(entries, VISITOR, change).then((merged) => {
      const isLatest = desk.asking === saving;
      if (isLatest) desk.asking = undefined;
      settle(!!merged);
      // The visitor may have refused, and have consented again since.
      if (!desk.who || !isLatest) return;
      if (isOther && is(desk, OPEN)) askSoon(desk.life);
      if (isOther || !merged) return;
      if (desk.who.visitor === mine) desk.who = { ...desk.who, stored: mine };
      write();
      // Where nothing can be written into localStorage, another tab may have changed the visitor unnoticed.
      follow(merge(desk.who.visitor, merged));
    });
    desk.asking = saving;
    write();
  };

  /** Takes a call in its turn. */
  const hold = (made: Call) => {
    const { who, held } = desk;
    if (!who) {
      desk.held = withCall(held, made, weigh);
      return;
    }
    const [met, call] = meetCall(who, made, service);
    desk.who = met;
    if (!call) return;
    const { visitor } = call;
    const isOther = visitor && visitor.thread !== met.visitor.thread;
    desk.held = isOther ? heldOf(withVisitor(held.calls, visitor), weigh) : withCall(held, call, weigh);
    holdEarly(call);
    if (!isChange(call)) return desk.held.calls[1] ? undefined : pump();
    const changed = changedBy(met, call, service);
    const isNew = changed !== met;
    const isKnown = () => !!desk.life.isSure && !is(desk, ASKING);
    if (isNew) hint(changed);
    if (isNew && isKnown() && !announce(changed.visitor)) return;
    pumpAll();
    if (!isNew || visitor) return;
    // Before the answer, it is not certain that an `identify` needs its `$identify`. The other tabs would take it as sent.
    // The id of a `reset` is certain: that of the call. The tabs may lack the hint, where localStorage is full.
    if (isKnown() || !call.key) ports.onChange({ ...changed.visitor, epoch: epochs.stored() ?? epochs.latest() });
    if (is(desk, OPEN)) save();
  };

  /** Another tab or another host may know a later visitor. */
  const follow = (visitor: Visitor) => {
    if (!desk.who || isSame(visitor, desk.who.visitor, service)) return;
    hold({ visitor: visitorIn(visitor, service) });
    // Only the database has the primary key.
    if (is(desk, OPEN) && typeof keyOf(desk, visitor) === 'number') ask();
  };

  /** Another tab or host may have changed the visitor. The hint and the cookie show it at once, also where there is no channel. */
  const check = () => {
    const { who } = desk;
    // Before consent, and after a refusal, the page does not read localStorage.
    if (!who) return;
    const seen = hints.rawHint();
    // `enter` notices a refusal that a page missed while it was away.
    if (is(desk, AWAY) && !seen) return;
    const isNew = seen !== who.seen;
    // The page has to remember that there was one: another tab may have erased it, as a refusal does.
    desk.who = { ...who, seen: seen ?? who.seen };
    // The hint may be that of a later consent, and this page may have missed the refusal.
    if (isNew && (epochs.isOver() || (!seen && isMissing(desk)))) return is(desk, OPEN) ? ask() : undefined;
    const known = isNew ? hints.readHint() : undefined;
    const merged = merge(who.visitor, known ?? who.visitor);
    follow(elsewhere?.meet(merged, service) ?? merged);
  };

  /** Receives a visitor that another tab reports. */
  const receive = (message: ReportedVisitor): void => {
    const other = visitorIn(message);
    if (!desk.who || is(desk, AWAY) || !other) return;
    const { visitor } = desk.who;
    if (epochs.isEnded(message.epoch)) return;
    // One of the two tabs does not know of a refusal yet. The database has the later epoch.
    if (epochs.isUnlike(message.epoch)) {
      if (is(desk, OPEN)) ask();
      return;
    }
    follow(learn(visitor, other));
    // Two tabs have begun with a first id each, as after a refusal: the database has one of them.
    if (is(desk, OPEN) && !other.since && other.turn === visitor.turn && other.thread !== visitor.thread) ask();
  };

  /** @param doubt why this page does not know whether the visitor has refused */
  const start = (doubt?: Life['doubt']) => {
    const { who, held, life } = desk;
    epochs.begin();
    const known = hints.readHint();
    const seen = hints.rawHint();
    const hinted = who ? merge(who.visitor, known ?? who.visitor) : (known ?? newVisitor(undefined, life.firstId));
    const here = elsewhere?.meet(hinted, service) ?? hinted;
    const [guessed, calls] = guess(who, here, seen, held.calls, service);
    desk.who = guessed;
    desk.held = heldOf(calls, weigh);
    if (!doubt) hint(guessed);
    const own = journal.latest();
    const { earlier } = life;
    desk.life = { at: ASKING, doubt, earlier: own.texts[0] ? [...(earlier ?? []), own] : earlier };
    ask();
    if (calls[0]) writeHeld();
  };

  return { ask, hold, check, receive, start };
};
