import type { WireEvent } from '../wire.js';

/** Why an event was not, and never will be, delivered. */
export type DropReason = 'rejected' | 'too-large' | 'full' | 'expired' | 'unserialisable' | 'filtered' | 'consent';

/** What a tracker tells those who listen with `on`. */
export interface Signals {
  /** The service has confirmed these events of this page. */
  delivered: { events: WireEvent[] };
  /** These events of this page will not arrive. */
  dropped: { events: Partial<WireEvent>[]; reason: DropReason };
  /** Something is wrong: a bad argument, a wrong key, an address that does not answer as it should, refused storage. */
  error: Error;
}

type Listener<T> = (value: T) => void;
export type Listen = <S extends keyof Signals>(signal: S, listener: Listener<Signals[S]>) => () => void;

/** `debug` says everything on the console too. */
export const createSignals = (debug: boolean) => {
  const listeners: { [S in keyof Signals]: Set<Listener<Signals[S]>> } = {
    delivered: new Set(),
    dropped: new Set(),
    error: new Set(),
  };
  const on: Listen = (signal, listener) => {
    // Wrapped, so that one listener added twice is two, and each is undone for itself.
    const own: typeof listener = (value) => listener(value);
    listeners[signal].add(own);
    return () => listeners[signal].delete(own);
  };
  /** `make` is only called when somebody listens. A listener that throws is its owner's affair, not the tracker's. */
  const emit = <S extends keyof Signals>(signal: S, make: () => Signals[S]) => {
    if (!debug && !listeners[signal].size) return;
    const value = make();
    if (debug) console[signal === 'delivered' ? 'debug' : 'warn']('clew:', signal, value);
    for (const listener of listeners[signal]) {
      try {
        listener(value);
      } catch (error) {
        reportError(error);
      }
    }
  };
  return { on, emit };
};
