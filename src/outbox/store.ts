import { promisifyRequest } from 'idb-keyval';
import type { ItemText } from '../recorder/event.js';

/**
 * The key of a row. Rows of a service are ordered by the number of the page load, then by the page's own count. The key contains
 * no time, because clocks jump. `tab` keeps keys apart if the numbers start again.
 */
export type RowKey = [service: string, page: number, count: number, tab: string];

/** Items that are stored together, at most one batch. A row without items is deleted. */
export type Row = readonly [key: RowKey, items: readonly ItemText[] | undefined];

/** A write: a row, or a record under its name. */
export type Entry = Row | readonly [name: string, record: object];

/** Reads the oldest rows of a service, with at least `most` items if the store has as many. */
export type ReadRows = (service: string, most?: number) => Promise<Row[]>;

/** A store of unsent events and named records. All tabs of an origin share one store. No method rejects. */
export interface Store {
  /**
   * Runs one transaction over all tabs. It writes rows and named records, and then replaces the record `name` by the result of
   * the pure function `change`. `change` may read rows and must not wait for anything else. Without `name`, the transaction is
   * committed within the call, so that it survives the unload. Resolves to the result of `change`, or true, or to undefined if
   * nothing was written.
   */
  transact<T extends object>(
    entries: readonly Entry[],
    name?: string,
    change?: (old: T | undefined, read: ReadRows) => T | Promise<T>,
  ): Promise<T | undefined>;
  /** Reads rows in a transaction of its own. */
  read: ReadRows;
  /**
   * Aborts uncommitted transactions while the page unloads. In the back/forward cache, the page would keep its transaction and
   * block all other tabs, and its own last write would wait, too.
   */
  abort(): void;
  /** Deletes everything. */
  clear(): void;
  /** Whether writes proceed at once, because the database is open. */
  isOpen(): boolean;
  /** A counter. A new number means that stored data may be gone, because the site, the visitor or the browser deleted it. */
  generation(): number;
}

/** The database and the one object store in it. */
const DATABASE = 'clew';
/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 3000;

/**
 * A row holds anything from one item to a batch, and to read is to copy: at first but a few are read, and never more than
 * may be needed.
 */
const readerOf =
  (target: IDBObjectStore): ReadRows =>
  async (service, most = Number.POSITIVE_INFINITY) => {
    const rows: Row[] = [];
    let after: IDBValidKey = [service];
    for (let count = 2; ; count = Math.min(count * 4, most)) {
      // All keys that begin with the service: a list is higher than any number.
      const range = IDBKeyRange.bound(after, [service, []], count > 2);
      const [keys, values] = await Promise.all([
        promisifyRequest(target.getAllKeys(range, count)),
        promisifyRequest(target.getAll(range, count)),
      ]);
      for (const [i, items] of values.entries()) rows.push([keys[i] as RowKey, items]);
      most -= values.flat().length;
      if (most <= 0 || keys.length < count) return rows;
      after = keys[count - 1] as IDBValidKey;
    }
  };

const write = async <T extends object>(
  target: IDBObjectStore,
  entries: readonly Entry[],
  name: string,
  change?: (old: T | undefined, read: ReadRows) => T | Promise<T>,
): Promise<T> => {
  for (const [key, value] of entries) value ? target.put(value, key) : target.delete(key);
  const value = change && (await change(await promisifyRequest(target.get(name)), readerOf(target)));
  if (value) target.put(value, name);
  // Spares the wait for the last request's event, which a page that is going away never sees.
  target.transaction.commit?.();
  // Only `complete` means stored: over quota, requests succeed first and then the transaction aborts.
  await promisifyRequest(target.transaction);
  return value ?? (true as never);
};

/** https://w3.org/TR/IndexedDB/#opening */
const openDatabase = (): Promise<IDBDatabase> => {
  const request = indexedDB.open(DATABASE);
  request.onupgradeneeded = () => request.result.createObjectStore(DATABASE);
  const opening = promisifyRequest(request);
  // Half open in the back/forward cache it is shut for all other pages. Who holds a lock does not go there, or is thrown out
  // by the next who asks for it; plain http has none, sandboxed frames refuse it.
  (navigator.locks as LockManager | undefined)?.request(DATABASE, () => opening).catch(() => {});
  return opening;
};

/**
 * IndexedDB, opened anew whenever it fails. Storage that is refused, blocked, hanging or gone costs durability, never an
 * event of this page: what is not in the store is sent from the queue's memory.
 *
 * @param onTrouble told once
 */
export const createStore = (onTrouble: (message: string) => void): Store => {
  let database: Promise<IDBDatabase> | undefined;
  let isTold = false;
  let isLeaving = false;
  let underWay = new Set<() => void>();
  let generation = 0;
  let isOpen = false;
  const forget = () => {
    database = undefined;
    isOpen = false;
    generation++;
  };

  /** Resolves to undefined when the database does not do its work, not even when opened anew. */
  const attempt = <T>(work: (target: IDBObjectStore) => Promise<T>, isLast = isTold): Promise<T | undefined> =>
    new Promise<T | undefined>((resolve, reject) => {
      // What a page begins to open as it goes into the back/forward cache stays half open, and shut for all other pages.
      if (isLeaving && !database) return resolve(undefined);
      setTimeout(reject, PATIENCE, 'timeout');
      const mine = underWay;
      database ??= openDatabase();
      database
        .then(async (db) => {
          // A site that deletes its own databases must not be blocked, and a browser does not ask:
          // https://w3.org/TR/IndexedDB/#dom-idbdatabase-onversionchange, https://w3.org/TR/IndexedDB/#eventdef-idbdatabase-close
          db.onclose = db.onversionchange = () => {
            db.close();
            forget();
          };
          isOpen = true;
          if (mine !== underWay) return resolve(undefined) as never;
          const transaction = db.transaction(DATABASE, 'readwrite');
          const breakOff = () => {
            // Throws when it is committed already.
            transaction.abort();
            resolve(undefined);
          };
          mine.add(breakOff);
          const result = await work(transaction.objectStore(DATABASE));
          mine.delete(breakOff);
          return result;
        })
        .then(resolve, reject);
    }).catch((cause) => {
      forget();
      if (!isLast) return attempt(work, true);
      if (!isTold) onTrouble(`no storage: ${cause}`);
      isTold = true;
      return undefined;
    });

  return {
    transact(entries, name = '', change) {
      // A page that asks for a record is there, again.
      isLeaving &&= !name;
      return attempt((target) => write(target, entries, name, change));
    },
    read: async (...what) => (await attempt((target) => readerOf(target)(...what))) ?? [],
    abort() {
      isLeaving = true;
      const broken = underWay;
      underWay = new Set();
      for (const breakOff of broken) {
        try {
          breakOff();
        } catch {}
      }
    },
    // Nor by one that there is not.
    isOpen: () => isOpen || isTold,
    generation: () => generation,
    // Deleted, not emptied: emptying would first have to create it.
    clear() {
      forget();
      try {
        indexedDB.deleteDatabase(DATABASE);
      } catch {}
    },
  };
};
