import { promisifyRequest } from 'idb-keyval';

/** The database and the one object store in it. */
export const DATABASE = 'clew';

/**
 * https://w3.org/TR/IndexedDB/#opening
 *
 * @param mayCreate without it, opening a database that does not exist fails and creates none
 * @param onClose called if the connection is closed because the database is deleted, or broken
 */
export const openDatabase = async (mayCreate: boolean, onClose?: () => void): Promise<IDBDatabase> => {
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

export const deleteDatabase = () => {
  try {
    indexedDB.deleteDatabase(DATABASE);
  } catch {}
};
