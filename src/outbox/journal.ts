import { type ItemText, idOf, isIdentify, isItem } from '../recorder/event.js';
import { type Identity, type Visitor, visitorIn } from '../visitor/record.js';
import { parseJson } from '../wire.js';
import { CHANGED, entryKeys, entryText, ITEMS, type Local, PAGE, readEntry, writeEntry } from './local.js';

/** The entry of a page in localStorage, with data that the database may lack. */
export interface Journaled {
  /** The visitor, if this page has changed it and the database may lack the change. */
  readonly visitor?: Visitor | undefined;
  /** The page has gone, or is in the back/forward cache. */
  readonly isLeft?: boolean | undefined;
  /** Finished events and upserts, and upserts that do not know their customer. */
  readonly texts?: readonly ItemText[];
  /** The epoch of its visitor, if the page knows it. */
  readonly epoch?: string | undefined;
  /**
   * Names of journals whose items are in this one, too, each with the ids of those items. Each is an earlier journal of the page, or that
   * of another page which this one takes in. A third page may have taken in the items from there.
   */
  readonly earlier?: readonly (readonly string[])[] | undefined;
  /** When it was written, in ms since 1970. Each write of a page has another time: it names the journal for pages that take it in. */
  readonly at?: number | undefined;
}

/** A journal as it was read. */
export interface NamedJournal {
  /** Names the journal as its page wrote it then. That of an earlier version has ''. */
  readonly name: string;
  readonly texts: readonly ItemText[];
}

/** The data that a page writes into its journal, beside the items that the journal keeps. */
export type Rest = Omit<Journaled, 'earlier' | 'at'> & {
  /** Earlier journals of the page. */
  readonly earlier?: readonly NamedJournal[] | undefined;
};

/** The journal of another page that has gone. */
export interface OtherJournal extends Journaled, NamedJournal {
  readonly texts: readonly ItemText[];
  /** Deletes it, unless its page has written it again. */
  remove(): void;
}

export interface Journal {
  /** Writes this beside the items that the journal keeps, in place of the last `write`. */
  write(rest: Rest): void;
  /** Adds finished items. */
  keep(items: readonly ItemText[]): void;
  /** This page's journal as it was last written. */
  latest(): NamedJournal;
  /** Whether one of these journals is this page's. Then another page has taken it in. */
  isAmong(names: readonly string[]): boolean;
  /** Names of the pages that have journals. */
  pages(): string[];
  /** Deletes finished items that are stored or settled. */
  drop(ids: readonly string[]): void;
  /** This page takes in these journals of other pages. */
  adopt(others: readonly NamedJournal[]): void;
  /**
   * Deletes the journals of other pages, whose items this page has taken in. The journals stay if neither the database nor this
   * page's journal has all of those items. This page's journal then drops the items, because another journal has them.
   */
  replace(others: readonly OtherJournal[], isStored: boolean): void;
  /** The journals of pages that have gone, in the order of time. One that was written since the time `since` is of an open page. */
  others(since: number): OtherJournal[];
}

/** Most characters of events that a leaving page journals, the oldest. Browsers store 5,242,880 characters of an origin. */
const MOST_LEFT = 4e6;
/** A page that is open may journal in each task. More would take too long. */
const MOST_OPEN = 5e5;

/** The distance (ms) of two writes in one millisecond. A time since the epoch has a precision of a quarter of it. */
const FRACTION = 0.001;

/** After how many ms at most a page sees what another page has written into localStorage. In Chromium, it is a few ms. */
const LAG = 1000;

/** The last write of a page. */
interface Written {
  /** The visitor, and the calls that wait for the database. */
  readonly rest: Rest;
  readonly at: number;
  readonly texts: readonly ItemText[];
  /** Whether there was room for all of it. */
  readonly isWhole: boolean;
}

