import type { Link } from '../pipeline/link.js';
import type { Answer } from '../pipeline/transport.js';
import type { WireEvent } from '../wire.js';

/** Why an event was not, and never will be, delivered. */
export type DropReason = 'rejected' | 'too-large' | 'full' | 'expired' | 'unserialisable' | 'filtered' | 'consent';

/** A step on the way of events, or of what decides about it. `uuids` may hold other tabs' events: one tab sends for all. */
export type Trace =
  | { step: 'tracked'; event: Partial<WireEvent> }
  /** They are in IndexedDB. */
  | { step: 'stored'; uuids: string[] }
  /** A request has gone: bytes of its body, and of that as gzip if it went so. With `leaving` nobody hears its answer. */
  | { step: 'sent'; uuids: string[]; path: string; bytes: number; gzip?: number | undefined; leaving: boolean }
  | ({ step: 'answered'; uuids: string[] } & Answer)
  /** Who sends, and for how long nobody may; `tab` is this page's name among them. */
  | ({ step: 'link'; tab: string } & Link)
  /** Who the visitor is; nobody, after a refusal. */
  | { step: 'visitor'; thread: string | undefined; primaryKey?: string | number | undefined };

/** What a tracker tells those who listen with `on`. */
export interface Signals {
  /** The service has confirmed these events of this page. */
  delivered: { events: WireEvent[] };
  /** These events of this page will not arrive. */
  dropped: { events: Partial<WireEvent>[]; reason: DropReason };
  /** Something is wrong: an argument, the key, the address, refused storage. What it was about is in its message. */
  error: Error;
  /** What happens, step by step, for whoever looks into a tracker: nothing that an app should depend on. */
  trace: Trace;
}

/** Listens to a signal; the function it returns ends that. */
export type Listen = <S extends keyof Signals>(signal: S, listener: (value: Signals[S]) => void) => () => void;

/** `isDebug` says on the console, too, what an app may depend on. */
export const createSignals = (isDebug: boolean) => {
  const listeners = new Set<[signal: string, listener?: (value: never) => void]>();
  const on: Listen = (...listening) => {
    // A pair of its own for each call: one function listening twice is two listeners.
    listeners.add(listening);
    return () => listeners.delete(listening);
  };
  /**
   * `make` runs for each listener: what nobody hears costs nothing, and no listener can spoil it for another. One that
   * came through localStorage, from a page that left before the bundle had come, is none any more.
   */
  const emit = <S extends keyof Signals>(signal: S, make: () => Signals[S]): void => {
    if (isDebug && signal !== 'trace') console.log('clew:', signal, make());
    for (const [heard, listener] of listeners) {
      try {
        if (heard === signal) listener?.(make() as never);
      } catch (error) {
        // The affair of the listener's owner, told like any error of theirs.
        reportError(error);
      }
    }
  };
  return [on, emit] as const;
};
