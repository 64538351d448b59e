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
  /**
   * Names, for each service whose tracker has merged its visitor into the record, all that is stored since the latest refusal there.
   * After a refusal, the next consent makes another name. A record that is written unread, or by an earlier version, has none.
   */
  readonly epochs?: Readonly<Record<string, string>> | undefined;
};

/** Names of journals that have been taken in. Any code of the origin may have written the record. */
export const takenIn = (stored: unknown): string[] => {
  const { taken } = Object(stored) as Stored;
  return Array.isArray(taken) ? taken.filter((name) => typeof name === 'string') : [];
};

/** The same, with those that are taken in now. */
export const takenWith = (stored: unknown, others: readonly OtherJournal[]): string[] =>
  [...takenIn(stored), ...others.flatMap(({ name }) => name || [])].slice(-MOST_TAKEN);

/** The service's epoch in the record. */
export const epochIn = (stored: unknown, service: string): string | undefined => {
  const { [service]: epoch } = Object(Object(stored).epochs);
  return typeof epoch === 'string' ? epoch : undefined;
};

/** Whether a refusal may have erased the record. Then it is missing, or another service has written it anew. */
export const isErasedFor = (stored: unknown, service: string): boolean =>
  !visitorIn(stored) || (!!(stored as Stored).epochs && !epochIn(stored, service));

/**
 * The record after this page's visitor is merged into it. Only a service's own tracker writes that service's identity. This page may see
 * in the hint that another service has identified the visitor before that service's tracker has stored the key.
 *
 * @param epoch the service's, if the record has none
 */
export const mergedInto = (stored: unknown, mine: Visitor, service: string, epoch: string): Stored => {
  const own = mine.keys[service];
  const known = { ...mine, keys: own ? { [service]: own } : {} };
  return {
    ...merge(known, visitorIn(stored) ?? known),
    taken: takenIn(stored),
    epochs: { [service]: epoch, ...Object(Object(stored).epochs) },
  };
};

/**
 * The record that a page may write unread as it leaves. The record must have the changes by other tabs and by the trackers of other
 * services. Other tabs report marks only.
 *
 * @param hinted the visitor of the hint
 */
export const unread = (
  { visitor, taken, epochs }: Who,
  hinted: Visitor | undefined,
  service: string,
): Stored | undefined => {
  const { pages = 0, keys = {} } = hinted ?? {};
  const [key] = visitor.keys[service] ?? [];
  const isWhole = Object.entries(keys).every(([name, [mark]]) => name === service && markOf(`${key}`) === mark);
  return isWhole ? { ...visitor, taken, epochs, pages: Math.max(visitor.pages, pages) } : undefined;
};
