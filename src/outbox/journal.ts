import { type ItemText, idOf, isItem, timeOf } from '../recorder/event.js';
import { carriedKeys, carriedList, carry } from './carryOver.js';

/**
 * Items that stand in localStorage because the database may not have them: it is not open yet, or the page is going away.
 * Each page has a key of its own: where two write into one, the later takes away what the other has just put there.
 *
 * @param prefix of the keys of all pages of the origin
 */
export const createCarrier = (prefix: string, page: string) => {
  const key = prefix + page;
  const carryItems = (items: readonly ItemText[]) => carry(key, [...new Set([...items, ...carriedList(key)])]);

  /** Leaves there what is not of these: it has a better place now, or needs none. */
  const uncarry = (items: readonly ItemText[]) => {
    const ids = items.map(idOf);
    const all = carriedList(key) as ItemText[];
    const left = all.filter((text) => !ids.includes(idOf(text)));
    if (left.length < all.length) carry(key, left[0] && left);
  };

  /**
   * Carries what pages have carried that are gone, and returns it. Who has tracked anything `since` this page began to ask
   * for its database does the same, and is alive.
   */
  const adopt = (since: number): ItemText[] => {
    const isNew = (text: unknown) => isItem(text) && timeOf(text) >= since && timeOf(text) <= Date.now();
    const others = carriedKeys(prefix).filter((other) => other !== key && !carriedList(other).some(isNew));
    const items = others.flatMap(carriedList).filter(isItem);
    // First: there may be no room for both.
    for (const other of others) carry(other);
    if (items[0]) carryItems(items);
    return items;
  };

  return [carryItems, uncarry, adopt] as const;
};
