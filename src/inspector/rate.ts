/** One second of a page's life. */
export interface Second {
  /** Seconds since the epoch. */
  readonly at: number;
  /** How many events were tracked in it. */
  tracked: number;
  /** How many were queued at its end. */
  queued: number;
}

/** How many seconds are kept. */
export const WINDOW = 60;

/** Lets time go on to `now` (ms since the epoch): seconds in which nothing happened are seconds, too. */
export const roll = (seconds: Second[], now: number, queued: number): Second => {
  const second = Math.floor(now / 1000);
  const last = seconds.at(-1);
  // A clock that jumps back is waited for.
  if (last && last.at >= second) return last;
  let at = Math.max(last ? last.at + 1 : second, second - WINDOW + 1);
  for (; at < second; at++) seconds.push({ at, tracked: 0, queued: last?.queued ?? queued });
  const current = { at: second, tracked: 0, queued };
  seconds.push(current);
  seconds.splice(0, seconds.length - WINDOW);
  return current;
};
