import { promisifyRequest } from 'idb-keyval';
import type { ItemText } from '../recorder/event.js';

/**
 * The key of a row. Rows of a service are ordered by the number of the page load, then by the page's own count. The key contains
 * no time, because clocks jump. `tab` keeps keys apart if the numbers start again. `size` is for how many events the row counted
 * when it was written first. Rows of earlier versions lack it.
 */
export type RowKey = [service: string, page: number, count: number, tab: string, ...size: number[]];

/** Items that are stored together, at most one batch. A row without items is deleted. */
export type Row = readonly [key: RowKey, items: readonly ItemText[] | undefined];

/** A write: a row, or a record under its name. */
export type Entry = Row | readonly [name: string, record: object];

/**
 * The rows to read: the oldest of a service, with at least `most` items if the store has as many. With `isWanted`, rows for
 * which it returns false count as one item and may lack their items.
 */
export type RowQuery = readonly [service: string, most?: number, isWanted?: (key: RowKey) => boolean];

/** A store of unsent events and named records. All tabs of an origin share one store. No method rejects. */
export interface Store {
  /**
   * Runs one transaction over all tabs. It writes rows and named records, and then replaces the record `name` by the result of
   * the function `change`, unless that is undefined. `change` gets the rows that `query` asks for. If `entries` is a function, it
   * is called after `change` in the same transaction. Without `name`, the transaction is committed within the call, so that it
   * survives the unload. Resolves to the result of `change`, or true, or to undefined if nothing was written.
   */
  transact<T extends object>(
    entries: readonly Entry[] | (() => readonly Entry[]),
    name?: string,
    change?: (old: T | undefined, rows: readonly Row[]) => T | undefined,
    query?: (old: T | undefined) => RowQuery | undefined,
  ): Promise<T | undefined>;
  /** Reads rows in a transaction of its own, also while a full disk refuses writes. */
  read(...query: RowQuery): Promise<readonly Row[]>;
  /**
   * Aborts uncommitted transactions while the page unloads. In the back/forward cache, the page would keep its transaction and
   * block all other tabs, and its own last write would wait, too.
   *
   * @param isKept the browser may keep the page in that cache, so the page must leave no request behind that waits for it
   */
  abort(isKept?: boolean): void;
  /**
   * Deletes the rows of a service and these records, and everything if nothing else is left. Running transactions write nothing more.
   */
  clear(service: string, names: readonly string[]): void;
  /** Whether writes proceed at once, because the database is open. */
  isOpen(): boolean;
  /** A counter. A new number means that stored data may be gone, because the site, the visitor or the browser deleted it. */
  generation(): number;
  /**
   * Takes the place of localStorage, where clew keeps what a page cannot write into the store as it leaves.
   *
   * @default localStorage
   */
  readonly local?: Record<string, string> | undefined;
}

/** The database and the one object store in it. */
const DATABASE = 'clew';
/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 3000;
/** How long (ms) the database rests after a failure. The time doubles with each further failure, up to a minute. */
const FIRST_REST = 1000;
const LONGEST_REST = 60_000;

/** All keys that begin with the service: a list is higher than any number. */
const rowsOf = (service: string, after: IDBValidKey = [service], isOpen = false) =>
  IDBKeyRange.bound(after, [service, []], isOpen);

/** How many keys are read in one task. */
const KEYS_AT_ONCE = 1000;

/** Whether it could be aborted: a committed transaction cannot. */
const abort = (transaction: IDBTransaction | undefined): boolean => {
  try {
    transaction?.abort();
    return true;
  } catch {
    return false;
  }
};

/** Calls a step with the result of a request, in the request's own event. */
type When = <R>(request: IDBRequest<R>, step: (result: R) => void) => void;

/**
 * Runs a transaction step by step, and resolves to its result once it is stored. It uses no promises inside. Firefox runs a nested
 * event loop in `window.open`, and promise reactions then come after the event, when the transaction is inactive.
 */
const inSteps = async <T>(
  { transaction }: IDBObjectStore,
  begin: (when: When, end: (result: T) => void) => void,
): Promise<T> => {
  // Only `complete` means stored: over quota, requests succeed first and then the transaction aborts.
  const completed = promisifyRequest(transaction);
  const ended = new Promise<T>((resolve, reject) => {
    const run = (step: () => void) => {
      try {
        step();
      } catch (cause) {
        reject(cause);
        abort(transaction);
      }
    };
    run(() =>
      begin((request, step) => {
        request.onsuccess = () => run(() => step(request.result));
      }, resolve),
    );
  });
  const [result] = await Promise.all([ended, completed]);
  return result;
};

/**
 * A row holds anything from one item to a batch, and reading copies it. So the first read takes a few rows, and no read takes more
 * than it may need.
 */
