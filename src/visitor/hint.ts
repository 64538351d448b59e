import { entryText, HINT, type Local, OLD_ID, readEntry, USED, writeEntry } from '../outbox/local.js';
import { isVisitorId, markOf, merge, type Visitor, visitorIn } from './record.js';

/** The mark of a tracker that does not know its epoch yet. */
export const FIRST = 1;
/** The same, after a refusal. */
export const RENEWED = 2;

/**
 * The visitor in localStorage, for a page that cannot wait for the database and for tabs that have missed a change. It has the
 * marks of who is identified, and no primary key.
 */
export const createHint = (service: string, local?: Local) => {
  /** Its value is the epoch. Before the database has answered, it is `FIRST` or `RENEWED`. */
  const used = `${USED} ${service}`;

  const readHint = (of?: string): Visitor | undefined => {
    const hint = visitorIn(readEntry(HINT, local), of);
    const old = readEntry(OLD_ID, local);
    // Earlier versions did not store who is identified. The mark 0 equals no key's mark, so `identify` starts a new id.
    return hint ?? (isVisitorId(old) ? { thread: old, turn: -1, keys: { [service]: [0] }, pages: 0 } : undefined);
  };

  /** The epoch in localStorage. It survives a deletion of the database, and a refusal erases it. */
  const markedEpoch = (): string | undefined => {
    const mark = readEntry(used, local);
    return typeof mark === 'string' ? mark : undefined;
  };

  /** Whether a tracker of the service has begun since the latest refusal. */
  const isMarked = (): boolean => !!entryText(used, local);

  /** The epoch in localStorage, or `RENEWED`, if a tracker knows that it is the current one. */
  const currentEpoch = (): unknown => {
    const mark = readEntry(used, local);
    return mark === FIRST ? undefined : (mark ?? undefined);
  };

  /** Whether a tracker of the service has begun another epoch since this one. */
  const isOver = (epoch: string | undefined): boolean =>
    !!epoch && ![undefined, epoch].includes(currentEpoch() as string);

  /**
   * Writes the hint in the task of the change, unless a later visitor is there.
   *
   * @param mark the epoch of this visitor, if it is known
   */
  const writeHint = (visitor: Visitor, mark: string | number = FIRST): void => {
    const { thread, turn, since, keys, pages } = merge(visitor, readHint() ?? visitor);
    const marks = Object.entries(keys).map(([name, [key]]) => [
      name,
      [typeof key === 'string' ? markOf(key) : key, undefined, true],
    ]);
    // One that cannot be written must not stay as it was: better none than one that is out of date.
    if (!writeEntry(HINT, local, { thread, turn, since, keys: Object.fromEntries(marks), pages }))
      writeEntry(HINT, local);
    if (!isMarked()) writeEntry(used, local, mark);
    writeEntry(OLD_ID, local);
  };

  /** The hint as it stands there, to see whether another tab has changed it. */
  const rawHint = (): string | undefined => entryText(HINT, local);

  const markEpoch = (epoch: string | undefined): void => {
    if (epoch && markedEpoch() !== epoch) writeEntry(used, local, epoch);
  };

  /** Deletes a hint that is of another epoch. */
  const renewHint = (epoch: string): void => {
    writeEntry(HINT, local);
    markEpoch(epoch);
  };

  /**
   * Whether another page may have erased the mark of this service since this page has seen the hint, as a refusal does. Another mark
   * is that of a later consent. If localStorage is full or refused, the mark may be missing without a refusal.
   *
   * @param seen undefined if this page has seen no hint
   * @param epoch undefined if this page knows of none
   */
  const isErased = (seen: unknown, epoch?: string): boolean =>
    isMarked() ? isOver(epoch) : !!seen && writeEntry(used, local, 1) && writeEntry(used, local);

  return {
    readHint: () => readHint(service),
    writeHint,
    renewHint,
    rawHint,
    isMarked,
    currentEpoch,
    isOver,
    isErased,
    markedEpoch,
    markEpoch,
  };
};
