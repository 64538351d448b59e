import type { OtherJournal } from '../outbox/journal.js';
import { markOf, merge, type Visitor, visitorIn } from './record.js';
import type { Who } from './who.js';

/** Name of the record in the store. */
export const VISITOR = 'visitor';
/** Most names of taken-in journals in the record, the latest. */
const MOST_TAKEN = 30;

/** The record in the store. The names are there in case the browser crashes before their deletion from localStorage lasts. */
export type Stored = Visitor & {
  readonly taken?: readonly string[] | undefined;
  /** Whose trackers have merged their visitor into it. One that is written unread, or by an earlier version, lacks them. */
  readonly services?: readonly string[] | undefined;
};

/** Names of journals that have been taken in. Any code of the origin may have written the record. */
export const takenIn = (stored: unknown): string[] => {
  const { taken } = Object(stored) as Stored;
  return Array.isArray(taken) ? taken.filter((name) => typeof name === 'string') : [];
};

/** The same, with those that are taken in now. */
export const takenWith = (stored: unknown, others: readonly OtherJournal[]): string[] =>
  [...takenIn(stored), ...others.flatMap(({ name }) => name || [])].slice(-MOST_TAKEN);

const servicesIn = (stored: unknown, service: string) => [(Object(stored) as Stored).services ?? service].flat();

/** Whether a refusal may have erased the record. Then it is missing, or another service has written it anew. */
export const isErasedFor = (stored: unknown, service: string): boolean =>
  !visitorIn(stored) || !servicesIn(stored, service).includes(service);

/**
 * The record after this page's visitor is merged into it. Only a service's own tracker writes that service's identity. This page may see
 * in the hint that another service has identified the visitor before that service's tracker has stored the key.
 */
export const mergedInto = (stored: unknown, mine: Visitor, service: string): Stored => {
  const own = mine.keys[service];
  const known = { ...mine, keys: own ? { [service]: own } : {} };
  return {
    ...merge(known, visitorIn(stored) ?? known),
    taken: takenIn(stored),
    services: [...new Set([...servicesIn(stored, service), service])],
  };
};

/**
 * The record that a page may write unread as it leaves. It must have the changes by other tabs and by the trackers of other services.
 * Other tabs report marks only.
 *
 * @param hinted the visitor of the hint
 */
export const unread = ({ visitor, taken }: Who, hinted: Visitor | undefined, service: string): Stored | undefined => {
  const { pages = 0, keys = {} } = hinted ?? {};
  const [key] = visitor.keys[service] ?? [];
  const isWhole = Object.entries(keys).every(([name, [mark]]) => name === service && markOf(`${key}`) === mark);
  return isWhole ? { ...visitor, taken, pages: Math.max(visitor.pages, pages) } : undefined;
};
