import type { WireEvent } from '../wire.js';

/** Why an event was not, and never will be, delivered. */
export type DropReason = 'rejected' | 'too-large' | 'full' | 'expired' | 'unserialisable' | 'filtered' | 'consent';

/** What a tracker tells those who listen with `on`. */
export interface Signals {
  /** The service has confirmed these events of this page. */
  delivered: { events: WireEvent[] };
  /** These events of this page will not arrive. */
  dropped: { events: Partial<WireEvent>[]; reason: DropReason };
  /** Something is wrong: an argument, the key, the address, refused storage. What it was about is in its message. */
  error: Error;
}

/** Listens to a signal; the function it returns ends that. */
export type Listen = <S extends keyof Signals>(signal: S, listener: (value: Signals[S]) => void) => () => void;

/** `isDebug` says everything on the console, too. */
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
    if (isDebug) console.log('clew:', signal, make());
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
