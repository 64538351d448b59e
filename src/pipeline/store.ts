import { createStore as openStore, promisifyRequest, type UseStore } from 'idb-keyval';
import type { ItemText } from './event.js';

/**
 * A row's place in the order of all rows of a service: first by the number of the page load that wrote it, then by the
 * page's own count. Never a time: clocks jump. `tab` keeps keys apart should the numbers ever start again; `bytes` lets
 * a reader stop at a batch's worth without reading more.
 */
export type RowKey = [service: string, page: number, count: number, tab: string, bytes: number];

/** Events of one microtask, at most a batch's worth of them. A row without items is a row to delete. */
export interface Row {
  readonly key: RowKey;
  readonly items: readonly ItemText[];
}

/** What the pipeline asks of a store. All tabs of an origin must see the same one. */
export interface Store {
  /**
   * In one transaction over all tabs: writes `rows`, and replaces the record `name` by what `change` makes of it.
   * `change` must be pure and must not throw.
   */
  update<T>(name: string, change: (old: T | undefined) => T, rows?: readonly Row[]): Promise<T>;
  /** Writes rows and records in one transaction that is committed at once, so that it outlives the page. */
  write(rows: readonly Row[], records?: Readonly<Record<string, unknown>>): Promise<void>;
  /** The oldest rows of a service: at most `count`, and of those no more than `bytes`, but at least one. */
  read(service: string, count: number, bytes: number): Promise<Row[]>;
  /** Deletes everything: rows and records. */
  clear(): Promise<void>;
}

/** How many of `keys` make up `bytes`, at least one. */
const worth = (keys: readonly RowKey[], bytes: number): number => {
  let sum = 0;
  const end = keys.findIndex((key, i) => (sum += key[4]) > bytes && i > 0);
  return end < 0 ? keys.length : end;
};

const put = (target: IDBObjectStore, rows: readonly Row[]) => {
  for (const { key, items } of rows) items.length ? target.put(items, key) : target.delete(key);
};

/** `commit()` spares the wait for the last request's event, which a page that is going away never sees. */
const finish = (target: IDBObjectStore): Promise<unknown> => {
  target.transaction.commit?.();
  return promisifyRequest(target.transaction);
};

/** A site that deletes its own databases must not be blocked by ours: https://w3.org/TR/IndexedDB/#dom-idbdatabase-onversionchange */
const yielding =
  (use: UseStore): UseStore =>
  (mode, work) =>
    use(mode, (target) => {
      const { db } = target.transaction;
      db.onversionchange = () => db.close();
      return work(target);
    });

const durable = (use: UseStore): Omit<Store, 'clear'> => ({
  update: (name, change, rows = []) =>
    use('readwrite', (target) => {
      put(target, rows);
      const request = target.get(name);
      return promisifyRequest(request).then(() => {
        const value = change(request.result);
        target.put(value, name);
        return finish(target).then(() => value);
      });
    }),
  write: (rows, records = {}) =>
    use('readwrite', (target) => {
      put(target, rows);
      for (const name in records) target.put(records[name], name);
      return finish(target).then(() => {});
    }),
  read: (service, count, bytes) =>
    use('readonly', async (target) => {
      const range = IDBKeyRange.bound([service], [service, []]);
      const keys = (await promisifyRequest(target.getAllKeys(range, count))) as unknown as RowKey[];
      const last = keys[worth(keys, bytes) - 1];
      if (!last) return [];
      const values = await promisifyRequest(target.getAll(IDBKeyRange.bound(keys[0], last)));
      return values.map((items, i) => ({ key: keys[i] as RowKey, items }));
    }),
});

/** The same in this page's memory, for where nothing may be stored. */
export const createMemoryStore = (): Store => {
  const records = new Map<string, unknown>();
  const rows = new Map<string, Row>();
  const store: Store = {
    async update(name, change, changed = []) {
      const value = change(records.get(name) as Parameters<typeof change>[0]);
      await store.write(changed, { [name]: value });
      return value;
    },
    async write(changed, named = {}) {
      for (const row of changed) {
        const id = String(row.key);
        row.items.length ? rows.set(id, row) : rows.delete(id);
      }
      for (const name in named) records.set(name, named[name]);
    },
    async read(service, count, bytes) {
      const all = [...rows.values()].filter(({ key }) => key[0] === service).slice(0, count);
      return all.slice(
        0,
        worth(
          all.map(({ key }) => key),
          bytes,
        ),
      );
    },
    async clear() {
      records.clear();
      rows.clear();
    },
  };
  return store;
};

/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 5000;

const within = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(reject, PATIENCE, new Error(`IndexedDB did not answer within ${PATIENCE} ms`));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/**
 * IndexedDB, opened anew when it fails and replaced by memory when it fails again at once. Storage that is refused,
 * blocked, hanging or gone costs durability, never an event of this page.
 *
 * @param onLost told once, when memory has taken over
 */
export const createStore = (name: string, onLost: (cause: unknown) => void): Store => {
  const open = () => durable(yielding(openStore(name, name)));
  const memory = createMemoryStore();
  let current: Omit<Store, 'clear'> = open();
  let reopened = false;
  const run = async <T>(work: (store: Omit<Store, 'clear'>) => Promise<T>): Promise<T> => {
    for (;;) {
      const used = current;
      try {
        const result = await within(work(used));
        reopened = false;
        return result;
      } catch (cause) {
        // Of several that fail together the first one decides for all; none is given up before memory has tried.
        if (used !== current) continue;
        current = reopened ? memory : open();
        if (reopened) onLost(cause);
        reopened = true;
      }
    }
  };
  return {
    update: (name, change, rows) => run((store) => store.update(name, change, rows)),
    write: (rows, records) => run((store) => store.write(rows, records)),
    read: (service, count, bytes) => run((store) => store.read(service, count, bytes)),
    // Deleted, not emptied: where nothing was ever stored, emptying would first have to create it.
    clear: async () => {
      try {
        await memory.clear();
        await promisifyRequest(indexedDB.deleteDatabase(name));
      } catch {}
    },
  };
};
