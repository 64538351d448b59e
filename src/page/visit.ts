import type { createLedger } from '../api/ledger.js';
import type { Settings } from '../api/options.js';
import type { Signals } from '../api/signals.js';
import { linkNameOf } from '../courier/lease.js';
import type { Courier } from '../courier/ports.js';
import { type Books, withoutNumber } from '../outbox/books.js';
import type { createFarewell } from '../outbox/farewell.js';
import { eraseEntries, eraseTab } from '../outbox/local.js';
import type { Queue } from '../outbox/queue.js';
import type { Store } from '../outbox/store.js';
import { type ItemText, idOf, isEvent } from '../recorder/event.js';
import type { Recorder } from '../recorder/recorder.js';
import { type Call, eventsIn } from '../visitor/calls.js';
import type { Refusal } from '../visitor/epochs.js';
import { ANSWER, MISSED, SIGNAL } from '../visitor/life.js';
import { epochIn, VISITOR } from '../visitor/stored.js';
import type { createVisitor } from '../visitor/visitor.js';
import type { Answered, Channel } from './channel.js';
import { watchLifecycle } from './life.js';
import { neverSeen, whenSeen } from './prerender.js';

export interface VisitPorts {
  readonly settings: Settings;
  readonly recorder: Recorder;
  readonly visitor: ReturnType<typeof createVisitor>;
  readonly queue: Queue;
  readonly store: Store;
  readonly courier: Courier;
  readonly farewell: ReturnType<typeof createFarewell>;
  /** Undefined without a relay. */
  readonly books: Books | undefined;
  readonly channel: Channel;
  readonly ledger: ReturnType<typeof createLedger>;
  /** Identifies the visitor again, with a newer signature. */
  identify(key: string, signature: string): void;
  /** Another visitor id is about to start. */
  emit(signal: 'change', make: () => Signals['change']): void;
  /** The visitor has refused. */
  onRefusal(): void;
  fail(message: string): void;
}

/**
 * Comes after a refusal.
 *
 * @param isLatest whether no listener has refused again since
 */
type Next = (isLatest: () => boolean) => void;

