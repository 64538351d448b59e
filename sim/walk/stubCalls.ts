/** The names under which the stub leaves calls in localStorage begin so. */
const CALLS = 'clew.calls ';
/** So many digits of such a name are in the id of each of its events (`idOf` in src/snippet.ts). */
const DIGITS = 24;

/** The digits of a list of calls that the stub has left, by its key in localStorage; undefined for any other key. */
export const listOf = (key: string): string | undefined =>
  key.startsWith(CALLS) ? key.replace(/\D/g, '').slice(-DIGITS) : undefined;

/** The digits of the list from which the event with this id came, if it came from one. */
export const listIn = (uuid: string): string => uuid.replace(/-(....)-4(...)-8(...)-/, '$1$2$3').slice(0, DIGITS);
