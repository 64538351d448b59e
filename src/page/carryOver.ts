/**
 * What a page that left before its database was open carries over to the next one. localStorage is the only storage
 * that a page can write as it goes away without having opened it first. It may be refused: then there is nothing.
 */

/** Calls that the inline stub remembered, each `[time, [method, ...args]]`. */
export const CALLS = 'clew.calls';
/** Finished items that have not been in the database yet. */
export const ITEMS = 'clew.items';
/** The visitor's thread, for a page that leaves before it could ask the database. */
export const THREAD = 'clew.thread';
/** Name of the page that left last: the next one takes it over, and with it a lease that could not be given up in time. */
export const TAB = 'clew.tab';

export const carried = <T>(key: string): T | undefined => {
  try {
    return JSON.parse(localStorage[key]);
  } catch {
    return undefined;
  }
};

/** Carries `value`, or without one nothing any more. */
export const carry = (key: string, value?: unknown): void => {
  try {
    localStorage[key] = JSON.stringify(value);
    if (!value) delete localStorage[key];
  } catch {}
};
