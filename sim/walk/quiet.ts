import type { Stage } from './stage.ts';

/** Longest time (ms) from the load of a page until it ends a back-off. The page asks its database first. */
const STIRRING = 10_000;

/** Whether nothing between the two times lets clew end a wait, or keeps a tab from storing the length of the wait. */
export const isQuiet = ({ history }: Stage, from: number, to: number): boolean =>
  !history.wasStirred(from - STIRRING, to) &&
  history.wasDiskFair(from - STIRRING, to) &&
  history.wasClockFair(from, to) &&
  history.wasAwake(from - STIRRING, to) &&
  !history.departures.some(({ at }) => at >= from - STIRRING && at <= to);

/** How soon (ms) the database has the pause of an answer, unless the page crashes. */
const WRITING = 1000;

/** How long (ms) before a page leaves the database may lose its commit. */
const LOSING = 50;

/** How long (ms) a message may take to another tab. */
const TRAVEL = 250;

/**
 * Whether the page has read an answer that asks for a pause, and no fault until `to` ends the pause. A page that loads, leaves
 * or comes back does not end it, and `flush()` does not end it either.
 */
export const isKept = (
  { history, acts, consent }: Stage,
  page: string,
  sent: number,
  answered: number,
  to: number,
): boolean =>
  history.departureOf(page, sent) > answered + LOSING &&
  history.wasDiskFair(sent - STIRRING, to) &&
  history.wasClockFair(sent, to) &&
  history.wasAwake(sent - STIRRING, to) &&
  !history.departures.some(({ at, kind }) => kind === 'crashes' && at >= sent && at <= answered + WRITING) &&
  // A refusal erases the pause, too, in each tab that it reaches.
  !consent.answers.some(({ at, isGranted }) => !isGranted && at >= sent - TRAVEL && at <= to) &&
  !acts.some(({ at, verb }) => ['kill', 'clearDatabase'].includes(verb) && at >= sent && at <= to);
