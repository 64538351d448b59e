import type { Browser } from '../browser/browser.ts';

/** How the names of entries in localStorage begin that have properties before an `identify()`. */
const EARLY = 'clew.early ';

/** The numbers of the events that a browser has stored. */
export interface Storing {
  /** In IndexedDB or in localStorage. */
  onDisk(): Set<number>;
  /** The same without those of the running transaction. A browser may lose it as its page leaves or is killed. */
  certain(): Set<number>;
  /** In the database. With `isCertain`, without those of the running transaction. */
  inDatabase(isCertain?: boolean): Set<number>;
  /** In localStorage. */
  inJournals(): Set<number>;
  /** Those of properties that wait for an `identify()`. */
  inEarly(): Set<number>;
}

const numbersIn = (text: string): number[] => [...text.matchAll(/\\*"n\\*":(\d+)/g)].map(([, n]) => Number(n));

/** Reads what is stored. Checks ask after each task, so each row and each entry is parsed once. */
export const createStoring = ({ disk, localStorage }: Pick<Browser, 'disk' | 'localStorage'>): Storing => {
  const parsedRows = new WeakMap<object, readonly number[]>();
  const parsedEntries = new Map<string, { readonly value: string; readonly numbers: readonly number[] }>();
  const inRow = (row: object): readonly number[] => {
    const numbers = parsedRows.get(row) ?? numbersIn(JSON.stringify(row));
    parsedRows.set(row, numbers);
    return numbers;
  };
  const inEntry = ([key, value]: readonly [string, string]): readonly number[] => {
    const parsed = parsedEntries.get(key);
    if (parsed?.value === value) return parsed.numbers;
    const numbers = numbersIn(value);
    parsedEntries.set(key, { value, numbers });
    return numbers;
  };
  const inRows = (isCertain?: boolean) => disk.committed(isCertain).flatMap(inRow);
  const inEntries = () => [...localStorage].flatMap(inEntry);
  return {
    onDisk: () => new Set([...inRows(), ...inEntries()]),
    certain: () => new Set([...inRows(true), ...inEntries()]),
    inDatabase: (isCertain) => new Set(inRows(isCertain)),
    inJournals: () => new Set(inEntries()),
    inEarly: () => new Set([...localStorage].filter(([key]) => key.startsWith(EARLY)).flatMap(inEntry)),
  };
};
