import { promisifyRequest } from 'idb-keyval';
import type { Entry, Row, RowKey, RowQuery } from './store.js';

/** All keys that begin with the service: a list is higher than any number. */
const rowsOf = (service: string, after: IDBValidKey = [service], isOpen = false) =>
  IDBKeyRange.bound(after, [service, []], isOpen);

/** How many keys are read in one task. */
const KEYS_AT_ONCE = 1000;

/** Whether it could be aborted: a committed transaction cannot. */
export const abort = (transaction: IDBTransaction | undefined): boolean => {
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
 * Runs a transaction step by step, and resolves to its result once it is stored. The function uses no promises inside. Firefox runs a
 * nested event loop in `window.open`, and promise reactions then come after the event, when the transaction is inactive.
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
      // Prototype replaces `Array.prototype.entries`.
      let at = 0;
      for (const key of keys) rows.push([key, values[at++]]);
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

/** Writes entries, and replaces a record by the result of `change`: see `Store.transact`. */
export const write = <T extends object>(
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
export const erase = async (target: IDBObjectStore, service: string, names: readonly string[]): Promise<number> => {
  for (const key of [...names, rowsOf(service)]) target.delete(key);
  const left = target.count();
  commit(target);
  await promisifyRequest(target.transaction);
  return left.result;
};

/** The same, unless the first of the records shows that the refusal is over. */
export const eraseIf = (
  isRefused: (record: unknown) => boolean,
  target: IDBObjectStore,
  service: string,
  names: readonly string[],
): Promise<unknown> =>
  inSteps(target, (when, resolve) => {
    when(target.get(names[0] as string), (record) => {
      for (const key of isRefused(record) ? [...names, rowsOf(service)] : []) target.delete(key);
      commit(target);
      resolve(undefined);
    });
  });
