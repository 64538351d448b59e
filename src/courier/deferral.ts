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

/** What the browser has, and what is to replace it soon. */
interface Armed {
  readonly abort?: (() => void) | undefined;
  readonly timer?: ReturnType<typeof setTimeout>;
}

/**
 * @param next the batch to leave with the browser, if there is one
 * @param defer leaves it there and returns how to abort it; throws if the browser refuses it
 */
export const createDeferral = (next: () => Batch | undefined, defer: (batch: Batch) => () => void): Deferral => {
  let armed: Armed = {};
  const renew = () => {
    armed.abort?.();
    clearTimeout(armed.timer);
    armed = {};
    const batch = next();
    try {
      armed = { abort: batch && defer(batch) };
    } catch {}
  };
  return {
    renew,
    soon() {
      if (!armed.timer) armed = { ...armed, timer: setTimeout(renew, INTERVAL) };
    },
  };
};
