/** Keys of IndexedDB as clew uses them: numbers, texts, and lists of these. https://w3.org/TR/IndexedDB/#key-construct */
export type Key = number | string | readonly Key[];

const rank = (key: Key): number => (typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2);

/** https://w3.org/TR/IndexedDB/#compare-two-keys */
export const compareKeys = (a: Key, b: Key): number => {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (!Array.isArray(a) || !Array.isArray(b)) return a < b ? -1 : Number(a > b);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareKeys(a[i], b[i]);
    if (order) return order;
  }
  return a.length - b.length;
};

export interface KeyRange {
  readonly lower: Key;
  readonly upper: Key;
  readonly isLowerOpen: boolean;
}

export const isRange = (key: Key | KeyRange): key is KeyRange => typeof key === 'object' && 'lower' in key;

export const isInRange = (key: Key, { lower, upper, isLowerOpen }: KeyRange): boolean => {
  const order = compareKeys(key, lower);
  return (order > 0 || (order === 0 && !isLowerOpen)) && compareKeys(key, upper) <= 0;
};

/** `IDBKeyRange` of a page. */
export const keyRanges = {
  bound: (lower: Key, upper: Key, isLowerOpen = false): KeyRange => ({ lower, upper, isLowerOpen }),
};
