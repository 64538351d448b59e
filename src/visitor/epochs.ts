import { v4 as uuid } from 'uuid';
import { entryText, type Local, readEntry, USED, writeEntry } from '../outbox/local.js';

/** Separates the names in an epoch: its own one, and those of the epochs that the visitor has ended before it. */
const AFTER = '!';
/**
 * From how many ms on a time counts as in the future, or as later than a guess. Several answers of a tab within a ms have times of the next
 * ms.
 */
const AHEAD = 100;
/** Most refusals that a page remembers. */
const MOST_ENDED = 3;

/** The visitor's refusal, as a page gets it. */
export interface Refusal {
  /** The epoch that it ends. If that is not known, it ends the epoch of the page. */
  readonly ended?: string | undefined;
  /** The time of the refusal. */
  readonly at?: number | undefined;
  /** The visitor has refused in this tab. */
  readonly isOwn?: boolean;
}

/**
 * The knowledge of a page about the epochs of its service. Times of answers are in ms since 1970, and 0 stands for none. Each is later than
 * all that the answering page knew of, whatever its clock has shown.
 */
interface Known {
  /** The epoch of the record, once this page has read or stored it. */
  readonly stored?: string | undefined;
  /** The epoch that localStorage had at the page's start, or that this page has begun. The record may correct it. */
  readonly marked?: string | undefined;
  /** The guess in localStorage as the page began. A page that left before the database had answered knows no more. */
  readonly guess?: string | undefined;
  /** Since when the visitor has consented, as localStorage showed when this page began. */
  readonly since: number;
  /** When the visitor has last consented in any tab. A later refusal ends it. */
  readonly consentedAt: number;
  /** The epochs that refusals have ended, as far as this page knows. The latest is the first. */
  readonly ended: readonly string[];
  /** Those of them that an answer of the visitor has ended since this page's latest epoch. The next epoch names them. */
  readonly unnamed: readonly string[];
  /** When the visitor has last refused in any tab. A page that has begun again since has none. */
  readonly refusedAt: number;
}

/** The name of an epoch, followed by those of the epochs that it names as ended. */
const namesIn = (epoch: unknown) => `${epoch ?? ''}`.split(AFTER) as [string, ...string[]];
const ownName = (epoch: unknown) => namesIn(epoch)[0];
const endedIn = (epoch: unknown) => namesIn(epoch).slice(1);
/**
 * The time of the consent with which an epoch began. The name of the epoch begins with it, and ends with three random digits. Those of
 * earlier versions have none.
 */
const timeIn = (epoch: unknown): number => Number(/^([1-9]\d{12})\d{3}$/.exec(ownName(epoch))?.[1] ?? 0);
const isAhead = (time: number): boolean => time > Date.now() + AHEAD;
/**
 * Whether one answer is later than another one, by their times. If only its own time is in the future, the clock was set back since. Then
 * the other one is later, and its page did not know of the first.
 */
const isLater = (time: number, at = Number.POSITIVE_INFINITY): boolean => time > at && (!isAhead(time) || isAhead(at));
const latestOf = (...epochs: (string | undefined)[]) =>
  [...new Set(epochs)].filter((epoch) => epoch !== undefined).slice(0, MOST_ENDED);
/** Whether two epochs are known, and are not the same. */
const differ = (one: unknown, other: unknown): boolean => !!one && !!other && one !== other;

/**
 * An epoch names all that a service has stored since the latest refusal. The record has it, and a mark in localStorage. A page that
 * missed a refusal finds another epoch there than its own.
 */