/** The moments that concern all parts at once: consent, refusal, departure, and the return from the back/forward cache. */
export const createVisit = (ports: VisitPorts) => {
  const { settings, recorder, visitor, queue, store, courier, farewell, books, channel, ledger } = ports;
  const { epochs } = visitor;
  const { storageName: service } = settings;

  const start = () => visitor.grant();
  /** An event gets its number in this page load. */
  const numbered = (call: Call): Call => {
    const [text] = eventsIn([call]).filter(isEvent);
    return text && books ? { ...call, text: books.number(text) } : call;
  };
  /** Shows the visitor to the site's other hosts. After a refusal, it deletes the cookie. */
  const writeCookie = () => {
    const known = visitor.settled();
    // A page that does not know the visitor yet leaves the cookie alone. So does one that has missed a refusal.
    if ((known || !visitor.isStarted()) && !visitor.mayBeOver())
      settings.cookieDomain?.share(known, ports.fail, service);
  };

  /**
   * After a refusal, nothing that this page has counts any more.
   *
   * @param held events that wait for the visitor
   * @param next goes ahead of the listeners: one of them may consent again, and what is stored then has to stay
   * @param kept so many events have no end yet
   */
  const drop = (held: readonly ItemText[] = [], next?: () => void, kept = 0) => {
    const texts = [...held, ...queue.clear()];
    // Events that only the store has are erased unread. An event that is still in `beforeSend` ends by itself.
    ledger.endUnseen(ledger.counts.queued - recorder.making() - kept, 'consent');
    courier.forget();
    books?.drop([], 'consent');
    next?.();
    ports.onRefusal();
    ledger.report(texts, 'consent');
  };
  const forget = (refusal: Parameters<typeof visitor.refuse>, next: Next, kept?: number) => {
    const held = visitor.refuse(...refusal);
    const ended = epochs.ended();
    neverSeen(start);
    drop(held, () => next(() => epochs.ended() === ended), kept);
  };

  /** Erases the service's data in the database. */
  const clear = (isRefused?: (record: unknown) => boolean) =>
    store.clear(service, [VISITOR, linkNameOf(service)], isRefused);
  const eraseLocal = () => {
    eraseEntries(service, store.local);
    writeCookie();
  };

  /** The visitor refuses in this tab, or this page has seen signs of a refusal. */
  const refuse = (refusal?: Refusal, next?: Next, kept?: number) => {
    recorder.drain();
    const erase: Next = (isLatest) => {
      clear();
      eraseLocal();
      next?.(isLatest);
    };
    forget([ANSWER, refusal], erase, kept);
  };

  /**
   * Another tab passes a refusal, and erases the data. This tab may have stored more since. The message may also come late, as to a
   * frozen page: what is stored may belong to a later consent.
   *
   * @param more is missing if that tab runs another version of clew
   */
  const receiveRefusal = ({ at, ended }: Partial<Answered> = {}) => {
    const epoch = epochs.current();
    if (epochs.isSince(at) && !(ended && ended === epoch)) return;
    const isStarted = visitor.isStarted();
    const isOver = epochs.isOver();
    recorder.drain();
    // A record without epochs is missing, or was written unread. One without this service's is erased already.
    const isRefused = (record: unknown) => {
      const found = epochIn(record, service);
      return found ? [epoch, ended].includes(found) : !Object(record).epochs;
    };
    const erase = () => {
      if (isStarted) clear(epoch || ended ? isRefused : undefined);
      if (isStarted && !isOver) eraseLocal();
      else eraseTab();
    };
    forget([ANSWER, { ended, at }], erase);
  };

  /** Before the visitor is another one. A view may wait for its title, and belongs to the visitor who has seen it. */
  const announce = () => {
    const visitorId = visitor.id();
    ports.emit('change', () => ({ visitorId }));
    recorder.drain();
  };

  /** Starts after a refusal. Views since then are dropped. */
  const startAnew = () => {
    const before = visitor.moment();
    announce();
    // A listener may have refused.
    if (visitor.moment() !== before) return;
    visitor.wait();
    whenSeen(start);
  };

  /**
   * This page learns of a refusal that it has missed.
   *
   * @param isRenewed the visitor has consented again since, in another tab. All that is stored belongs to that consent.
   */
  const miss = (isRenewed: boolean) => {
    const before = visitor.moment();
    recorder.drain();
    // A listener may have refused.
    if (visitor.moment() !== before) return;
    const granted = visitor.takeGranted();
    const { length } = eventsIn(granted ?? []).filter(isEvent);
    const next: Next = (isLatest) => {
      if (isLatest() && (isRenewed || granted)) startAnew();
      for (const call of granted ?? [])
        if (isLatest()) enter(numbered({ ...call, text: call.text && withoutNumber(call.text) }));
        // A listener has refused again, and that has counted the events.
        else ledger.report(eventsIn([call]), 'consent');
    };
    if (isRenewed) forget([MISSED], next, length);
    else refuse(undefined, next, length);
  };

  /** The visitor has consented, perhaps in another tab. */
  const grant = () => {
    if (visitor.isStarted()) return visitor.grant();
    if (visitor.hasRefused()) startAnew();
    else whenSeen(start);
  };

  const flush = async (isForced?: boolean) => {
    await visitor.asked();
    if (!visitor.pages()) return;
    await visitor.finished();
    await courier.flush(isForced);
  };

  /** Hands over the queue, and journals for the next page. */
  const depart = (isUnloading?: boolean, isKept?: boolean) => {
    if (!visitor.leave()) {
      // The message about the refusal comes too late.
      if (epochs.isRefused()) drop();
      return store.abort(isKept);
    }
    books?.write(true);
    const lease = courier.leave(visitor.unread(), isUnloading);
    // A listener may have refused.
    if (!visitor.isStarted()) return eraseLocal();
    visitor.writeChanges();
    // Perhaps the database is not open yet, or does not work for a page that is going away: WebKit's does not.
    queue.keep(true);
    farewell.write(courier.settled(), lease);
  };

  /**
   * A call needs the visitor. Calls of a page that unloads are handed over at the end of the microtask.
   *
   * @param isBefore whether the call was made before this page had arrived. Then all that the page has seen belongs to the visitor after it.
   */
  const enter = (call: Call, isBefore?: boolean) => {
    if (!isBefore && visitor.isOther(call)) announce();
    visitor.enter(call);
    if (visitor.isAway()) queueMicrotask(() => visitor.isAway() && depart());
  };

  const leave = (isUnloading?: boolean, isKept?: boolean) => {
    recorder.drain();
    neverSeen(start);
    depart(isUnloading, isKept);
    channel.close();
  };

  const unwatch = watchLifecycle(
    (isBack) => {
      recorder.drain();
      // While the page was hidden, another tab or another host of the site may have changed the visitor.
      visitor.check();
      flush(isBack);
    },
    (isKept) => leave(true, isKept),
    () => {
      channel.reopen();
      courier.restore();
      visitor.restore();
    },
  );

  // A signal of the browser erases nothing. The visitor may have consented on earlier pages, and may consent again.
  if (settings.respectGpc && (globalThis.navigator as { globalPrivacyControl?: boolean })?.globalPrivacyControl)
    visitor.refuse(SIGNAL);
  else if (settings.consent === 'granted') whenSeen(start);

  return {
    miss,
    /** Another tab passes the visitor's answer. */
    receive(isGranted: boolean, more?: Answered) {
      if (!isGranted) {
        receiveRefusal(more);
        // The messages of several tabs may arrive in another order.
        if (!visitor.isStarted() && epochs.isConsentedSince(more?.at)) grant();
        return;
      }
      recorder.drain();
      // The visitor may have refused since.
      if (epochs.isRefusedSince(more?.at)) return;
      epochs.consent(more?.at);
      grant();
    },
    answer(isGranted: boolean) {
      const at = epochs.answerAt();
      const ended = isGranted ? undefined : epochs.latest();
      // First, because a listener may answer otherwise meanwhile.
      channel.answer(isGranted, { at, ended });
      if (!isGranted) return refuse({ ended, at, isOwn: true });
      epochs.consent(at);
      grant();
    },
    flush,
    enter,
    /** The `$identify` of this key with this visitor id and this signature was dropped. */
    disown(visitorId: string, key: string, signature: string | undefined) {
      enter({ dropped: visitorId, key });
      const newer = visitor.newerSignature(key, signature);
      if (newer) ports.identify(key, newer);
    },
    /** The recorder has an event. */
    take(text: ItemText, isSingle: boolean) {
      if (isSingle) courier.single(idOf(text));
      if (queue.excessOf(text, visitor.size()) === 'full') {
        ledger.end([text], 'full');
        // A pass counts anew: what other tabs have reported may be wrong by now.
        if (visitor.pages()) courier.lookSoon();
      }
      // Now, and not when the visitor is known: another page may take the event in from the journal, and send it, too.
      else enter(numbered({ text }));
    },
    /** Properties wait like events, and in the same room. */
    setProperties(call: Call) {
      if (queue.excessOf(call.text as ItemText, visitor.size()) === 'full') ports.fail('setProperties: full');
      else enter(call);
    },
    /** The recorder has no more events for now. */
    rest() {
      visitor.write();
      if (visitor.pages()) books?.write();
      // A crash drops writes that are queued behind other transactions or behind a database that is opened again.
      const isHeldUp = courier.isReading() || visitor.isBusy() || !store.isOpen();
      if (visitor.pages() && isHeldUp) queue.keep(false);
    },
    writeCookie,
    stop() {
      unwatch();
      leave();
      // A stopped tracker would not learn of a refusal in another tab.
      visitor.stop();
    },
  };
};