const readRows = (
  [service, most = Number.POSITIVE_INFINITY, isWanted]: RowQuery,
  target: IDBObjectStore,
  when: When,
  use: (rows: Row[]) => void,
): void => {
  const rows: Row[] = [];
  const readOn = (left: number, count: number, after?: RowKey): void => {
    const range = rowsOf(service, after, !!after);
    const keysOf = target.getAllKeys(range, count);
    const add = (values: readonly Row[1][]) => {
      const keys = keysOf.result as RowKey[];
      for (const [i, key] of keys.entries()) rows.push([key, values[i]]);
      const rest = left - (isWanted ? keys : values.flat()).length;
      if (rest <= 0 || keys.length < count) use(rows);
      else readOn(rest, isWanted ? count : Math.min(count * 4, rest), keys[count - 1]);
    };
    const addWanted = () => {
      const asked = (keysOf.result as RowKey[]).map((key) => (isWanted?.(key) ? target.get(key) : undefined));
      const addAll = () => add(asked.map((request) => request?.result));
      // Requests are answered in order.
      const last = asked.filter((request) => request).pop();
      if (last) when(last, addAll);
      else addAll();
    };
    if (isWanted) when(keysOf, addWanted);
    else when(target.getAll(range, count), add);
  };
  readOn(most, isWanted ? KEYS_AT_ONCE : 2);
};

/** Spares the wait for the last request's event, which a page that is going away never sees. */
const commit = ({ transaction }: IDBObjectStore): void => {
  transaction.commit?.();
};

const write = <T extends object>(
  target: IDBObjectStore,
  entries: readonly Entry[] | (() => readonly Entry[]),
  name: string,
  change?: (old: T | undefined, rows: readonly Row[]) => T | undefined,
  query?: (old: T | undefined) => RowQuery | undefined,
): Promise<T> => {
  const put = (all: readonly Entry[]) => {
    for (const [key, value] of all) value ? target.put(value, key) : target.delete(key);
  };
  const isLate = typeof entries === 'function';
  return inSteps(target, (when, resolve) => {
    const end = (value?: T) => {
      if (isLate) put(entries());
      if (value) target.put(value, name);
      commit(target);
      resolve(value ?? (true as never));
    };
    if (!isLate) put(entries);
    if (!change) return end();
    when(target.get(name), (old) => {
      const use = (rows: readonly Row[]) => end(change(old, rows));
      const asked = query?.(old);
      if (asked) readRows(asked, target, when, use);
      else use([]);
    });
  });
};

/** Resolves to how much is left. All is asked for within the call, so that a page that leaves has committed it. */
const erase = async (target: IDBObjectStore, service: string, names: readonly string[]): Promise<number> => {
  for (const key of [...names, rowsOf(service)]) target.delete(key);
  const left = target.count();
  commit(target);
  await promisifyRequest(target.transaction);
  return left.result;
};

/**
 * https://w3.org/TR/IndexedDB/#opening
 *
 * @param mayCreate without it, opening a database that does not exist fails and creates none
 * @param onClose called if the connection is closed because the database is deleted, or broken
 */
const openDatabase = async (mayCreate: boolean, onClose?: () => void): Promise<IDBDatabase> => {
  const request = indexedDB.open(DATABASE);
  request.onupgradeneeded = () =>
    mayCreate ? request.result.createObjectStore(DATABASE) : request.transaction?.abort();
  const opening = promisifyRequest(request);
  // A database that is half open in the back/forward cache is shut for all other pages. A lock keeps the page out of that cache, or
  // the next request for the lock evicts the page. Plain http has no locks, and sandboxed frames refuse them.
  (navigator.locks as LockManager | undefined)?.request(DATABASE, () => opening).catch(() => {});
  const db = await opening;
  // A site that deletes its own databases must not be blocked, and a browser does not ask:
  // https://w3.org/TR/IndexedDB/#dom-idbdatabase-onversionchange, https://w3.org/TR/IndexedDB/#eventdef-idbdatabase-close
  db.onclose = db.onversionchange = () => {
    db.close();
    onClose?.();
  };
  return db;
};

const deleteDatabase = () => {
  try {
    indexedDB.deleteDatabase(DATABASE);
  } catch {}
};

/** The connection of this page to the database. Each change replaces it as a whole. */
interface Connection {
  /** The database while it is opening or open. */
  readonly db?: Promise<IDBDatabase> | undefined;
  /** Whether the last transaction has succeeded. */
  readonly isOpen?: boolean;
  /** Whether nothing is written for a while, because the database has failed. */
  readonly isResting?: boolean;
  /** Whether nothing is read meanwhile, either: the database does not only refuse writes. */
  readonly isShut?: boolean;
  /** Whether a failure has been reported. */
  readonly isReported?: boolean;
  /** Whether the page is going away: it opens no database any more. */
  readonly isLeaving?: boolean;
  /** How often in a row the database has failed, also when opened anew. */
  readonly fails: number;
  /** Counts the connections that this page has given up, and its calls of `clear`. */
  readonly generation: number;
  /**
   * Functions to call if the page leaves. They abort the transactions of the last 3 s, or end a `clear`. After that another set
   * takes the place of this one, so a step that finds another set has been aborted, too.
   */
  readonly underWay: Set<() => void>;
}

/**
 * IndexedDB, opened anew when it fails. The storage may be refused, blocked, hanging or gone. Then events are less durable, but
 * none of this page is lost: the queue's memory has the events that the store lacks.
 *
 * @param onTrouble called once
 */
