import { createStore as openStore, promisifyRequest, type UseStore } from 'idb-keyval';
import type { ItemText } from './event.js';

/**
 * A row's place in the order of a service's rows: first by the number of the page load that wrote it, then by the
 * page's own count. Never a time: clocks jump. `tab` keeps keys apart should the numbers start again.
 */
export type RowKey = [service: string, page: number, count: number, tab: string];

/** Items stored together, at most a batch of them, under and with their key. A row without items is deleted. */
export type Row = readonly [key: RowKey, items: readonly ItemText[]];

/** What is written: a row, or a record under its name. */
export type Entry = Row | readonly [name: string, record: object];

/** What the pipeline asks of a store. All tabs of an origin see the same one. */
export interface Store {
  /**
   * One transaction over all tabs: writes rows and named records, then replaces the record `name` by what the pure
   * `change` makes of it. Without `name` it is committed in the call, so that it outlives a page that is going away.
   */
  transact<T>(entries: readonly Entry[], name?: string, change?: (old: T | undefined) => T): Promise<T>;
  /** The oldest rows of a service, enough for a batch. */
  read(service: string): Promise<Row[]>;
  /** Deletes everything. */
  clear(): Promise<void>;
}

/** Rows read at a time: what makes a batch of single events, and a few more. */
const MOST_ROWS = 210;

const createDurableStore = (use: UseStore): Omit<Store, 'clear'> => ({
  transact: (entries, name, change) =>
    use('readwrite', async (target) => {
      const { transaction } = target;
      // A site that deletes its own databases must not be blocked: https://w3.org/TR/IndexedDB/#dom-idbdatabase-onversionchange
      transaction.db.onversionchange = () => transaction.db.close();
      for (const [key, value] of entries) {
        if (typeof key === 'string') target.put(value, key);
        else (value as ItemText[])[0] ? target.put([key, value], key) : target.delete(key);
      }
      const value = name && change?.(await promisifyRequest(target.get(name)));
      if (name) target.put(value, name);
      // Spares the wait for the last request's event, which a page that is going away never sees.
      transaction.commit?.();
      // Only `complete` means stored: over quota, requests succeed first and then the transaction aborts.
      await promisifyRequest(transaction);
      return value as never;
    }),
  read: (service) =>
    use('readonly', (target) =>
      promisifyRequest(target.getAll(IDBKeyRange.bound([service], [service, []]), MOST_ROWS)),
    ),
});

/** Without a database the queue's own memory has to do, and records last as long as the page. */
const createMemoryStore = (): Omit<Store, 'clear'> => {
  const records: Record<string, unknown> = {};
  return {
    async transact(entries, name = '', change) {
      for (const [key, value] of entries) if (typeof key === 'string') records[key] = value;
      records[name] = change?.(records[name] as never);
      return records[name] as never;
    },
    read: async () => [],
  };
};

/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 3000;
/** How often it may break before it is given up. */
const REOPENINGS = 2;

/**
 * IndexedDB, opened anew when it fails and in the end replaced by memory. Storage that is refused, blocked, hanging or
 * gone costs durability, never an event of this page.
 *
 * @param onLost told once, when memory has taken over
 */
export const createStore = (name: string, onLost: (cause: unknown) => void): Store => {
  const open = () => createDurableStore(openStore(name, name));
  let current = open();
  let failures = 0;
  const run = async <T>(work: (store: Omit<Store, 'clear'>) => Promise<T>): Promise<T> => {
    const used = current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(reject, PATIENCE, 'no answer');
    });
    try {
      return await Promise.race([work(used), late]);
    } catch (cause) {
      // Of several that fail together, the first decides for all.
      if (used === current) {
        current = failures++ < REOPENINGS ? open() : createMemoryStore();
        if (failures > REOPENINGS) onLost(cause);
      }
      return run(work);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    transact: (...args) => run((store) => store.transact(...args)) as never,
    read: (service) => run((store) => store.read(service)),
    // Deleted, not emptied: emptying would first have to create it.
    async clear() {
      current = open();
      try {
        await promisifyRequest(indexedDB.deleteDatabase(name));
      } catch {}
    },
  };
};