/** Each page writes one entry of its own. If two pages wrote the same entry, one would overwrite the other's events. */
export const createJournal = (service: string, page: string, local?: Local): Journal => {
  const prefix = `${PAGE} ${service} `;
  const key = prefix + page;
  const items = new Map<string, ItemText>();
  /** Ids of items that stay in the journals of other pages. */
  const elsewhere = new Set<string>();
  /** The journals that this page takes in. */
  let adopted: readonly NamedJournal[] = [];
  let last: Written = { rest: {}, at: 0, texts: [], isWhole: true };

  /** Writes `rest` beside the items. */
  const save = (rest = last.rest) => {
    let room = rest.isLeft ? MOST_LEFT : MOST_OPEN;
    const all = [...items.values(), ...(rest.texts ?? [])];
    let texts = all.filter(({ length }) => {
      room -= length;
      return room >= 0;
    });
    const ids = new Set(all.map(idOf));
    let earlier = [...(rest.earlier ?? []), ...adopted]
      .map(({ name, texts: theirs }) => [name, ...theirs.map(idOf).filter((id) => ids.has(id))])
      .filter(([, id]) => id);
    const now = Date.now();
    const at = Math.floor(last.at) === now ? last.at + FRACTION : now;
    // Where other data fill localStorage, the oldest events that fit.
    const entry = () =>
      (texts[0] || rest.visitor) && {
        ...rest,
        visitor: withUnsent(rest.visitor, all, texts),
        earlier: earlier[0] && earlier,
        at,
        texts,
      };
    while (!writeEntry(key, local, entry()) && texts[0]) {
      // Without the names, items may be sent twice. That is better than to lose one.
      if (earlier[0]) earlier = [];
      else texts = texts.slice(0, texts.length >> 1);
    }
    last = { rest, at, texts, isWhole: texts.length === all.length };
  };

  /** The visitor beside the items that have room. A `$identify` without room may be lost: the next `identify` sends it again. */
  const withUnsent = (visitor: Visitor | undefined, all: readonly ItemText[], kept: readonly ItemText[]) => {
    const [primaryKey, signature] = visitor?.keys[service] ?? [];
    const isLost = (text: ItemText) => isIdentify(text) && !kept.includes(text);
    if (!visitor || !primaryKey || kept.length === all.length || !all.some(isLost)) return visitor;
    const identity: Identity = [primaryKey, signature, true];
    return { ...visitor, keys: { ...visitor.keys, [service]: identity } };
  };

  /** Another page's journal has these items. */
  const leave = (texts: readonly ItemText[]) => {
    for (const id of texts.map(idOf)) {
      elsewhere.add(id);
      items.delete(id);
    }
  };

  return {
    write: save,
    keep(texts) {
      for (const text of texts) if (!elsewhere.has(idOf(text))) items.set(idOf(text), text);
      if (texts[0]) save();
    },
    drop(ids) {
      const { size } = items;
      for (const id of ids) items.delete(id);
      if (items.size < size) save();
    },
    adopt(others) {
      adopted = others;
    },
    replace(others, isStored) {
      adopted = [];
      const isKept = isStored || last.isWhole;
      for (const other of others) {
        if (!isKept) leave(other.texts);
        else if (other.isLeft) other.remove();
        // A page that is still open may have written it again, which this page sees a few ms later.
        else setTimeout(other.remove, LAG);
      }
      if (!isKept) save();
    },
    latest: () => ({ name: `${key} ${last.at}`, texts: last.texts }),
    isAmong: (names) => names.some((name) => name.startsWith(`${key} `)),
    pages: () => entryKeys(prefix, local).map((other) => other.slice(prefix.length)),
    others(since) {
      const isOpen = ({ isLeft, at = 0 }: Journaled) => !isLeft && at >= since && Math.floor(at) <= Date.now();
      // Pages of earlier versions have left lists of items, and the visitor beside them.
      const old = { visitor: readEntry(CHANGED, local) as Visitor, isLeft: true };
      const found = [...[`${ITEMS} ${service} `, CHANGED, prefix].flatMap((start) => entryKeys(start, local))].filter(
        (other) => other !== key,
      );
      return found
        .map((other) => {
          const text = entryText(other, local);
          const journaled = parseJson(text);
          const { visitor, texts, ...more }: Journaled = Array.isArray(journaled)
            ? { texts: journaled, isLeft: true }
            : other === CHANGED
              ? old
              : Object(journaled);
          // Any code of the origin may have written it.
          const at = Number.isFinite(more.at) ? (more.at as number) : 0;
          return {
            ...more,
            at,
            name: at ? `${other} ${at}` : '',
            visitor: visitorIn(visitor, service),
            texts: [texts ?? []].flat().filter(isItem),
            remove: () => void (entryText(other, local) === text && writeEntry(other, local)),
          };
        })
        .filter((other) => !isOpen(other))
        .sort((one, other) => (one.at ?? 0) - (other.at ?? 0));
    },
  };
};
