import { type ItemText, idOf, isItem, timeOf } from '../recorder/event.js';
import type { Held } from '../visitor/held.js';
import { isVisitorId, visitorIn } from '../visitor/record.js';
import { CHANGED, carried, carriedKeys, carriedList, carry, ITEMS, PAGE } from './carryOver.js';

/** What a page keeps in localStorage because the database may not have it. */
export interface Journaled {
  /** Calls that wait for the visitor. */
  readonly held: readonly Held[];
  /** The page has gone, or is in the back/forward cache. */
  readonly isLeft?: boolean | undefined;
  /** Finished events and upserts. */
  readonly texts: readonly ItemText[];
  /** When it was written, in ms since the epoch. */
  readonly at?: number | undefined;
}

/** The journal of another page. */
export interface OtherJournal extends Journaled {
  readonly page: string;
  /** Deletes it, unless its page has written it again. */
  remove(): void;
}

export interface Journal {
  /** Writes which calls wait, in place of what it said before. */
  write(held: readonly Held[], isLeft: boolean): void;
  /** Adds finished items. */
  keep(items: readonly ItemText[]): void;
  /** Names of the pages whose journals are there. */
  pages(): string[];
  /** Deletes finished items that are stored or settled. */
  drop(ids: readonly string[]): void;
  /**
   * The journals of other pages. One of a page that has tracked finished events since the time `since` is without them: it is
   * open.
   */
  others(since: number): OtherJournal[];
}

/** Any code of the origin may have written there. */
const heldIn = (call: unknown): Held[] => {
  const { index, at, text, fresh, key, signature, dropped, given, visitor: stored } = Object(call) as Held;
  const visitor = visitorIn(stored);
  const areTexts = [key, signature, dropped, given].every((value) => typeof (value ?? '') === 'string');
  const isWhole =
    index > 0 &&
    at >= 0 &&
    areTexts &&
    (text ? isItem(text) : !!(fresh || dropped || visitor)) &&
    (!fresh || isVisitorId(fresh));
  return isWhole ? [{ index, at, text, fresh, key, signature, dropped, given, visitor }] : [];
};

/** Each page writes one entry of its own: where two pages write one, the later one takes away what the other has just written. */
export const createJournal = (service: string, page: string): Journal => {
  const prefix = `${PAGE} ${service} `;
  const key = prefix + page;
  const items = new Map<string, ItemText>();
  let rest: Omit<Journaled, 'texts'> = { held: [] };
  let isWritten = false;

  const save = () => {
    const isEmpty = !items.size && !rest.held[0];
    if (isEmpty && !isWritten) return;
    isWritten = !isEmpty;
    carry(key, isWritten && { ...rest, texts: [...items.values()], at: Date.now() });
  };

  /** What pages of earlier versions have left. */
  const old = (): [string, Journaled][] => {
    const visitor = visitorIn(carried(CHANGED));
    return [
      ...carriedKeys(`${ITEMS} ${service} `).map((other): [string, Journaled] => [
        other,
        { held: [], isLeft: true, texts: carriedList(other).filter(isItem) },
      ]),
      ...(visitor
        ? [[CHANGED, { held: [{ index: 1, at: 0, visitor }], isLeft: true, texts: [] }] as [string, Journaled]]
        : []),
    ];
  };

  return {
    write(held, isLeft) {
      rest = { held, isLeft };
      save();
    },
    keep(texts) {
      for (const text of texts) items.set(idOf(text), text);
      if (texts[0]) save();
    },
    drop(ids) {
      const { size } = items;
      for (const id of ids) items.delete(id);
      if (items.size < size) save();
    },
    pages: () => carriedKeys(prefix).map((other) => other.slice(prefix.length)),
    others(since) {
      const present = carriedKeys(prefix).map((other): [string, Journaled] => {
        const { held, isLeft, texts, at } = Object(carried(other)) as Partial<Journaled>;
        return [
          other,
          {
            isLeft,
            at,
            held: [held ?? []].flat().flatMap(heldIn),
            texts: [texts ?? []].flat().filter(isItem),
          },
        ];
      });
      const isNew = (at: number | undefined) => (at ?? 0) >= since && (at ?? 0) <= Date.now();
      return [...old(), ...present]
        .filter(([other]) => other !== key)
        .map(([other, journaled]) => {
          const text = JSON.stringify(carried(other));
          // A page that is open stores its items itself.
          const isOpen = !journaled.isLeft && [journaled.at, ...journaled.texts.map(timeOf)].some(isNew);
          return {
            ...journaled,
            texts: isOpen ? [] : journaled.texts,
            page: other.slice(prefix.length),
            remove: () => !isOpen && JSON.stringify(carried(other)) === text && carry(other),
          };
        });
    },
  };
};