export const createEpochs = (service: string, local?: Local) => {
  const used = `${USED} ${service}`;
  let known: Known = { since: 0, consentedAt: 0, refusedAt: 0, ended: [], unnamed: [] };

  /** The epoch of this page: the record's, or before that is known, the mark's. */
  const current = (): string | undefined => known.stored ?? (isGuessEnded() ? known.guess : known.marked);

  /**
   * The mark in localStorage: the epoch, or a number that a page has guessed before the database has answered. A record without an
   * epoch gets that number. The mark survives a deletion of the database, and a refusal erases it. Earlier versions write 1.
   */
  const markAs = (type: 'string' | 'number'): string | undefined => {
    const mark = readEntry(used, local);
    return typeof mark === type && mark !== 1 ? `${mark}` : undefined;
  };
  /** The epoch in localStorage. */
  const marked = () => markAs('string');
  /** The guess in localStorage. */
  const guessed = () => markAs('number');

  /** The latest epoch, as localStorage shows. */
  const latest = () => marked() ?? guessed();

  const newName = () => {
    const digits = 100 + (Number.parseInt(uuid().slice(0, 8), 16) % 900);
    return `${Math.trunc(known.consentedAt || Date.now()) || 0}${digits}`;
  };
  const newEpoch = () => [newName(), ...known.unnamed.map(ownName)].join(AFTER);

  /** Whether a tracker of the service has begun since the latest refusal. */
  const isMarked = (): boolean => !!entryText(used, local);
  /** Also one that the mark names. A page may have stored it again before it learned of the refusal, or have crashed as it refused. */
  const isEnded = (epoch: unknown) =>
    known.ended.some((one) => one === epoch) || (!!epoch && endedIn(marked()).includes(ownName(epoch)));

  /**
   * Whether the visitor has refused between two epochs: the later one names an ended epoch that this page does not know. Without a refusal,
   * another epoch begins if the site has deleted its data.
   */
  const isRefusedBetween = (own: string | undefined, later: string | undefined): boolean => {
    const before = [...endedIn(own), ...known.ended.map(ownName)];
    return !!own && endedIn(later).some((name) => !before.includes(name));
  };

  /**
   * Whether the visitor has refused in the epoch that this page has guessed. The record does not show that: a crash of the browser may have
   * brought back the guess. A later epoch need not name the guess: its page may not have known of the refusal. Tabs in which the visitor
   * consents within some ms guess a number each, because no tab sees at once what another one has written.
   */
  const isGuessEnded = (): boolean => {
    const { guess } = known;
    const names = namesIn(latest());
    return !!guess && (names.indexOf(guess) > 0 || names.some((name) => isLater(timeIn(name), timeIn(guess) + AHEAD)));
  };

  /** Whether a tracker has begun another epoch since this one. */
  const isOver = (epoch: string | undefined) => differ(epoch, marked());

  const write = (epoch: string | undefined) => {
    if (epoch && marked() !== epoch) writeEntry(used, local, epoch);
  };

  return {
    current,
    marked,
    latest,
    stored: () => known.stored,
    isOver: () => isOver(current()),
    /** Whether a refusal has ended this one. */
    isEnded,
    /** The epochs that refusals have ended. Is another list after each refusal. */
    ended: () => known.ended,
    /** Whether the record, or without its epoch localStorage, is of another epoch than this page. */
    isOther: (found = marked()) => differ(known.stored, found),
    /**
     * Whether the visitor has refused between this page's epoch and that of the record, or without a record that of localStorage. A page
     * that has no record yet goes by the name of its own mark only.
     */
    isRenewed: (found?: string) =>
      isRefusedBetween(known.stored, found ?? marked()) ||
      isGuessEnded() ||
      (!found && !!known.marked && endedIn(marked()).includes(ownName(known.marked))),
    /** Whether localStorage shows that the visitor has refused, and has consented since. */
    isRefused: () => isRefusedBetween(known.stored, marked()),
    /** Whether this page or the tab with this epoch does not know of a refusal yet. */
    isUnlike: (epoch: unknown) => differ(known.stored ?? marked(), epoch),
    /**
     * Whether another page may have erased the mark since this page has seen the hint, as a refusal does. A page that has begun since has
     * written another mark. If localStorage is full or refused, the mark may be missing without a refusal.
     */
    isMarkErased: (hasSeen: boolean): boolean =>
      isMarked()
        ? isOver(current()) || differ(known.stored, guessed()) || isGuessEnded()
        : hasSeen && writeEntry(used, local, 1) && writeEntry(used, local),
    /** Whether the visitor has consented after this time, and this page has begun since. */
    isSince: (at?: number) => isLater(known.since, at) && isMarked(),
    /** Whether the visitor has refused in any tab since this time. A refusal counts more than a consent of the same time. */
    isRefusedSince: (at = Number.POSITIVE_INFINITY) =>
      // A consent after the refusal has left a mark.
      known.refusedAt === at || isLater(known.refusedAt, at) || (known.refusedAt > at && !isMarked()),
    /** Whether the visitor has consented in any tab after this time. */
    isConsentedSince: (at?: number) => isLater(known.consentedAt, at),
    /** The time of an answer in this tab. The clock may have been set back, and a platform may give several answers within a ms. */
    answerAt() {
      const { since, consentedAt, refusedAt } = known;
      return Math.max(Date.now(), 1 + Math.max(since, consentedAt, refusedAt, timeIn(current()), timeIn(latest())));
    },
    /** The visitor has consented at this time. A message about another tab may arrive when the visitor has refused since. */
    consent(at = 0) {
      known = { ...known, consentedAt: Math.max(known.consentedAt, at) };
    },
    /** For a record that has none. */
    next: (): string => [marked(), current(), guessed()].find((one) => one && !isEnded(one)) ?? newEpoch(),
    /** This page begins to ask the database. */
    begin() {
      known = {
        stored: current(),
        marked: marked(),
        guess: known.guess,
        since: isMarked() ? timeIn(latest()) || Date.now() : 0,
        consentedAt: known.consentedAt,
        refusedAt: 0,
        ended: known.ended,
        unnamed: known.unnamed,
      };
    },
    /** The service has begun. */
    mark() {
      // After a refusal, the record belongs to the epoch before.
      const isFirst = !known.ended[0];
      if (!isMarked()) {
        writeEntry(used, local, current() ?? (isFirst ? Number(newName()) : newEpoch()));
        known = { ...known, marked: marked() ?? known.marked };
      }
      if (!known.stored) known = { ...known, guess: guessed() ?? known.guess };
    },
    /** From now on, this page has the epoch of the record. */
    follow(found: string) {
      known = { ...known, stored: found };
    },
    /**
     * The same, and the record with it is stored. A mark that is newer than this page stays.
     *
     * @param isInformed whether this page would have received a message about a refusal. Otherwise a missing mark may be erased.
     */
    confirm(found: string | undefined, isInformed: boolean) {
      // The visitor may have refused since the transaction.
      if (isEnded(found)) return;
      known = { ...known, stored: found, guess: undefined, unnamed: [] };
      if (!isOver(known.marked) && (isInformed || isMarked())) write(found);
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
    /** The page has refused before it went into the back/forward cache. Pages that have begun since know of no refusal. */
    restore() {
      known = { ...known, unnamed: [] };
    },
    /** @param refusal is missing if this page has only seen signs of a refusal */
    end(refusal?: Refusal) {
      const { ended, at, isOwn } = refusal ?? {};
      // A message may be late: then the page's epoch has begun since.
      const epochs = [ended, isOwn || !ended ? current() : undefined];
      const { consentedAt, refusedAt } = known;
      // The clock was set back, and the tab of the refusal may not have known of this consent. A consent after the refusal has left a mark.
      const isUnsure = isAhead(consentedAt) && !!ended && ended === current() && !isEnded(ended);
      known = {
        ended: latestOf(...epochs, ...known.ended),
        unnamed: refusal ? latestOf(...epochs, ...known.unnamed) : known.unnamed,
        since: 0,
        consentedAt: isLater(consentedAt, at) && !isUnsure ? consentedAt : 0,
        refusedAt: Math.max(refusedAt, at ?? 0),
      };
    },
  };
};
