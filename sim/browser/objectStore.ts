import { compareKeys, isInRange, type Key, type KeyRange } from './keys.ts';

/** The rows of one object store, in the order of their keys. */
export interface Rows {
  get(key: Key): unknown;
  /** Writes the row, or deletes it if `value` is undefined. Returns the function that undoes the change. */
  set(key: Key, value: unknown): () => void;
  range(range: KeyRange | undefined, most: number): [key: Key, value: unknown][];
  readonly size: () => number;
}

export const createRows = (): Rows => {
  const rows: [key: Key, value: unknown][] = [];
  /** The index of the key's row, or the index where that row belongs. */
  const indexOf = (key: Key): number => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys((rows[middle] as [Key, unknown])[0], key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const find = (key: Key): [index: number, row: [Key, unknown] | undefined] => {
    const index = indexOf(key);
    const row = rows[index];
    return [index, row && compareKeys(row[0], key) === 0 ? row : undefined];
  };
  const set = (key: Key, value: unknown): (() => void) => {
    const [index, row] = find(key);
    const before = row?.[1];
    const rest: [Key, unknown][] = value === undefined ? [] : [[key, value]];
    rows.splice(index, row ? 1 : 0, ...rest);
    return () => void set(key, before);
  };
  return {
    get: (key) => find(key)[1]?.[1],
    set,
    range: (range, most) => rows.filter(([key]) => !range || isInRange(key, range)).slice(0, most),
    size: () => rows.length,
  };
};
