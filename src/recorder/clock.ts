/** The clock of a page load: it follows the visitor's clock, but never falls back. */
export interface Clock {
  /** In ms since the epoch. */
  now(): number;
  /**
   * For a relay: the time, and the age (ms) of the page load by this clock. If the visitor has set the clock back meanwhile, also by
   * how many ms.
   */
  reading(): readonly number[];
}

/** Less (ms) between two looks is a clock that corrects itself: then the page's clock stands still for as long. */
const SET_BACK = 60_000;

/**
 * Creates the clock of a page load. Without it, events after the visitor has set the clock back would be older than those before. That
 * the clock was set ahead is not known: browsers stop `performance.now()` while the machine sleeps.
 * https://w3c.github.io/hr-time/#dfn-monotonic-clock
 */
export const createClock = (): Clock => {
  let origin = Date.now() - performance.now();
  let back = 0;
  let latest = 0;
  const since = origin;
  const now = () => {
    const time = Date.now();
    const from = time - performance.now();
    if (from < origin - SET_BACK) back += Math.round(origin - from);
    origin = from;
    latest = Math.max(latest, time + back);
    return latest;
  };
  return {
    now,
    reading() {
      const time = now();
      return [time, Math.round(time - since), ...(back ? [back] : [])];
    },
  };
};
