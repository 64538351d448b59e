import type { Entry, Row, RowKey, RowQuery, Store } from '../outbox/store.js';

const isRow = (entry: Entry): entry is Row => Array.isArray(entry[0]);

/** As IndexedDB orders keys: part by part, numbers as numbers and text by its code units. */
const compare = (a: RowKey, b: RowKey): number => {
  for (const [i, part] of a.entries()) {
    const other = b[i] as typeof part;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
};

/**
 * Creates a store in memory, which takes the place of localStorage, too. Pass the same store to a second tracker to simulate the
 * visitor's next page, or another tab.
 */
export const createMemoryStore = (): Store => {
  const rows = new Map<string, Row>();
  const records = new Map<string, object>();
  let generation = 0;
  /** Replaced when the store is cleared: transactions that were begun before write nothing more. */
  let life = {};
  /** No record has changed since. Other tabs clear for the same refusal, and this tab may have begun anew. */
  let isCleared = false;
  /** The last change. The next change of a record waits for it, and sees its result. */
  let last: Promise<unknown> = Promise.resolve();
  const write = (entry: Entry) => {
    if (!isRow(entry)) records.set(...entry);
    else if (entry[1]) rows.set(JSON.stringify(entry[0]), entry);
    else rows.delete(JSON.stringify(entry[0]));
  };
  const find = (service: string): Row[] =>
    structuredClone([...rows.values()].filter(([key]) => key[0] === service).sort(([a], [b]) => compare(a, b)));
  return {
    async transact<T extends object>(
      entries: readonly Entry[] | (() => readonly Entry[]),
      name = '',
      change?: (old: T | undefined, rows: readonly Row[]) => T | undefined,
      query?: (old: T | undefined) => RowQuery | undefined,
    ) {
      // As in a browser, nothing that is stored is shared with whoever stores it.
      const isLate = typeof entries === 'function';
      const written = isLate ? [] : structuredClone(entries);
      const mine = life;
      const work = async () => {
        if (life !== mine) return undefined;
        if (change) isCleared = false;
        for (const entry of written) write(entry);
        const old = structuredClone(records.get(name)) as T | undefined;
        const asked = query?.(old);
        const value = change?.(old, asked ? find(asked[0]) : []);
        for (const entry of isLate ? structuredClone(entries()) : []) write(entry);
        if (value) records.set(name, structuredClone(value));
        return value ?? (true as never);
      };
      if (!change) return work();
      const done = last.then(work);
      last = done.catch(() => {});
      return done;
    },
    read: async (service) => find(service),
    abort: () => {},
    clear(service, names, isRefused) {
      if (isRefused && !isRefused(records.get(names[0] as string))) return;
      for (const [key, [[owner]]] of rows) if (owner === service) rows.delete(key);
      for (const name of names) records.delete(name);
      generation++;
      if (!isCleared) life = {};
      isCleared = true;
    },
    isOpen: () => true,
    generation: () => generation,
    local: {},
  };
};
