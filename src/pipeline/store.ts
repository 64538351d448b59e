import { createStore as openStore, promisifyRequest, type UseStore } from 'idb-keyval';
import type { ItemText } from './event.js';

/**
 * A row's place in the order of a service's rows: first by the number of the page load that wrote it, then by the
 * page's own count. Never a time: clocks jump. `tab` keeps keys apart should the numbers start again.
 */
export type RowKey = [service: string, page: number, count: number, tab: string];

/** Items stored together, at most a batch of them. Without items it is a row to delete. */
export type Row = readonly [key: RowKey, items: readonly ItemText[] | undefined];

/** What is written: a row, or a record under its name. */
export type Entry = Row | readonly [name: string, record: object];

/** What the pipeline asks of a store. All tabs of an origin see the same one; no method rejects. */
export interface Store {
  /**
   * One transaction over all tabs: writes rows and named records, then replaces the record `name` by what the pure
   * `change` makes of it. Without `name` it is committed in the call, so that it outlives a page that is going away.
   */
  transact<T>(entries: readonly Entry[], name?: string, change?: (old: T | undefined) => T): Promise<T>;
  /** The oldest rows of a service, enough for a batch. */
  read(service: string): Promise<Row[]>;
  /** Deletes everything. */
  clear(): void;
}

/** Rows read at a time: what makes a batch of single events, and a few more. */
const MOST_ROWS = 210;
/** The database and the one object store in it. */
const DATABASE = 'clew';
/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 3000;

/** Everything is stored as `[key, value]` under its key: so a row is read with its key. */
const transact = async <T>(
  target: IDBObjectStore,
  entries: readonly Entry[],
  name: string,
  change?: (old: T | undefined) => T,
): Promise<T> => {
  const { transaction } = target;
  // A site that deletes its own databases must not be blocked: https://w3.org/TR/IndexedDB/#dom-idbdatabase-onversionchange
  transaction.db.onversionchange = () => transaction.db.close();
  for (const entry of entries) entry[1] ? target.put(entry, entry[0]) : target.delete(entry[0]);
  let value: T | undefined;
  if (change) {
    value = change((await promisifyRequest(target.get(name)))?.[1]);
    target.put([name, value], name);
  }
  // Spares the wait for the last request's event, which a page that is going away never sees.
  transaction.commit?.();
  // Only `complete` means stored: over quota, requests succeed first and then the transaction aborts.
  await promisifyRequest(transaction);
  return value as T;
};

/**
 * IndexedDB, opened anew whenever it fails. Storage that is refused, blocked, hanging or gone costs durability, never an
 * event of this page: what is not in the store is sent from the queue's memory, and records last as long as the page.
 *
 * @param onTrouble told once
 */
export const createStore = (onTrouble: (message: string) => void): Store => {
  const records: Record<string, unknown> = {};
  let use: UseStore = openStore(DATABASE, DATABASE);
  let isTold = false;

  /** Resolves to undefined when the database does not do its work. */
  const attempt = async <T>(work: (target: IDBObjectStore) => Promise<T>) => {
    try {
      const late = new Promise<never>((_, reject) => {
        setTimeout(reject, PATIENCE, 'no answer');
      });
      return await Promise.race([use('readwrite', work), late]);
    } catch (cause) {
      use = openStore(DATABASE, DATABASE);
      if (!isTold) onTrouble(`no storage: ${cause}`);
      isTold = true;
      return undefined;
    }
  };

  return {
    async transact(entries, key = '', change) {
      for (const [record, value] of entries) if (typeof record === 'string') records[record] = value;
      const kept = await attempt((target) => transact(target, entries, key, change));
      records[key] = kept ?? change?.(records[key] as never);
      return records[key] as never;
    },
    read: async (service) =>
      (await attempt((target) =>
        promisifyRequest(target.getAll(IDBKeyRange.bound([service], [service, []]), MOST_ROWS)),
      )) ?? [],
    // Deleted, not emptied: emptying would first have to create it.
    clear() {
      use = openStore(DATABASE, DATABASE);
      try {
        indexedDB.deleteDatabase(DATABASE);
      } catch {}
    },
  };
};
