import type { Stage } from './stage.ts';

/** A page asks its database and then ends a back-off: so long (ms) after it has loaded, at most. */
const STIRRING = 10_000;

/** Nothing between the two times lets clew end a wait, or keeps a tab from writing down how long it is. */
export const isQuiet = ({ history }: Stage, from: number, to: number): boolean =>
  !history.wasStirred(from - STIRRING, to) &&
  history.wasDiskFair(from - STIRRING, to) &&
  history.wasClockFair(from, to) &&
  history.wasAwake(from - STIRRING, to) &&
  !history.departures.some(({ at }) => at >= from - STIRRING && at <= to);
