import { DATABASE, deleteDatabase, openDatabase } from './database.js';
import type { Row, Store } from './store.js';
import { abort, erase, eraseIf, write } from './transaction.js';

/** How long (ms) the database may take to answer before it counts as broken. */
const PATIENCE = 3000;
/** How long (ms) the database rests after a failure. The time doubles with each further failure, up to a minute. */
const FIRST_REST = 1000;
const LONGEST_REST = 60_000;

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
   * Functions to call if the page leaves. Each one aborts a transaction of the last 3 s, or ends a `clear`. After that another set
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
    clear(service, names, isRefused) {
      connection.underWay.delete(deleteDatabase);
      abortAll();
      const { underWay: mine } = connection;
      // A transaction may not outlive the page. The browser goes on with this deletion. The deletion waits for the page's connection,
      // which a page in the back/forward cache does not close, and all other pages would wait behind it.
      if (!isRefused && !connection.isLeaving) mine.add(deleteDatabase);
      change({ generation: connection.generation + 1 });
      const { db = openDatabase(false) } = connection;
      db.then((opened) => {
        const target = opened.transaction(DATABASE, 'readwrite').objectStore(DATABASE);
        const left = isRefused ? eraseIf(isRefused, target, service, names) : erase(target, service, names);
        // As soon as that is done.
        if (connection.db !== db) opened.close();
        return left;
      })
        .catch((cause?: DOMException) => {
          // Another program has a database of this name: it is closed, and not deleted.
          const isForeign = cause?.name === 'NotFoundError';
          if (isForeign) db.then((opened) => opened.close());
          return Number(isForeign);
        })
        .then((left) => {
          // A page that has left meanwhile learns of this when it is back, and other pages may have stored events since. Unless it is
          // in use again: then the visitor has consented meanwhile.
          const isUnused = mine.delete(deleteDatabase) && !left && !mine.size;
          if (!isUnused) return;
          // The next transaction opens the database anew, after the deletion. The deletion would take what this connection writes.
          drop();
          deleteDatabase();
        });
    },
  };
};
