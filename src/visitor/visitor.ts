import { eraseEntries } from '../outbox/local.js';
import type { Entry } from '../outbox/store.js';
import { type ItemText, isEvent } from '../recorder/event.js';
import { jsonOf, parseJson } from '../wire.js';
import { type Call, eventsIn, isChange } from './calls.js';
import { createChanges } from './changes.js';
import { createDesk, is, isCustomer, isDoubtful, isInDoubt, isMissing, keyOf } from './desk.js';
import type { Refusal } from './epochs.js';
import { heldOf } from './held.js';
import { createKnowledge } from './knowledge.js';
import { detachLate } from './late.js';
import { ANSWER, AWAY, type Life, MISSING, OPEN, REFUSED, type Reason, SIGNAL, WAITING } from './life.js';
import type { VisitorPorts } from './ports.js';
import { unread, VISITOR } from './stored.js';
import { createTurn } from './turn.js';

/** Knows the visitor. Calls wait until the visitor is known, and change the visitor in order. */
export const createVisitor = (ports: VisitorPorts) => {
  const { service, store, journal, weigh } = ports;
  const desk = createDesk(ports);
  const { hints, epochs, early, waiters } = desk;
  const knowledge = createKnowledge(desk);
  const turn = createTurn(desk, knowledge);
  const { ask, hold, check, receive, start } = createChanges(desk, knowledge, turn);
  const { write, writeHeld } = knowledge;
  const { give, pumpAll } = turn;
  const known = () => (desk.who?.number && !isDoubtful(desk) ? desk.who.visitor : undefined);

  return {
    /** Consent is given, and the page is visible. */
    grant() {
      if (isInDoubt(desk)) {
        desk.life = { granted: { after: desk.held.calls.at(-1) }, ...desk.life };
        return ask();
      }
      if (desk.life.isStopped || !(is(desk, WAITING) || is(desk, REFUSED))) return;
      // Another tab has written its visitor before it learned of the refusal.
      if (epochs.isEnded(epochs.marked())) eraseEntries(service, store.local);
      start();
    },
    /** The visitor has consented after a refusal. Calls wait until the page is visible. */
    wait() {
      if (!desk.life.isStopped) desk.life = { at: WAITING };
    },
    /** A call that needs the visitor. */
    enter(call: Call) {
      // If the visitor consents in spite of a signal, the customer is the one of that time.
      const isHeld =
        is(desk, REFUSED) &&
        desk.life.reason === SIGNAL &&
        !desk.life.isStopped &&
        (isChange(call) || !isEvent(call.text as ItemText));
      // A tracker that was stopped receives no messages.
      if (!isHeld && (is(desk, REFUSED) || isDoubtful(desk))) return ports.onRefused(eventsIn([call]));
      if (isChange(call)) check();
      // Another tab may have dropped the `$identify` of this customer, and this page gets no message. The database knows.
      if (is(desk, OPEN) && !ports.isInformed() && isCustomer(desk, call.key)) ask();
      hold(call);
    },
    write: writeHeld,
    /** This item was rejected. An upsert waits for the next `$identify` if that of its customer was dropped, too. Returns whether it waits. */
    keep(text: ItemText): boolean {
      const { primary_key, signature: _signature, ...upsert } = Object(parseJson(text));
      const { thread, keys } = desk.who?.visitor ?? {};
      const [key, , isUnsent] = keys?.[service] ?? [];
      const isWaiting = !!isUnsent && key === primary_key;
      if (isWaiting) early.keep([jsonOf(upsert), { correlationValue: thread }], true);
      return isWaiting;
    },
    isCustomer(primaryKey: string | undefined) {
      check();
      return isCustomer(desk, primaryKey);
    },
    /** Whether the call starts another visitor id, as far as this page knows. A late call starts none for the page. */
    isOther(call: Call): boolean {
      const { fresh, key } = call;
      if (!fresh || (key && (keyOf(desk, desk.who?.visitor) === undefined || isCustomer(desk, key)))) return false;
      return !desk.who || detachLate([call], desk.who.met, desk.who.past, service)[0][0] === call;
    },
    /** How many events the calls count for that wait. */
    size: () => desk.held.size,
    check,
    receive,
    /** Finishes waiting calls as well as this page can. Returns whether the page may write. */
    leave(): boolean {
      if (!desk.who) desk.life = { ...desk.life, firstId: undefined };
      if (!desk.who || isDoubtful(desk)) return false;
      const { isSure, isStopped, doubt, earlier } = desk.life;
      if (!doubt) check();
      desk.life = { at: AWAY, isSure: !!isSure, isStopped, doubt, earlier };
      if (epochs.isRefused()) journal.write({});
      if (doubt || epochs.isRefused()) return false;
      pumpAll();
      // A listener may have refused.
      if (!desk.who) return false;
      const { visitor, met } = desk.who;
      // The database has not answered. The other hosts have to know of a log-out all the same.
      if (!isSure && visitor !== met && !epochs.isOver()) ports.elsewhere?.share(visitor, ports.fail, service);
      return true;
    },
    /** The record that a page writes unread as it leaves, in case the browser crashes before the journal is on the disk. */
    unread(): Entry[] {
      const { who, life } = desk;
      const isChanged = who && who.visitor !== who.stored && life.isSure;
      const record = isChanged && unread(who, hints.readHint(), service);
      return record ? [[VISITOR, record]] : [];
    },
    /** After the handover: journals the changes that the database has not confirmed. */
    writeChanges: write,
    /** The page is back from the back/forward cache. The page may have left a moment after a refusal, and have seen the erased hint. */
    restore() {
      if (is(desk, AWAY) || desk.who) start(isMissing(desk) || epochs.isMarkErased(true) ? MISSING : undefined);
      else epochs.restore();
    },
    /**
     * Nothing is written or sent from now on. Returns the events that end by that.
     *
     * @param refusal is missing if this page has only seen signs of a refusal
     */
    refuse(reason: Reason, refusal?: Refusal): readonly ItemText[] {
      const texts = eventsIn(desk.held.calls);
      desk.life = { at: REFUSED, reason, isStopped: desk.life.isStopped };
      epochs.end(refusal);
      desk.held = heldOf([], weigh);
      early.forget();
      desk.who = undefined;
      write();
      give();
      return texts;
    },
    /** Takes the calls since a consent in doubt. Undefined without such a consent. */
    takeGranted(): readonly Call[] | undefined {
      const { granted } = desk.life;
      if (!granted) return undefined;
      const { calls } = desk.held;
      const count = calls.indexOf(granted.after as Call) + 1;
      desk.held = heldOf(calls.slice(0, count), weigh);
      // A visitor from another tab or host may have refused.
      return calls.slice(count).filter(({ visitor }) => !visitor);
    },
    /** Nothing begins any more. */
    stop() {
      desk.life = { ...desk.life, isStopped: true };
      give();
    },
    /** Resolves to the visitor id once it is known. */
    visitorId() {
      check();
      const visitorId = waiters.wait();
      give();
      return visitorId;
    },
    /** The visitor for links. Undefined until the database answers for the first time. */
    known,
    /** The visitor for the cookie. Undefined while calls wait, which would meet their own change there as another host's. */
    settled: () => (desk.held.calls[0] ? undefined : known()),
    /** The signature that is known by now, if another one was refused. The app may not call `identify` again. */
    newerSignature(primaryKey: string, refused: string | undefined): string | undefined {
      const { keys } = desk.who?.visitor ?? {};
      const [key, signature, isUnsent] = keys?.[service] ?? [];
      return isUnsent && key === primaryKey && signature !== refused ? signature : undefined;
    },
    /** The visitor id, also before the database has answered. */
    id: () => desk.who?.visitor.thread,
    pages: () => (isDoubtful(desk) ? 0 : (desk.who?.number ?? 0)),
    isAway: () => is(desk, AWAY),
    epochs,
    /** Whether the visitor may have refused since this page has seen the hint. */
    mayBeOver: () => epochs.isMarkErased(!!desk.who?.seen),
    /** Is another value after each answer, departure and the like. */
    moment: (): Life => desk.life,
    /** Whether the visitor has refused, and not only the browser. */
    hasRefused: () => desk.life.reason === ANSWER,
    /** Whether the page may write. */
    isStarted: () => !!desk.who,
    /** Whether a plugin may store something: a page that is away may have missed a refusal. */
    mayStore: () => !!desk.who && !isDoubtful(desk) && !isInDoubt(desk) && !epochs.isOver(),
    /** Resolves once the last transaction is done. */
    asked: async () => desk.asking,
    /** Resolves once no call waits any more. The database has answered: those that have waited are finished a few at a time. */
    async finished() {
      const given = waiters.wait();
      give();
      await given.catch(() => {});
    },
    /** Whether a transaction is running. Other transactions wait behind it. */
    isBusy: () => !!desk.asking,
  };
};
