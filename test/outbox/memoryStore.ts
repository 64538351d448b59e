import type { Entry, Row, RowKey, RowQuery, Store } from '../../src/outbox/store.ts';

/** A store in memory, with its contents for tests. */
export interface MemoryStore extends Store {
  /** All rows of all services, in the order of their keys. */
  rows(): Row[];
  record<T>(name: string): T | undefined;
  /** The entries that each transaction wrote, oldest first. */
  readonly commits: readonly (readonly Entry[])[];
  /** Puts anything in place of a row, as other code may. */
  put(key: RowKey, value: unknown): void;
  /** Deletes everything, as other code may, and raises `generation`. */
  lose(): void;
  /** Whether storage is refused at this moment: nothing is written, and nothing is found. */
  isBroken: boolean;
  /** Whether transactions on records have to wait at this moment, for ever or until they are aborted. */
  isHeldUp: boolean;
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
 * The `Store` port without a browser. Transactions run one after the other, unless a test sets `isBroken` or `isHeldUp`.
 * Answers arrive later. Stored values share no object with the caller.
 */
export const createMemoryStore = (): MemoryStore => {
  const rows = new Map<string, Row>();
  const records = new Map<string, unknown>();
  const commits: (readonly Entry[])[] = [];
  let heldUp: (() => void)[] = [];
  let generation = 0;
  let last: Promise<unknown> = Promise.resolve();
  const sorted = () => [...rows.values()].sort(([a], [b]) => compare(a, b));

  const write = (entry: Entry) => {
    if (!isRow(entry)) records.set(...entry);
    else if (entry[1]) rows.set(JSON.stringify(entry[0]), entry);
    else rows.delete(JSON.stringify(entry[0]));
  };

  const find = (...[service, most = Number.POSITIVE_INFINITY, isWanted]: RowQuery): Row[] => {
    const found = sorted().filter(([key]) => key[0] === service && !store.isBroken);
    if (isWanted) return structuredClone(found.map(([key, items]): Row => [key, isWanted(key) ? items : undefined]));
    let left = most;
    return structuredClone(
      found.filter(([, items]) => {
        const isWanted = left > 0;
        left -= [items].flat().length;
        return isWanted;
      }),
    );
  };

  const store: MemoryStore = {
    async transact<T extends object>(
      entries: readonly Entry[] | (() => readonly Entry[]),
      name = '',
      change?: (old: T | undefined, rows: readonly Row[]) => T | undefined,
      query?: (old: T | undefined) => RowQuery | undefined,
    ) {
      if (store.isBroken) return undefined;
      if (name && store.isHeldUp) return new Promise<undefined>((resolve) => heldUp.push(() => resolve(undefined)));
      const isLate = typeof entries === 'function';
      const written = isLate ? [] : structuredClone(entries);
      const work = async () => {
        commits.push(written);
        for (const entry of written) write(entry);
        const old = structuredClone(records.get(name)) as T | undefined;
        const asked = query?.(old);
        const value = change?.(old, asked ? find(...asked) : []);
        for (const entry of isLate ? structuredClone(entries()) : []) write(entry);
        if (value) records.set(name, structuredClone(value));
        return value ?? (true as never);
      };
      if (!change) return work();
      const done = last.then(work);
      last = done.catch(() => {});
      return done;
    },
    read: async (...query) => find(...query),
    abort() {
      for (const breakOff of heldUp) breakOff();
      heldUp = [];
    },
    clear(service, names, isRefused) {
      if (isRefused && !isRefused(records.get(names[0] as string))) return;
      for (const [key, [[owner]]] of rows) if (owner === service) rows.delete(key);
      for (const name of names) records.delete(name);
    },
    isOpen: () => true,
    generation: () => generation,
    lose() {
      rows.clear();
      records.clear();
      generation++;
    },
    rows: sorted,
    record: <T>(name: string) => records.get(name) as T | undefined,
    commits,
    put: (key, value) => rows.set(JSON.stringify(key), [key, value as Row[1]]),
    isBroken: false,
    isHeldUp: false,
  };
  return store;
};
