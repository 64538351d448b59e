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
  const listeners: { [signal: string]: Set<(value: never) => void> } = {};
  const on: Listen = (signal, listener) => {
    // Wrapped, so that one function listening twice is two listeners.
    const own = (value: never) => listener(value);
    listeners[signal] ??= new Set();
    listeners[signal].add(own);
    return () => listeners[signal]?.delete(own);
  };
  const emit = <S extends keyof Signals>(signal: S, value: Signals[S]): void => {
    if (isDebug) console.log('clew:', signal, value);
    for (const listener of listeners[signal] ?? []) {
      try {
        listener(value as never);
      } catch (error) {
        // The listener's owner's affair, told as any error of theirs.
        reportError(error);
      }
    }
  };
  return { on, emit };
};
