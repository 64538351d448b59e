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

/** The database has an answer's pause so soon (ms), unless the page crashes. */
const WRITING = 1000;

/** The database may lose what a page has committed so shortly (ms) before it leaves. */
const LOSING = 50;

/** How long (ms) a message may take to another tab. */
const TRAVEL = 250;

/**
 * The page has read an answer that asks for a pause, and nothing until `to` ends that pause: also no page that loads, leaves or
 * comes back, and no call of `flush()`.
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
  // A refusal erases it, too, in each tab that it reaches.
  !consent.answers.some(({ at, isGranted }) => !isGranted && at >= sent - TRAVEL && at <= to) &&
  !acts.some(({ at, verb }) => ['kill', 'clearDatabase'].includes(verb) && at >= sent && at <= to);
