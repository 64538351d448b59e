import { createStore as openStore, promisifyRequest, type UseStore } from 'idb-keyval';
import type { ItemText } from './event.js';

/**
 * A row's place in the order of a service's rows: first by the number of the page load that wrote it, then by the
 * page's own count. Never a time: clocks jump. `tab` keeps keys apart should the numbers start again; `bytes` lets a
 * reader stop at a batch's worth.
 */
export type RowKey = [service: string, page: number, count: number, tab: string, bytes: number];

/** Items stored together, at most a batch of them. A row without items is deleted. */
export type Row = [key: RowKey, items: readonly ItemText[]];

/** What the pipeline asks of a store. All tabs of an origin see the same one. */
export interface Store {
  /**
   * One transaction over all tabs: writes `entries` (rows, and records under their names), then replaces the record
   * `name` by what the pure `change` makes of it. Without `name` it is committed in the call, so that it outlives a
   * page that is going away.
   */
  transact<T>(
    entries: readonly (Row | [name: string, record: unknown])[],
    name?: string,
    change?: (old: T | undefined) => T,
  ): Promise<T>;
  /** The oldest rows of a service, worth about `bytes`, at least one. */
  read(service: string, bytes: number): Promise<Row[]>;
  /** Deletes everything. */
  clear(): Promise<void>;
}

/** So many rows are enough for any batch. */
const MOST_ROWS = 250;
const isEmpty = (value: unknown) => (value as unknown[]).length === 0;

const createDurableStore = (use: UseStore): Omit<Store, 'clear'> => ({
  transact: (entries, name, change) =>
    use('readwrite', async (target) => {
      const { transaction } = target;
      // A site that deletes its own databases must not be blocked: https://w3.org/TR/IndexedDB/#dom-idbdatabase-onversionchange
      transaction.db.onversionchange = () => transaction.db.close();
      for (const [key, value] of entries) isEmpty(value) ? target.delete(key) : target.put(value, key);
      const value = name && change?.(await promisifyRequest(target.get(name)));
      if (name) target.put(value, name);
      // Spares the wait for the last request's event, which a page that is going away never sees.
      transaction.commit?.();
      // Only `complete` means stored: over quota, requests succeed first and then the transaction aborts.
      await promisifyRequest(transaction);
      return value as never;
    }),
  read: (service, bytes) =>
    use('readonly', async (target) => {
      const all = IDBKeyRange.bound([service], [service, []]);
      const keys = (await promisifyRequest(target.getAllKeys(all, MOST_ROWS))) as unknown as RowKey[];
      let sum = 0;
      const worth = keys.filter((key, i) => (sum += key[4]) <= bytes || !i);
      if (!worth.length) return [];
      const rows = await promisifyRequest(target.getAll(IDBKeyRange.bound(worth[0], worth.at(-1))));
      return rows.map((items, i): Row => [keys[i] as RowKey, items]);
    }),
});

const createMemoryStore = (): Omit<Store, 'clear'> => {
  const all = new Map<string, [unknown, unknown]>();
  return {
    async transact(entries, name, change) {
      const value = name && change?.(all.get(name)?.[1] as never);
      for (const entry of name ? [...entries, [name, value] as const] : entries) {
        isEmpty(entry[1] ?? {}) ? all.delete(String(entry[0])) : all.set(String(entry[0]), [...entry]);
      }
      return value as never;
    },
    read: async (service) => [...all.values()].filter(([key]) => (key as RowKey)[0] === service) as Row[],
  };
};

/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 5000;

/**
 * IndexedDB, opened anew when it fails and replaced by memory when it fails again at once. Storage that is refused,
 * blocked, hanging or gone costs durability, never an event of this page.
 *
 * @param onLost told once, when memory has taken over
 */
export const createStore = (name: string, onLost: (cause: unknown) => void): Store => {
  const open = () => createDurableStore(openStore(name, name));
  let current = open();
  let isReopened = false;
  const run = async <T>(work: (store: Omit<Store, 'clear'>) => Promise<T>): Promise<T> => {
    const used = current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(reject, PATIENCE, 'no answer');
      });
      const result = await Promise.race([work(used), late]);
      isReopened = false;
      return result;
    } catch (cause) {
      // Of several that fail together, the first decides for all.
      if (used === current) {
        current = isReopened ? createMemoryStore() : open();
        if (isReopened) onLost(cause);
        isReopened = true;
      }
      return run(work);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    transact: (...args) => run((store) => store.transact(...args)) as never,
    read: (...args) => run((store) => store.read(...args)),
    // Deleted, not emptied: emptying would first have to create it.
    async clear() {
      current = open();
      try {
        await promisifyRequest(indexedDB.deleteDatabase(name));
      } catch {}
    },
  };
};
