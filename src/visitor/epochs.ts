import { v4 as uuid } from 'uuid';
import { entryText, type Local, readEntry, USED, writeEntry } from '../outbox/local.js';

/** Begins the mark of a tracker that does not know yet whether the record has an epoch. If it has none, the rest is its epoch. */
const GUESS = '~';
/** Begins the name of an epoch that a tracker has begun after it had learned of a refusal. */
const AFTER = '!';

const isGuess = (mark: string) => mark.startsWith(GUESS);
/** Whether two epochs are known, and are not the same. */
const differ = (one: unknown, other: unknown): boolean => !!one && !!other && one !== other;

/** The knowledge of a page about the epochs of its service. */
interface Known {
  /** The epoch of the record, once the database has answered. */
  readonly stored?: string | undefined;
  /** The epoch in localStorage as the page began to ask the database. */
  readonly marked?: string | undefined;
  /** When it began to ask, in ms since 1970, if the visitor had consented before, as localStorage shows. */
  readonly since?: number | undefined;
  /** One that a refusal has ended. */
  readonly ended?: string | undefined;
  /** When the visitor has refused in this tab, in ms since 1970. A page that has begun again since has none. */
  readonly refusedAt?: number | undefined;
}

/**
 * An epoch names all that a service has stored since the latest refusal. The record has it, and a mark in localStorage. A page that
 * missed a refusal finds another epoch there than its own.
 */
export const createEpochs = (service: string, local?: Local) => {
  /** Its value is the epoch, or the guess before the database has answered. */
  const used = `${USED} ${service}`;
  let known: Known = {};

  /** The epoch of this page. Before the database has answered, the one in localStorage. */
  const current = () => known.stored ?? known.marked;

  /** The mark in localStorage. It survives a deletion of the database, and a refusal erases it. The one of an earlier version is 1. */
  const readMark = (): string | undefined => {
    const mark = readEntry(used, local);
    return typeof mark === 'string' ? mark : undefined;
  };

  /** The epoch in localStorage, unless it is a guess. */
  const marked = () => [readMark()].find((mark) => mark && !isGuess(mark));

  const newEpoch = () => (known.ended ? AFTER : '') + uuid().slice(0, 8);

  /** Whether a tracker of the service has begun since the latest refusal. */
  const isMarked = (): boolean => !!entryText(used, local);

  /** Whether a tracker has begun another epoch since this one. */
  const isOver = (epoch: string | undefined) => differ(epoch, marked());

  const write = (epoch: string | undefined) => {
    if (epoch && marked() !== epoch) writeEntry(used, local, epoch);
  };

  return {
    current,
    marked,
    stored: () => known.stored,
    isOver: () => isOver(current()),
    /** Whether a refusal has ended this one. */
    isEnded: (epoch: unknown) => !!epoch && epoch === known.ended,
    /** Whether the record, or without its epoch localStorage, is of another epoch than this page. */
    isOther: (found = marked()) => differ(known.stored, found),
    /** Whether the epoch is known to have begun after a refusal. Others may have begun because the site has deleted its data. */
    isRenewed: (found = marked()) => !!found?.startsWith(AFTER),
    /** Whether this page or the tab with this epoch does not know of a refusal yet. */
    isUnlike: (epoch: unknown) => differ(known.stored ?? marked(), epoch),
    /**
     * Whether another page may have erased the mark since this page has seen the hint, as a refusal does. Another mark is that of a
     * later consent. If localStorage is full or refused, the mark may be missing without a refusal.
     */
    isErased: (hasSeen: boolean): boolean =>
      isMarked() ? isOver(current()) : hasSeen && writeEntry(used, local, 1) && writeEntry(used, local),
    /** Whether the visitor has consented after this time, in ms since 1970, and this page has begun since. */
    isSince: (at = Number.POSITIVE_INFINITY) => !!known.since && known.since > at && isMarked(),
    /** Whether the visitor has refused in this tab after this time, in ms since 1970. */
    isRefusedSince: (at = Number.POSITIVE_INFINITY) => !!known.refusedAt && known.refusedAt > at,
    /** For a record that has none. */
    next(): string {
      const guessed = readMark()?.replace(GUESS, '');
      return [marked(), current(), guessed].find((one) => one && one !== known.ended) ?? newEpoch();
    },
    /** This page begins to ask the database. */
    begin() {
      known = {
        stored: current(),
        marked: marked(),
        since: isMarked() ? Date.now() : undefined,
        ended: known.ended,
      };
    },
    /** The service has begun. */
    mark() {
      // After a refusal, the record belongs to the epoch before.
      if (!isMarked()) writeEntry(used, local, current() ?? (known.ended ? '' : GUESS) + newEpoch());
    },
    /** From now on, this page has the epoch of the record. */
    follow(found: string) {
      known = { ...known, stored: found };
    },
    /** The same, and the record with it is stored. A mark that is newer than this page stays. */
    confirm(found: string | undefined) {
      known = { ...known, stored: found };
      if (!isOver(known.marked)) write(found);
    },
    /** Whether a crash of the browser may have brought back the mark from before a refusal. */
    isOutdated: (found: string) => !known.stored && differ(known.marked, found),
    /** The epoch of the record replaces that mark. Returns false if another page has replaced it already. */
    correct(found: string): boolean {
      const isFirst = marked() === known.marked;
      if (isFirst) write(found);
      known = { ...known, marked: found };
      return isFirst;
    },
    /**
     * A refusal has ended the epoch of this page, or this one.
     *
     * @param refusedAt when the visitor has refused in this tab, in ms since 1970
     */
    end(ended = current() ?? known.ended, refusedAt = known.refusedAt) {
      known = { ended, refusedAt };
    },
  };
};
