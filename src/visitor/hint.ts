import { entryText, HINT, type Local, OLD_ID, readEntry, writeEntry } from '../outbox/local.js';
import { isVisitorId, markOf, merge, type Visitor, visitorIn } from './record.js';

/**
 * The visitor in localStorage, for a page that cannot wait for the database and for tabs that have missed a change. The hint has the
 * marks of who is identified, and no primary key.
 */
export const createHint = (service: string, local?: Local) => {
  const readHint = (of?: string): Visitor | undefined => {
    const hint = visitorIn(readEntry(HINT, local), of);
    const old = readEntry(OLD_ID, local);
    // Earlier versions did not store who is identified. The mark 0 equals no key's mark, so `identify` starts a new id.
    return hint ?? (isVisitorId(old) ? { thread: old, turn: -1, keys: { [service]: [0] }, pages: 0 } : undefined);
  };

  /** Writes the hint in the task of the change, unless a later visitor is there. */
  const writeHint = (visitor: Visitor): void => {
    const { thread, turn, since, keys, pages } = merge(visitor, readHint() ?? visitor);
    const marks = Object.entries(keys).map(([name, [key]]) => [
      name,
      [typeof key === 'string' ? markOf(key) : key, undefined, true],
    ]);
    // One that cannot be written must not stay as it was: better none than one that is out of date.
    if (!writeEntry(HINT, local, { thread, turn, since, keys: Object.fromEntries(marks), pages }))
      writeEntry(HINT, local);
    writeEntry(OLD_ID, local);
  };

  /** The hint as it stands there, to see whether another tab has changed it. */
  const rawHint = (): string | undefined => entryText(HINT, local);

  const eraseHint = () => writeEntry(HINT, local);

  return { readHint: () => readHint(service), writeHint, eraseHint, rawHint };
};
