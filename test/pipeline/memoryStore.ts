import type { Entry, Row, RowKey, Store } from '../../src/pipeline/store.ts';

/** A store in memory, with what only tests need to see of it. */
export interface MemoryStore extends Store {
  /** All rows of all services, in the order of their keys. */
  rows(): Row[];
  record<T>(name: string): T | undefined;
  /** What each transaction wrote, oldest first. */
  readonly commits: readonly (readonly Entry[])[];
}

const isRow = (entry: Entry): entry is Row => Array.isArray(entry[0]);

/** As IndexedDB orders arrays: part by part, numbers as numbers and text by its code units. */
const compare = (a: RowKey, b: RowKey): number => {
  for (const [i, part] of a.entries()) {
    const other = b[i] as typeof part;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
};

/**
 * The `Store` port without a browser: every transaction is done whole in the call, so that none ever sees a part of another;
 * answers come later; nothing stored shares an object with the caller.
 */
export const createMemoryStore = (): MemoryStore => {
  const rows = new Map<string, Row>();
  const records = new Map<string, unknown>();
  const commits: (readonly Entry[])[] = [];
  const sorted = () => [...rows.values()].sort(([a], [b]) => compare(a, b));

  const write = (entry: Entry) => {
    if (!isRow(entry)) records.set(...entry);
    else if (entry[1]) rows.set(JSON.stringify(entry[0]), entry);
    else rows.delete(JSON.stringify(entry[0]));
  };

  return {
    async transact<T>(entries: readonly Entry[], name?: string, change?: (old: T | undefined) => T): Promise<T> {
      const written = structuredClone(entries);
      commits.push(written);
      for (const entry of written) write(entry);
      if (name === undefined || !change) return undefined as T;
      const value = change(structuredClone(records.get(name)) as T | undefined);
      records.set(name, structuredClone(value));
      return value;
    },
    read: async (service) =>
      structuredClone(
        sorted()
          .filter(([key]) => key[0] === service)
          .slice(0, 210),
      ),
    clear() {
      rows.clear();
      records.clear();
    },
    rows: sorted,
    record: <T>(name: string) => records.get(name) as T | undefined,
    commits,
  };
};
