import type { World } from '../world/world.ts';
import { clone } from './clone.ts';
import type { Connection, Disk, Transaction } from './disk.ts';
import { isRange, type Key, type KeyRange } from './keys.ts';
import type { Page } from './page.ts';

type Listener = ((event: unknown) => void) | null;

/** An `IDBRequest`. idb-keyval and clew set its listeners as properties. */
interface PageRequest {
  result?: unknown;
  error?: Error;
  onsuccess?: Listener;
  onerror?: Listener;
  onupgradeneeded?: Listener;
  onblocked?: Listener;
  /** Set if the database is created: `abort` ends the upgrade. */
  transaction?: { abort(): void };
}

/**
 * `indexedDB` of one page, on the disk that all pages of the origin share. https://w3.org/TR/IndexedDB/
 *
 * @param onWrite called with each value that the page puts
 */
export const createIndexedDb = (world: World, disk: Disk, page: Page, onWrite: (value: unknown) => void) => {
  const { scheduler } = world;
  /** A task of the page that dispatches an event. */
  const dispatch = (label: string, run: () => void, lane = page.databaseLane) =>
    scheduler.after(0, `${page.name} ${label}`, () => page.guard(run), { owner: page, lane });

  /** A transaction commits itself at the end of the page's task if the page has seen the results of all its requests. */
  const commitIfIdle = (transaction: Transaction) =>
    scheduler.next('auto-commit', () => {
      if (page.state !== 'running') return;
      if (transaction.state === 'open' && !transaction.requests[0] && !transaction.unseen) disk.commit(transaction);
    });

  const createTransaction = () => {
    const settle = (kind: 'oncomplete' | 'onabort', error?: Error) =>
      dispatch(kind.slice(2), () => {
        facade.error = error ?? null;
        facade[kind]?.({ target: facade });
      });
    const transaction: Transaction = {
      page,
      state: 'open',
      requests: [],
      isBusy: false,
      unseen: 0,
      undo: [],
      written: [],
      complete: () => void settle('oncomplete'),
      abort: (cause) => void settle('onabort', cause),
    };
    const add = (work: () => unknown): PageRequest => {
      if (transaction.state !== 'open') throw new DOMException('transaction has ended', 'TransactionInactiveError');
      const request: PageRequest = {};
      disk.request(transaction, {
        work,
        succeed(result) {
          const seen = () => {
            transaction.unseen--;
            request.result = result;
            request.onsuccess?.({ target: request });
            commitIfIdle(transaction);
          };
          dispatch('success', seen);
        },
        fail: (cause) =>
          void dispatch('error', () => {
            request.error = cause;
            request.onerror?.({ target: request });
          }),
      });
      return request;
    };
    const rows = () => {
      const found = disk.rows();
      if (!found) throw new Error('no database');
      return found;
    };
    const write = (key: Key, value: unknown) => {
      const undo = rows().set(key, value);
      transaction.undo.push(undo);
      transaction.written.push(key);
      return key;
    };
    const remove = (key: Key | KeyRange) => {
      const keys = isRange(key) ? rows().range(key, Number.POSITIVE_INFINITY) : [[clone(key)] as const];
      for (const [one] of keys) write(one, undefined);
    };
    const store = {
      get: (key: Key) => add(() => clone(rows().get(key))),
      put: (value: unknown, key: Key) => {
        const copy = clone(value);
        const at = clone(key);
        onWrite(copy);
        return add(() => write(at, copy));
      },
      delete: (key: Key | KeyRange) => add(() => remove(key)),
      getAll: (range?: KeyRange, most = Number.POSITIVE_INFINITY) =>
        add(() =>
          clone(
            rows()
              .range(range, most)
              .map(([, value]) => value),
          ),
        ),
      getAllKeys: (range?: KeyRange, most = Number.POSITIVE_INFINITY) =>
        add(() =>
          clone(
            rows()
              .range(range, most)
              .map(([key]) => key),
          ),
        ),
      count: () => add(() => rows().size()),
      get transaction() {
        return facade;
      },
    };
    const facade = {
      oncomplete: null as Listener,
      onabort: null as Listener,
      onerror: null as Listener,
      error: null as Error | null,
      objectStore: () => store,
      commit() {
        if (transaction.state !== 'open') throw new DOMException('transaction has ended', 'InvalidStateError');
        disk.commit(transaction);
      },
      abort() {
        if (transaction.state !== 'open') throw new DOMException('transaction has ended', 'InvalidStateError');
        disk.abort(transaction, new DOMException('aborted by the page', 'AbortError'));
      },
    };
    // Microtasks of a page that has just gone may still run. The browser ignores their requests.
    if (page.state === 'gone') transaction.state = 'ended';
    else disk.begin(transaction);
    commitIfIdle(transaction);
    return facade;
  };

  const connect = () => {
    const connection: Connection = {
      page,
      isOpen: true,
      versionChange: () => void dispatch('versionchange', () => database.onversionchange?.({ target: database })),
      closed: () => void dispatch('close', () => database.onclose?.({ target: database })),
    };
    const database = {
      onversionchange: null as Listener,
      onclose: null as Listener,
      createObjectStore: () => disk.create(),
      transaction() {
        if (!connection.isOpen) throw new DOMException('connection is closed', 'InvalidStateError');
        return createTransaction();
      },
      close() {
        connection.isOpen = false;
        disk.connections.delete(connection);
      },
    };
    disk.connections.add(connection);
    return database;
  };

  return {
    open(): PageRequest {
      if (disk.isRefused || page.refusal === 'all') throw new DOMException('refused', 'SecurityError');
      const request: PageRequest = {};
      if (page.state === 'gone') return request;
      if (page.refusal === 'database') {
        request.error = new DOMException('refused', 'InvalidStateError');
        dispatch('error', () => request.onerror?.({ target: request }));
        return request;
      }
      const succeed = () => dispatch('open', () => request.onsuccess?.({ target: request }));
      disk.enqueue({
        page,
        begin() {
          const database = connect();
          request.result = database;
          // Other pages do not wait until this one has seen its connection: the page may be frozen.
          if (disk.rows()) {
            succeed();
            return void disk.opened();
          }
          const fail = () =>
            dispatch('error', () => {
              request.onerror?.({ target: request });
              disk.opened();
            });
          const abort = () => {
            database.close();
            request.error = new DOMException('aborted by the page', 'AbortError');
          };
          request.transaction = { abort };
          dispatch('upgradeneeded', () => {
            request.onupgradeneeded?.({ target: request });
            if (request.error) return void fail();
            succeed();
            disk.opened();
          });
        },
      });
      return request;
    },
    deleteDatabase(): PageRequest {
      if (page.refusal === 'all') throw new DOMException('refused', 'SecurityError');
      const request: PageRequest = {};
      disk.enqueue({
        // The browser deletes the database even if the page is gone.
        page: undefined,
        begin() {
          const remove = (isFirst: boolean) => {
            for (const connection of [...disk.connections]) {
              const { state, isFrozen, isStalled } = connection.page;
              if (state === 'suspended') connection.page.evict();
              // A page that was frozen runs again, and still has its connection.
              if (isStalled || state !== 'suspended' ? isFirst : isFrozen) connection.versionChange();
            }
            // A connection that is closed still has its transactions.
            if (disk.holder()?.state === 'suspended') disk.holder()?.evict();
            if (disk.connections.size || disk.holder())
              return void scheduler.after(10, 'delete waits', () => remove(false));
            disk.remove();
            dispatch('deleted', () => request.onsuccess?.({ target: request }));
            disk.opened();
          };
          remove(true);
        },
      });
      return request;
    },
  };
};
