import { v4 as uuid } from 'uuid';
import type { DropReason } from '../api/signals.js';
import { byteLength, type ItemText, stamp } from '../recorder/event.js';
import { type Book, type Drop, jsonOf } from '../wire.js';
import type { Journal } from './journal.js';
import { BOOK, entryKeys, entryText, type Local, readEntry, writeEntry } from './local.js';

/** A book in localStorage, with the time (ms since the epoch) of its last write, or 0 if its page has left. */
export type StoredBook = readonly [
  load: number,
  count: number,
  writtenAt: number,
  release: string,
  drops: readonly Drop[],
  begunAt?: number,
];

/** The account of each page load, for the relay. The accounts are in localStorage, because a leaving page can write there. */
export interface Books {
  /** The event with its number. */
  number(text: ItemText): ItemText;
  /** These events are dropped. After a refusal, the page counts as another page load. */
  drop(texts: readonly ItemText[], reason: DropReason): void;
  /** Stores the book of this page load. */
  write(isLeft?: boolean): void;
  /** The books of pages that have gone, and that have left no event in a journal. */
  ended(): readonly StoredBook[];
  /**
   * The books for a request, as far as they fit into `room` bytes. A book with a long list of drops keeps no other one from the relay.
   * Those of `ended` are closed, except if one of these events is theirs.
   */
  stated(room: number, ended?: readonly StoredBook[], queued?: readonly ItemText[]): readonly Book[];
  /** The relay has these books. */
  settle(books: readonly Book[]): void;
}

/** The account of one page load. */
interface Account {
  /** Names the page load. */
  readonly load: number;
  /** The highest number of its events. */
  readonly count: number;
  readonly drops: readonly Drop[];
  /** localStorage lacks the latest change. */
  readonly isChanged?: boolean;
}

/** More are not kept: a journal that is never taken in keeps all of them open. */
const MOST_BOOKS = 50;
/**
 * A page that has written nothing for so long (ms) has crashed, or all that it has tracked is in a row. Where it has written in the
 * future, the visitor has set the clock back since.
 */
const SILENCE = 6e5;

/** The page load and the number of an event. No field with a brace comes behind them, so those in a payload are not meant. */
const seqOf = (text: ItemText): number[] => /"seq":\[(\d+),(\d+)][^}]*}$/.exec(text)?.slice(1).map(Number) ?? [];

/** An event without the number that it had in an account that has ended. */
export const withoutNumber = (text: ItemText): ItemText => text.replace(/,"seq":\[\d+,\d+]}$/, '}');

/** A new account, named by a random number above 2^48: earlier versions have numbered the page loads of a browser from 1. */
const accountOf = (id: string): Account => ({ load: Number.parseInt(`1${id.slice(-12)}`, 16), count: 0, drops: [] });

/** These drops and one more, of the event with this number. An event that has none has 0 for both. */
const withDrop = (drops: readonly Drop[], reason: DropReason, [load = 0, number = 0]: readonly number[]): Drop[] => {
  const before = drops.find((one) => one[0] === reason && one[1] === load && (!number || one[2] + one[3] === number));
  const [, , first, length] = before ?? [reason, load, number, 0];
  return [...drops.filter((one) => one !== before), [reason, load, first, length + 1]];
};

export const createBooks = (service: string, journal: Journal, page: string, release = '', local?: Local): Books => {
  const prefix = `${BOOK} ${service} `;
  /** A relay may have forgotten an old page load. */
  const begunAt = Date.now();
  let mine = accountOf(page);
  const change = (to: Partial<Account>) => {
    mine = { ...mine, isChanged: true, ...to };
  };

  /** Any code of the origin may have written one. */
  const stored = () =>
    entryKeys(prefix, local)
      .map((key) => readEntry(key, local) as StoredBook)
      .filter((book) => Array.isArray(book?.[4]) && book.slice(0, 3).every(Number.isFinite));

  const write = (isLeft?: boolean) => {
    const { load, count, drops, isChanged } = mine;
    if (!isChanged && !(isLeft && (count || drops[0]))) return;
    if (entryText(prefix + load, local) || !entryKeys(prefix, local)[MOST_BOOKS])
      change({
        isChanged: !writeEntry(prefix + load, local, [load, count, isLeft ? 0 : Date.now(), release, drops, begunAt]),
      });
  };

  return {
    number(text) {
      change({ count: mine.count + 1 });
      return stamp(text, { seq: [mine.load, mine.count] });
    },
    drop(texts, reason) {
      if (reason === 'consent') mine = accountOf(uuid());
      else for (const text of texts) change({ drops: withDrop(mine.drops, reason, seqOf(text)) });
      // Another tab may close the book. Events without a number were dropped within a call, at whose end the page writes.
      if (texts.some((text) => seqOf(text)[1])) write();
    },
    write,
    ended() {
      // Those that have texts, of open pages, too.
      return journal.others(Number.POSITIVE_INFINITY).some(({ texts }) => texts[0])
        ? []
        : stored().filter(([of, , at]) => of !== mine.load && Math.abs(Date.now() - at) > SILENCE);
    },
    stated(room, ended = [], queued = []) {
      write();
      const open = new Set(queued.map((text) => seqOf(text)[0]));
      let left = room;
      return stored()
        .map(([of, most, , ...rest]): Book => {
          const end = !open.has(of) && ended.find((one) => one[0] === of);
          return [of, most, end ? end[1] : 0, ...rest];
        })
        .filter((book) => {
          const bytes = byteLength(jsonOf(book)) + 1;
          const fits = bytes <= left;
          if (fits) left -= bytes;
          return fits;
        });
    },
    settle(books) {
      for (const [of, count, closed, , drops] of books) {
        const isSame = () => jsonOf(Object(readEntry(prefix + of, local))[4]) === jsonOf(drops);
        // The page may be open again, and may have dropped more.
        if (closed === count && isSame()) writeEntry(prefix + of, local);
        if (of !== mine.load) continue;
        // A relay keeps the numbers, but it does not add up events without one.
        const has = new Set(drops.map(jsonOf));
        const left = mine.drops.filter((one) => !one[2] || !has.has(jsonOf(one)));
        if (left.length < mine.drops.length) change({ drops: left });
      }
    },
  };
};
