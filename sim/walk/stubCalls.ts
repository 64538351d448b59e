/** The beginning of the keys under which the stub leaves calls in localStorage. */
const CALLS = 'clew.calls ';
/** Number of digits of such a key that are in the id of each of its events (`idOf` in src/snippet.ts). */
const DIGITS = 24;

/** The digits of a list of calls that the stub has left, by its key in localStorage. Undefined for any other key. */
export const listOf = (key: string): string | undefined =>
  key.startsWith(CALLS) ? key.replace(/\D/g, '').slice(-DIGITS) : undefined;

/** The digits of the list that had the event with this id, if a list had it. */
export const listIn = (uuid: string): string => uuid.replace(/-(....)-4(...)-8(...)-/, '$1$2$3').slice(0, DIGITS);
