import type { Link } from '../courier/lease.js';
import type { Answer } from '../courier/transport.js';
import type { WireEvent } from '../wire.js';
import { attemptWith } from './attemptWith.js';
import { messageOf } from './messageOf.js';

/** The reason why clew dropped an event. */
export type DropReason = 'rejected' | 'too-large' | 'full' | 'expired' | 'unserialisable' | 'filtered' | 'consent';

/** A step of events, of the link or of the visitor. `uuids` may contain other tabs' events, because one tab sends for all. */
export type Trace =
  | { step: 'tracked'; event: Partial<WireEvent> }
  /** The events are in IndexedDB. */
  | { step: 'stored'; uuids: string[] }
  /** clew sent a request, with the bytes of its body, and of the gzip if compressed. With `leaving`, the page cannot read the answer. */
  | { step: 'sent'; uuids: string[]; path: string; bytes: number; gzip?: number | undefined; leaving: boolean }
  /** With a relay, a later page learns whether a leaving page's request has arrived. Then this step has no status. */
  | ({ step: 'answered'; uuids: string[] } & Answer)
  /** Which tab sends, or until when no tab may. `tab` is this page's name. */
  | ({ step: 'link'; tab: string } & Link)
  /** The visitor's id and primary key. After a refusal, `visitorId` is undefined. */
  | { step: 'visitor'; visitorId: string | undefined; primaryKey?: string | number | undefined };

/** The signals of a tracker and their values, for `on`. */
export interface Signals {
  /** The service has confirmed these events of this page. */
  delivered: { events: WireEvent[] };
  /**
   * clew will not deliver these events. The tab that sends for all tabs also reports events of other pages, because those pages may have
   * gone.
   */
  dropped: { events: Partial<WireEvent>[]; reason: DropReason };
  /** With the plugin `renewTokens`: an identity token of this customer has expired, and clew asks for a new one. */
  'token-expired': { primaryKey: string };
  /**
   * `reset()`, or `identify` of another customer, is about to start another visitor id. Calls in the listener still have this one.
   * Without a visitor id, `visitorId` is undefined: for a `reset()` before consent or after a refusal, and for the `consent(true)` that
   * ends a refusal. After a refusal, clew drops calls in the listener.
   */
  change: { visitorId: string | undefined };
  /** A problem needs attention: an argument, the key, the address, or refused storage. The message names the cause. */
  error: Error;
  /** Each step of each event, for inspectors. The form may change in any version, so an app must not depend on it. */
  trace: Trace;
}

/** Listens to a signal. Returns a function that removes the listener. */
export type Listen = <S extends keyof Signals>(signal: S, listener: (value: Signals[S]) => void) => () => void;

/** The names of the signals. */
const NAMES = ['delivered', 'dropped', 'token-expired', 'change', 'error', 'trace'] satisfies (keyof Signals)[];

/** How often listeners run in a task. The rest follows in later tasks, so that a listener that causes its own signal freezes no tab. */
const MOST_RUNS = 500;

/** With `isDebug`, the console also shows the signals that an app may depend on. */
export const createSignals = (isDebug: boolean) => {
  type Listening = [signal: string, listener?: (value: never) => void];
  const listeners = new Set<Listening>();
  /** Each value, for each listener that there was at its signal. The first one stays until its listener has returned. */
  const due: [listening: Listening, make: () => unknown][] = [];
  /** How often listeners have run in this task. */
  let runs = 0;
  /** A listener of `change` is running. */
  let isChanging = false;
  const on: Listen = (...listening) => {
    if (!NAMES.includes(listening[0])) emit('error', () => new Error(`clew: on: expected ${NAMES.join(', ')}`));
    // A pair of its own for each call: one function listening twice is two listeners.
    listeners.add(listening);
    return () => listeners.delete(listening);
  };
  const call = (listening: Listening, make: () => unknown) => {
    try {
      // A stubbed call of a page that left early comes through localStorage. JSON keeps no function, so the listener is missing.
      if (listeners.has(listening)) listening[1]?.(make() as never);
    } catch (error) {
      try {
        // An uncaught error of the page. Node has no `reportError`.
        (globalThis.reportError ?? console.error)(error);
      } catch {}
    }
  };
  const run = () => {
    while (due[0] && runs < MOST_RUNS) {
      if (!runs++) setTimeout(renew);
      call(...due[0]);
      due.shift();
    }
  };
  /** The next task. */
  const renew = () => {
    runs = 0;
    run();
  };
  /** `make` runs for each listener. Without listeners it costs nothing, and no listener sees another listener's changes. */
  const emit = <S extends keyof Signals>(signal: S, make: () => Signals[S]): void => {
    // The console shows one kind of trace, the failed request. Otherwise a wrong address would stay unnoticed for minutes.
    if (isDebug && (signal !== 'trace' || (make() as Answer).outcome === 'failed'))
      console.log('clew:', signal, make());
    // A signal within a listener waits until that listener has returned. Too many runs for this task wait for the next.
    const isIdle = !due[0] && !isChanging;
    // A change of the visitor waits for its listeners, because their calls belong to the visitor before it.
    const isAtOnce = signal === 'change' && !isChanging;
    const pass = isAtOnce ? call : (...one: (typeof due)[number]) => void due.push(one);
    isChanging ||= isAtOnce;
    for (const listening of isAtOnce ? [...listeners] : listeners) if (listening[0] === signal) pass(listening, make);
    if (isAtOnce) isChanging = false;
    if (isIdle) run();
  };
  return [on, emit] as const;
};

/** How parts of the tracker report problems. */
export const createReports = (emit: (signal: 'error', make: () => Error) => void) => {
  const fail = (message: string | undefined) => emit('error', () => new Error(`clew: ${message}`));
  /** Reports a thrown value of any type. */
  const failWith = (error: unknown) => fail(messageOf(error));
  return { fail, failWith, attempt: attemptWith(failWith) };
};