export const createStore = (onTrouble: (message: string) => void): Store => {
  let connection: Connection = { fails: 0, generation: 0, underWay: new Set() };

  const change = (to: Partial<Connection>) => {
    connection = { ...connection, ...to };
  };

  /** A connection that is still being opened is closed as soon as it can be. */
  const drop = () => {
    connection.db?.then((db) => db.close()).catch(() => {});
    change({ db: undefined, isOpen: false, generation: connection.generation + 1 });
  };

  /** Leaves the database alone for a while. */
  const rest = (cause: unknown, isShut: boolean) => {
    const { fails, isReported, isResting } = connection;
    change({ isShut });
    if (isResting) return;
    if (!isReported) onTrouble(`no storage: ${cause}`);
    change({ isResting: true, isReported: true, fails: fails + 1 });
    setTimeout(change, Math.min(FIRST_REST * 2 ** fails, LONGEST_REST), { isResting: false, isShut: false });
  };

  /** Runs the work in a transaction of this connection. Rejects if that takes too long. */
  const run = <T>(
    db: Promise<IDBDatabase>,
    mine: Connection['underWay'],
    work: (target: IDBObjectStore) => Promise<T>,
  ) =>
    new Promise<T>((resolve, reject) => {
      let transaction: IDBTransaction | undefined;
      const giveUp = () => {
        mine.delete(giveUp);
        // A committed transaction is not given up.
        if (abort(transaction)) reject('timeout');
      };
      mine.add(giveUp);
      setTimeout(giveUp, PATIENCE);
      db.then((opened) => {
        // The connection has been dropped meanwhile, or the work aborted: neither is a failure, so the cause is never reported.
        if (connection.db !== db || connection.underWay !== mine) return reject() as never;
        transaction = opened.transaction(DATABASE, 'readwrite');
        return work(transaction.objectStore(DATABASE));
      }).then(resolve, reject);
    });

  /** Resolves to undefined when the database does not do its work, not even when opened anew. */
  const attempt = async <T>(
    work: (target: IDBObjectStore) => Promise<T>,
    isRead?: boolean,
    isLast = connection.fails > 0,
  ): Promise<T | undefined> => {
    const { underWay: mine, isResting, isShut, isLeaving } = connection;
    // A database that a page begins to open on its path into the back/forward cache stays half open, and shut for all other pages.
    if ((isRead ? isShut : isResting) || (isLeaving && !connection.db)) return undefined;
    const db =
      connection.db ??
      openDatabase(true, () => {
        if (connection.db === db) drop();
      });
    change({ db });
    return run(db, mine, work).then(
      (result) => {
        // A full disk can be read.
        if (connection.db === db && !isRead) change({ isOpen: true, fails: 0 });
        return result;
      },
      (cause) => {
        // The caller that aborted the work wants nothing more to be written.
        if (connection.underWay !== mine) return undefined;
        // If many transactions fail at once, only the first drops the connection that they all used.
        if (connection.db === db) {
          drop();
          if (isLast) rest(cause, isRead || cause === 'timeout');
        }
        return isLast ? undefined : attempt(work, isRead, true);
      },
    );
  };

  /** Aborts all transactions that are not committed. */
  const abortAll = () => {
    const { underWay: aborted } = connection;
    change({ underWay: new Set() });
    for (const abort of aborted) abort();
  };

  return {
    transact(entries, name = '', ...edit) {
      // A page that asks for a record is open, perhaps after the back/forward cache.
      if (name) change({ isLeaving: false });
      return attempt((target) => write(target, entries, name, ...edit));
    },
    async read(...query) {
      let rows: readonly Row[] = [];
      const take = (_old: unknown, found: readonly Row[]) => {
        rows = found;
        return undefined;
      };
      await attempt((target) => write(target, [], '', take, () => query), true);
      return rows;
    },
    abort(isKept) {
      if (isKept) connection.underWay.delete(deleteDatabase);
      change({ isLeaving: true });
      abortAll();
    },
    // A write does not wait for a database that has failed again after a rest. Until then, it may be back at once.
    isOpen: () => connection.isOpen || connection.fails > 1,
    generation: () => connection.generation,
    clear(service, names) {
      connection.underWay.delete(deleteDatabase);
      abortAll();
      const { underWay: mine } = connection;
      // A transaction may not outlive the page. The browser goes on with this. It waits for the page's connection, which a page in
      // the back/forward cache does not close, and all other pages would wait behind it.
      if (!connection.isLeaving) mine.add(deleteDatabase);
      change({ generation: connection.generation + 1 });
      const { db = openDatabase(false) } = connection;
      db.then((opened) => {
        const left = erase(opened.transaction(DATABASE, 'readwrite').objectStore(DATABASE), service, names);
        // As soon as that is done.
        if (connection.db !== db) opened.close();
        return left;
      })
        .catch(() => 0)
        .then((left) => {
          mine.delete(deleteDatabase);
          // Unless it is in use again: then the visitor has consented meanwhile.
          if (!left && !mine.size) deleteDatabase();
        });
    },
  };
};
