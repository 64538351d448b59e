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

/** A look at the visitor's clock. Times are in ms since the epoch. */
interface Look {
  /** The visitor's clock. */
  readonly at: number;
  /** When the page began to load, by the visitor's clock of now. */
  readonly loadedAt: number;
  /** How far (ms) the visitor has set the clock back since the page began to load. */
  readonly setBack: number;
  /** The time of the page load's clock. */
  readonly shown: number;
}

/** Less (ms) between two looks is a clock that corrects itself: then the page's clock stands still for as long. */
const SET_BACK = 60_000;

/**
 * Creates the clock of a page load. Without it, events after the visitor has set the clock back would be older than those before. That
 * the clock was set ahead is not known: browsers stop `performance.now()` while the machine sleeps.
 * https://w3c.github.io/hr-time/#dfn-monotonic-clock
 */
export const createClock = (): Clock => {
  /** A site's own variable may replace `performance`. */
  const sinceLoad = (): number => performance?.now?.() ?? 0;
  const since = Date.now() - sinceLoad();
  let last: Look = { at: 0, loadedAt: since, setBack: 0, shown: 0 };
  const now = () => {
    const at = Date.now();
    // A burst makes thousands of calls in a millisecond.
    if (at === last.at) return last.shown;
    const loadedAt = at - sinceLoad();
    const by = last.loadedAt - loadedAt;
    const setBack = last.setBack + (by > SET_BACK ? Math.round(by) : 0);
    last = { at, loadedAt, setBack, shown: Math.max(last.shown, at + setBack) };
    return last.shown;
  };
  return {
    now,
    reading() {
      const time = now();
      return [time, Math.round(time - since), ...(last.setBack ? [last.setBack] : [])];
    },
  };
};
