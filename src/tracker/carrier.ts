import { carriedList, carry } from '../page/carryOver.js';
import { type ItemText, idOf, isItem, timeOf } from '../pipeline/event.js';

/**
 * Items that stand in localStorage because the database may not have them: it is not open yet, or the page is going away.
 *
 * @param key under which all pages of the origin carry theirs
 */
export const createCarrier = (key: string) => {
  /** Events of this page that came before its database. */
  let early: ItemText[] = [];
  /** How many of them are carried. */
  let count = 0;

  /** Other pages may have something to carry, too. */
  const carryItems = (items: ItemText[]) => carry(key, [...new Set([...items, ...carriedList(key)])]);

  /** Leaves there what is not of these: it has a better place now, or needs none. */
  const uncarry = (items: readonly ItemText[]) => {
    const ids = items.map(idOf);
    const all = carriedList(key);
    const left = all.filter((text) => isItem(text) && !ids.includes(idOf(text)));
    if (left.length < all.length) carry(key, left[0] && left);
  };

  const addEarly = (text: ItemText) => void early.push(text);

  /** A page may crash before its database is open. */
  const carryEarly = () => {
    if (early.length > count) carryItems(early);
    count = early.length;
  };

  /** The early ones have been let in, or dropped. */
  const endEarly = () => {
    early = [];
    count = 0;
  };

  /**
   * What is carried, and whether it is an early one of this page. What has been tracked `since` this page began to ask for
   * its database is another page's that does the same, and is alive.
   */
  const found = (since: number): [text: ItemText, isEarly: boolean][] =>
    carriedList(key).flatMap((text) => {
      if (!isItem(text)) return [];
      const isEarly = early.includes(text);
      const at = timeOf(text);
      return isEarly || !(at >= since && at <= Date.now()) ? [[text, isEarly]] : [];
    });

  return [carryItems, uncarry, addEarly, carryEarly, endEarly, found] as const;
};
