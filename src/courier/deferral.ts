import type { Batch } from './cut.js';

/** How often (ms) the browser may be given a new batch to send when the page ends. */
const INTERVAL = 100;

/** The batch that the browser sends when the page ends without `pagehide`: after a crash, or when the browser quits. */
export interface Deferral {
  /** Events were added: renews the batch soon. */
  soon(): void;
  /** Replaces the batch by the next one, or by none. */
  renew(): void;
}

/**
 * @param next the batch to leave with the browser, if there is one
 * @param defer leaves it there and returns how to abort it; throws if the browser refuses it
 */
export const createDeferral = (next: () => Batch | undefined, defer: (batch: Batch) => () => void): Deferral => {
  let abort: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const renew = () => {
    abort?.();
    clearTimeout(timer);
    abort = timer = undefined;
    const batch = next();
    try {
      abort = batch && defer(batch);
    } catch {}
  };
  return {
    renew,
    soon() {
      timer ??= setTimeout(renew, INTERVAL);
    },
  };
};
