/**
 * Entries of localStorage, for the next page and the other tabs. A leaving page has no time to open a database, but can write
 * localStorage. The browser may refuse that. Then nothing is written.
 */

import { jsonOf, parseJson } from '../wire.js';

/** Calls that the inline stub kept, each `[time, [method, ...args]]`. A key begins so, and ends with its time. */
export const CALLS = 'clew.calls';
/** A page's journal: a key begins so, and names the service and the page. */
export const PAGE = 'clew.page';
/** Finished items that a page of an earlier version has left: a key begins so, and names the service and the page. */
export const ITEMS = 'clew.items';
/** Ids of items that need not be sent any more, though the database may have them still: a key begins so, and names the service. */
export const SETTLED = 'clew.settled';
/** A request whose answer its page may never read. A key begins so, and names the service and the request. */
export const HANDED = 'clew.handed';
/** The account of a page load. A key begins so, and names the service and the page load. */
export const BOOK = 'clew.book';
/** Names of pages that left while they may have held the lease, which is void since: a key begins so, and names the service. */
export const TAB = 'clew.tab';
/** The visitor, for a page that cannot wait for the database. */
export const HINT = 'clew.hint';
/** Names what a service has stored since its latest refusal, as `epochs` in the record does: a key begins so, and names the service. */
export const USED = 'clew.used';
/** Properties of a visitor before `identify`: a key begins so, and names the service. */
export const EARLY = 'clew.early';
/** The visitor id that a page of an earlier version has left. */
export const OLD_ID = 'clew.thread';
/** The changed visitor that a page of an earlier version has left. */
export const CHANGED = 'clew.visitor';

/** The storage of the plugins of all services. */
export const PLUGINS = 'clew.plugins';
/** The storage of plugins that ends with the tab, for example for the campaign that has brought the visitor. */
export const VISIT = 'clew.visit';
/** The parameter of the link that opened the page, until the database has answered who the visitor is. The entry ends with the tab. */
export const LINK = 'clew.link';

/** In place of localStorage, or undefined for localStorage itself. */
export type Local = Record<string, string> | undefined;

/** Throws where storage is refused. */
const storageOf = (key: string, local: Local): Record<string, string> =>
  key === VISIT || key === LINK ? sessionStorage : (local ?? localStorage);

/** The stored text, to see whether another page has changed it. */
export const entryText = (key: string, local?: Local): string | undefined => {
  try {
    return storageOf(key, local)[key];
  } catch {
    return undefined;
  }
};

/** The value in an entry. Any code of the origin may have written it. */
export const readEntry = (key: string, local?: Local): unknown => parseJson(entryText(key, local));

/** The list in an entry, whatever is in it. */
export const readList = (key: string, local?: Local): unknown[] => [readEntry(key, local) ?? []].flat();

/** Keys that begin so, of all pages. After a name and a space only a page's name follows: another service's name may go on. */
export const entryKeys = (prefix: string, local?: Local): string[] => {
  try {
    return Object.keys(storageOf(prefix, local)).filter(
      (key) => key.startsWith(prefix) && !(prefix.endsWith(' ') && key.includes(' ', prefix.length)),
    );
  } catch {
    return [];
  }
};

/** Writes `value`, or deletes the entry without one. Returns whether that worked. */
export const writeEntry = (key: string, local?: Local, value?: unknown): boolean => {
  try {
    const storage = storageOf(key, local);
    if (value) storage[key] = jsonOf(value);
    else delete storage[key];
    return true;
  } catch {
    return false;
  }
};

/** Deletes what belongs to this tab only. */
export const eraseTab = (): void => {
  for (const key of [VISIT, LINK]) writeEntry(key);
};

/** Deletes all entries of a service, and the entries without a service. */
export const eraseEntries = (service: string, local: Local): void => {
  const pages = [
    `${PAGE} ${service} `,
    `${ITEMS} ${service} `,
    `${HANDED} ${service} `,
    `${BOOK} ${service} `,
    CALLS,
  ].flatMap((prefix) => entryKeys(prefix, local));
  const own = [SETTLED, TAB, USED, EARLY].flatMap((name) => [name, `${name} ${service}`]);
  for (const key of [HINT, CHANGED, OLD_ID, PLUGINS, ...pages, ...own]) writeEntry(key, local);
  eraseTab();
};
