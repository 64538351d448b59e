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
  history.departureOf(page, sent) > answered + 1 &&
  history.wasDiskFair(sent - STIRRING, to) &&
  history.wasClockFair(sent, to) &&
  history.wasAwake(sent - STIRRING, to) &&
  !history.departures.some(({ at, kind }) => kind === 'crashes' && at >= sent && at <= answered + WRITING) &&
  // A refusal erases it, too.
  !consent.answers.some(({ at, isGranted }) => !isGranted && at >= sent && at <= to) &&
  !acts.some(({ at, verb }) => ['kill', 'clearDatabase'].includes(verb) && at >= sent && at <= to);
