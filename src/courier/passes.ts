/** A pass, from the first call that asks for it. */
interface Pass {
  /** The next pass is for a call of `flush(true)`. */
  isForced: boolean;
  hasBegun: boolean;
  /** Begins the next pass that has not begun. */
  timer?: ReturnType<typeof setTimeout> | undefined;
  readonly done: Promise<void>;
}

/** Longer timers end at once: https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timer-initialisation-steps */
const MOST_DELAY = 2 ** 31 - 1;

/** When a pass runs: one at a time, and all flushes that are called during one share the following one. */
export const createPasses = (run: (isForced: boolean) => Promise<void>) => {
  let latest: Pass = { isForced: false, hasBegun: true, done: Promise.resolve() };

  const flush = (isForced = false): Promise<void> => {
    if (latest.hasBegun) {
      const mine: Pass = {
        isForced: false,
        hasBegun: false,
        timer: latest.timer,
        // A pass that failed ends no other one.
        done: latest.done
          .catch(() => {})
          .then(() => {
            // The page has left or forgotten meanwhile.
            if (latest !== mine) return undefined;
            mine.hasBegun = true;
            clearTimeout(mine.timer);
            mine.timer = undefined;
            return run(mine.isForced);
          }),
      };
      latest = mine;
    }
    latest.isForced ||= isForced;
    return latest.done;
  };

  return {
    flush,
    /** Flushes after `delay` ms, or earlier if an earlier call has asked for that. */
    schedule(delay: number) {
      latest.timer ??= setTimeout(flush, Math.min(delay, MOST_DELAY));
    },
    /** The running pass makes the attempt that the next pass was forced to make. */
    attempt() {
      latest.isForced = false;
    },
    /** The next pass begins at once, because the page may never learn how the running pass ends. */
    renew() {
      latest = { ...latest, isForced: false, hasBegun: true, done: Promise.resolve() };
    },
  };
};
