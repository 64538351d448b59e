// @module-tag promise
import { IDBDatabase, IDBFactory, IDBKeyRange, IDBObjectStore, IDBRequest, IDBTransaction } from 'fake-indexeddb';
import { promisifyRequest } from 'idb-keyval';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStore } from '../../src/outbox/indexedDb.ts';
import type { Row, RowKey, Store } from '../../src/outbox/store.ts';
import { times } from '../recorder/items.ts';

vi.hoisted(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

/** How long (ms) the database may take to answer. */
const PATIENCE = 3000;

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  vi.stubGlobal('navigator', {});
});
afterEach(() => {
  vi.clearAllTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const open = () => {
  const troubles: string[] = [];
  return { store: createStore((message) => troubles.push(message)), troubles };
};
const key = (count: number, page = 1, service = '/clew', tab = 'tab'): RowKey => [service, page, count, tab];
const row = (count: number, ...items: string[]): Row => [key(count), items];
const counts = (rows: readonly Row[]) => rows.map(([[, , count]]) => count);
type Counted = { n: number };
/** The records of the service `/clew`, and of its visitor. */
const RECORDS = ['visitor', 'link /clew'];
const nothingIsLeft = () => vi.waitFor(async () => expect(await indexedDB.databases()).toEqual([]));
/** Another tab begins a transaction, which lasts until the returned function is called. */
const hold = async (): Promise<() => void> => {
  let isHeld = true;
  const request = indexedDB.open('clew');
  const db = await new Promise<IDBDatabase>((resolve) => {
    request.onsuccess = () => resolve(request.result);
  });
  db.onversionchange = () => db.close();
  const target = db.transaction('clew', 'readwrite').objectStore('clew');
  const ask = () => {
    if (isHeld) target.get('none').onsuccess = ask;
  };
  ask();
  return () => {
    isHeld = false;
  };
};
/** A record, or true if there is none. */
const recordIn = (store: Store, name: string) => store.transact<object>([], name, (old) => old as object);

describe('the database', () => {
  it('keeps rows and records for other tabs and later pages', async () => {
    const { store, troubles } = open();
    expect(await store.transact([row(1, 'a', 'b'), ['visitor', { thread: 'x' }]])).toBe(true);
    const { store: other } = open();
    expect(await other.read('/clew')).toEqual([row(1, 'a', 'b')]);
    expect(await recordIn(other, 'visitor')).toEqual({ thread: 'x' });
    expect(troubles).toEqual([]);
  });

  it('returns the rows of one service, in order of page and count', async () => {
    const { store } = open();
    const keys = [key(10), key(9), key(2, 2), key(1, 10), key(1, 1, '/clew2'), key(1, 1, '/cle')];
    await store.transact(keys.map((one) => [one, ['item']] as const));
    expect((await store.read('/clew')).map(([found]) => found)).toEqual([key(9), key(10), key(2, 2), key(1, 10)]);
  });

  it.each([1, 2, 3, 7, 8, 9, 40, 100])('returns all of %i rows, each once', async (count) => {
    const { store } = open();
    await store.transact(times(count, (i) => row(i, `item ${i}`)));
    expect(counts(await store.read('/clew'))).toEqual(times(count, (i) => i));
  });

  it('reads on until it has the wanted number of items, and few more', async () => {
    const { store } = open();
    await store.transact(times(100, (i) => row(i, 'a', 'b')));
    const { IDBObjectStore } = await import('fake-indexeddb');
    const asked = vi.spyOn(IDBObjectStore.prototype, 'getAll');
    const rows = await store.read('/clew', 20);
    expect(rows.length * 2).toBeGreaterThanOrEqual(20);
    expect(counts(rows)).toEqual(times(rows.length, (i) => i));
    expect(asked.mock.calls.map(([, count]) => count)).toEqual([2, 8]);
    asked.mockClear();
    await store.read('/clew', 3);
    expect(asked.mock.calls.map(([, count]) => count)).toEqual([2]);
  });

  it('deletes a row that is written without items', async () => {
    const { store } = open();
    await store.transact([row(1, 'a'), row(2, 'b')]);
    await store.transact([[key(1), undefined]]);
    expect(counts(await store.read('/clew'))).toEqual([2]);
  });

  it('changes a record from its old value and the rows of the same transaction', async () => {
    const { store } = open();
    const change = (old: Counted | undefined, rows: readonly Row[]): Counted => ({ n: (old?.n ?? 0) + rows.length });
    const all = () => ['/clew'] as const;
    expect(await store.transact<Counted>([row(1, 'a')], 'count', change, all)).toEqual({ n: 1 });
    expect(await store.transact<Counted>([row(2, 'b')], 'count', change, all)).toEqual({ n: 3 });
    expect(await recordIn(store, 'count')).toEqual({ n: 3 });
  });

  it('places each request in the event of the one before, as Firefox needs it during `window.open`', async () => {
    const { store, troubles } = open();
    await store.transact(times(12, (i) => row(i, 'a')));
    let isActive = false;
    const dispatch = IDBRequest.prototype.dispatchEvent;
    vi.spyOn(IDBRequest.prototype, 'dispatchEvent').mockImplementation(function (this: IDBRequest, event) {
      isActive = true;
      const isDefault = dispatch.call(this, event);
      // The event ends before the microtasks, which a nested event loop delays.
      isActive = false;
      return isDefault;
    });
    const begin = IDBDatabase.prototype.transaction;
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...what) {
      isActive = true;
      queueMicrotask(() => {
        isActive = false;
      });
      return begin.apply(this, what);
    });
    for (const name of ['put', 'delete', 'get', 'getAll', 'getAllKeys', 'count'] as const) {
      const ask = IDBObjectStore.prototype[name] as (...args: unknown[]) => IDBRequest;
      vi.spyOn(IDBObjectStore.prototype, name).mockImplementation(function (this: IDBObjectStore, ...args: unknown[]) {
        if (!isActive) throw new DOMException(name, 'TransactionInactiveError');
        return ask.apply(this, args);
      });
    }
    const count = (_old: unknown, rows: readonly Row[]) => ({ n: rows.length });
    for (const query of [['/clew'], ['/clew', 5], ['/clew', 20, () => true]] as const)
      expect((await store.transact<Counted>([], 'count', count, () => query))?.n).toBeGreaterThan(4);
    expect(await store.read('/clew')).toHaveLength(12);
    expect(
      await store.transact(
        () => [[key(1), undefined]],
        'count',
        count,
        () => ['/clew'],
      ),
    ).toEqual({ n: 12 });
    store.clear('/clew', ['count']);
    await nothingIsLeft();
    expect(troubles).toEqual([]);
  });

  it('runs the changes of all tabs one after the other', async () => {
    const stores = times(4, () => open().store);
    const add = (old: Counted | undefined) => ({ n: (old?.n ?? 0) + 1 });
    await Promise.all(stores.flatMap((store) => times(5, () => store.transact<Counted>([], 'count', add))));
    expect(await recordIn(stores[0] as Store, 'count')).toEqual({ n: 20 });
  });

  it('commits during the call once it is open', async () => {
    const commits = vi.spyOn(IDBTransaction.prototype, 'commit');
    const { store } = open();
    expect(store.isOpen()).toBe(false);
    await store.transact([row(1, 'a')]);
    expect(store.isOpen()).toBe(true);
    expect(commits).toHaveBeenCalledTimes(1);
    store.transact([row(2, 'b')]);
    // The connection is a promise, and so takes a few microtasks.
    for (let i = 0; i < 3; i++) await Promise.resolve();
    expect(commits).toHaveBeenCalledTimes(2);
  });

  it('is not opened before something is stored or read', () => {
    const opened = vi.spyOn(indexedDB, 'open');
    open();
    expect(opened).not.toHaveBeenCalled();
  });

  it('opens under a Web Lock, so that the page cannot enter the back/forward cache meanwhile', async () => {
    const request = vi.fn(async (_name: string, hold: () => Promise<unknown>) => hold());
    vi.stubGlobal('navigator', { locks: { request } });
    const { store } = open();
    await store.transact([row(1, 'a')]);
    await store.transact([row(2, 'b')]);
    expect(request.mock.calls.map(([name]) => name)).toEqual(['clew']);
  });

  it('works if a Web Lock is refused', async () => {
    vi.stubGlobal('navigator', { locks: { request: () => Promise.reject(new Error('SecurityError')) } });
    const { store, troubles } = open();
    expect(await store.transact([row(1, 'a')])).toBe(true);
    expect(troubles).toEqual([]);
  });
});

describe('a database that fails', () => {
  it('is opened again, once, without a report', async () => {
    const opened = vi.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
      throw new Error('UnknownError');
    });
    const { store, troubles } = open();
    const before = store.generation();
    expect(await store.transact([row(1, 'a')])).toBe(true);
    expect(opened).toHaveBeenCalledTimes(2);
    expect(store.generation()).not.toBe(before);
    expect(troubles).toEqual([]);
  });

  it('is reported once, and writes and finds nothing', async () => {
    vi.stubGlobal('indexedDB', {
      open() {
        throw new Error('SecurityError');
      },
    });
    const { store, troubles } = open();
    expect(await store.transact([row(1, 'a')])).toBeUndefined();
    expect(await store.transact([], 'link', () => ({ n: 1 }))).toBeUndefined();
    expect(await store.read('/clew')).toEqual([]);
    // After one failure the database may be back at once, so writes still wait for it.
    expect(store.isOpen()).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await store.read('/clew')).toEqual([]);
    expect(troubles).toEqual(['no storage: Error: SecurityError']);
    expect(store.isOpen()).toBe(true);
  });

  it('is tried again after 1 s, doubling to a minute, and works again later', async () => {
    const { open: real } = IDBFactory.prototype;
    const opened = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new Error('SecurityError');
    });
    const { store } = open();
    await store.read('/clew');
    expect(opened).toHaveBeenCalledTimes(2);
    for (const [tries, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
      await store.read('/clew');
      expect(opened).toHaveBeenCalledTimes(2 + tries);
      await vi.advanceTimersByTimeAsync(1);
      await store.read('/clew');
      expect(opened).toHaveBeenCalledTimes(3 + tries);
    }
    opened.mockImplementation(function (this: IDBFactory, ...what) {
      return real.apply(this, what) as never;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await store.transact([row(1, 'a')])).toBe(true);
    expect(await store.transact([row(2, 'b')])).toBe(true);
    expect(opened).toHaveBeenCalledTimes(11);
  });

  it('is opened anew at once after a single failure, although it has failed before and worked since', async () => {
    let failures = 2;
    const { commit } = IDBTransaction.prototype;
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      if (failures-- > 0) this.abort();
      else commit.call(this);
    });
    const opened = vi.spyOn(indexedDB, 'open');
    const { store, troubles } = open();
    expect(await store.transact([row(1, 'a')])).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await store.transact([row(2, 'b')])).toBe(true);
    expect([opened.mock.calls.length, troubles.length]).toEqual([3, 1]);
    failures = 1;
    expect(await store.transact([row(3, 'c')])).toBe(true);
    expect(opened).toHaveBeenCalledTimes(4);
    expect(counts(await store.read('/clew'))).toEqual([2, 3]);
    // The rest after a failure has its first length again.
    failures = 2;
    expect(await store.transact([row(4, 'd')])).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await store.transact([row(5, 'e')])).toBe(true);
  });

  it('is opened a few times if it is over quota during 600 writes, and no connection stays open', async () => {
    const opened = vi.spyOn(indexedDB, 'open');
    const closed = vi.spyOn(IDBDatabase.prototype, 'close');
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      this.abort();
    });
    const { store, troubles } = open();
    for (let i = 0; i < 600; i += 100) await Promise.all(times(100, (n) => store.transact([row(i + n, 'a')])));
    expect(opened.mock.calls.length).toBeLessThan(4);
    const before = opened.mock.calls.length;
    await vi.advanceTimersByTimeAsync(1000);
    await store.transact([row(1, 'a')]);
    expect(opened.mock.calls.length).toBe(before + 1);
    expect(closed).toHaveBeenCalledTimes(opened.mock.calls.length);
    expect(troubles).toHaveLength(1);
  });

  it('can be read while it is over quota, and is written again after 1 s, doubling', async () => {
    const full = open().store;
    await full.transact([row(1, 'a')]);
    const isWriting = new WeakSet<IDBTransaction>();
    const { put } = IDBObjectStore.prototype;
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...what) {
      isWriting.add(this.transaction);
      return put.apply(this, what);
    });
    const { commit } = IDBTransaction.prototype;
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      if (isWriting.has(this)) this.abort();
      else commit.call(this);
    });
    const { store } = open();
    const puts = vi.mocked(IDBObjectStore.prototype.put).mock.calls;
    for (const seconds of [1, 2, 4]) {
      expect(await store.transact([row(2, 'b')])).toBeUndefined();
      const { length } = puts;
      for (const wait of [0, seconds * 1000 - 1]) {
        await vi.advanceTimersByTimeAsync(wait);
        expect(counts(await store.read('/clew'))).toEqual([1]);
        expect(await store.transact([row(2, 'b')])).toBeUndefined();
      }
      expect(puts.length).toBe(length);
      await vi.advanceTimersByTimeAsync(1);
    }
  });

  it('is closed if it opens after it was given up', async () => {
    const closed = vi.spyOn(IDBDatabase.prototype, 'close');
    const real = indexedDB.open.bind(indexedDB);
    const requests: IDBOpenDBRequest[] = [];
    vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      const request = {} as IDBOpenDBRequest;
      requests.push(request);
      return request;
    });
    const { store } = open();
    const written = store.transact([row(1, 'a')]);
    await vi.advanceTimersByTimeAsync(2 * PATIENCE);
    expect(await written).toBeUndefined();
    for (const request of requests) {
      const opening = real('clew');
      opening.onupgradeneeded = () => opening.result.createObjectStore('clew');
      const result = await new Promise((resolve) => {
        opening.onsuccess = () => resolve(opening.result);
      });
      Object.defineProperty(request, 'result', { value: result });
      request.onsuccess?.(new Event('success'));
    }
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
    vi.mocked(indexedDB.open).mockRestore();
    expect(await open().store.read('/clew')).toEqual([]);
  });

  it('writes nothing after it was given up, although another tab lets go of it later', async () => {
    const { store, troubles } = open();
    await store.transact([row(1, 'a')]);
    const release = await hold();
    const changed = vi.fn(() => ({ n: 1 }));
    const written = store.transact<Counted>([row(2, 'b')], 'count', changed);
    await vi.advanceTimersByTimeAsync(2 * PATIENCE);
    expect(await written).toBeUndefined();
    expect(troubles).toEqual(['no storage: timeout']);
    release();
    expect(counts(await open().store.read('/clew'))).toEqual([1]);
    expect(await recordIn(open().store, 'count')).toBe(true);
    expect(changed).not.toHaveBeenCalled();
  });

  it('keeps a write that is committed when another tab holds the database for more than 3 s', async () => {
    const { store, troubles } = open();
    await store.transact([row(1, 'a')]);
    const release = await hold();
    const written = store.transact([row(2, 'b')]);
    await vi.advanceTimersByTimeAsync(4500);
    release();
    expect(await written).toBe(true);
    expect(troubles).toEqual([]);
    expect(counts(await store.read('/clew'))).toEqual([1, 2]);
  });

  it('counts as failed when it does not answer for 3 s', async () => {
    vi.spyOn(indexedDB, 'open').mockImplementation(() => ({}) as IDBOpenDBRequest);
    const { store, troubles } = open();
    let answer: unknown = 'none';
    store.transact([row(1, 'a')]).then((written) => {
      answer = written;
    });
    await vi.advanceTimersByTimeAsync(2 * PATIENCE - 1);
    expect([answer, troubles]).toEqual(['none', []]);
    await vi.advanceTimersByTimeAsync(1);
    expect([answer, troubles]).toEqual([undefined, ['no storage: timeout']]);
  });

  it('counts as failed when a transaction aborts after its requests succeeded, as over quota', async () => {
    const { store, troubles } = open();
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      this.abort();
    });
    expect(await store.transact([row(1, 'a')])).toBeUndefined();
    expect(troubles).toHaveLength(1);
  });

  it('resolves to undefined when a change throws, and keeps the record', async () => {
    const { store } = open();
    await store.transact([['count', { n: 1 }]]);
    const broken = () => {
      throw new Error('broken');
    };
    expect(await store.transact([], 'count', broken)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await recordIn(store, 'count')).toEqual({ n: 1 });
  });

  it('writes in browsers without commit()', async () => {
    const { commit } = IDBTransaction.prototype;
    try {
      Object.assign(IDBTransaction.prototype, { commit: undefined });
      const { store } = open();
      expect(await store.transact([row(1, 'a')])).toBe(true);
      expect(counts(await store.read('/clew'))).toEqual([1]);
    } finally {
      Object.assign(IDBTransaction.prototype, { commit });
    }
  });
});

describe('a database that the site deletes', () => {
  it('is closed at once, so that the deletion succeeds, and is created again', async () => {
    const { store, troubles } = open();
    await store.transact([row(1, 'a')]);
    const before = store.generation();
    const request = indexedDB.deleteDatabase('clew');
    await new Promise((resolve, reject) => {
      request.onsuccess = resolve;
      request.onblocked = reject;
    });
    expect(store.generation()).not.toBe(before);
    expect(store.isOpen()).toBe(false);
    expect(await store.read('/clew')).toEqual([]);
    expect(await store.transact([row(2, 'b')])).toBe(true);
    expect(counts(await store.read('/clew'))).toEqual([2]);
    expect(troubles).toEqual([]);
  });
});

describe('clear()', () => {
  it('deletes the database, and changes the generation', async () => {
    const { store } = open();
    await store.transact([row(1, 'a'), ['visitor', { thread: 'x' }], ['link /clew', { by: '' }]]);
    const before = store.generation();
    store.clear('/clew', RECORDS);
    expect(store.generation()).not.toBe(before);
    await nothingIsLeft();
  });

  it("leaves another service's rows and records", async () => {
    const { store } = open();
    const others = [key(1, 2, '/clew2'), key(1, 2, '/cle')];
    await store.transact([row(1, 'a'), row(2, 'b'), ['visitor', { thread: 'x' }], ['link /other', { by: 'tab' }]]);
    await store.transact(others.map((one) => [one, ['other']] as const));
    store.clear('/clew', RECORDS);
    expect(await store.read('/clew')).toEqual([]);
    expect(await recordIn(store, 'visitor')).toBe(true);
    for (const one of others) expect(await store.read(one[0])).toEqual([[one, ['other']]]);
    expect(await recordIn(store, 'link /other')).toEqual({ by: 'tab' });
  });

  it('leaves them also if this page has not opened the database', async () => {
    const other = key(1, 1, '/other');
    await open().store.transact([row(1, 'a'), [other, ['other']]]);
    const { store } = open();
    store.clear('/clew', RECORDS);
    await vi.waitFor(async () => expect(await open().store.read('/clew')).toEqual([]));
    expect(await open().store.read('/other')).toEqual([[other, ['other']]]);
  });

  it('closes the connection that it has opened itself', async () => {
    const other = open().store;
    await other.transact([row(1, 'a'), [key(1, 1, '/other'), ['other']]]);
    const closed = vi.spyOn(IDBDatabase.prototype, 'close');
    open().store.clear('/clew', RECORDS);
    await vi.waitFor(async () => expect(await other.read('/clew')).toEqual([]));
    expect(closed).toHaveBeenCalledTimes(1);
    expect(await other.read('/other')).toHaveLength(1);
  });

  it.each([
    ['deletes what belongs to those who have refused', true, [undefined, []]],
    ['leaves what belongs to a later consent', false, [{ thread: 'x' }, [1]]],
  ] as const)('%s, if the first record shows that', async (_what, isOver, left) => {
    const { store } = open();
    await store.transact([row(1, 'a'), ['visitor', { thread: 'x' }]]);
    const deleted = vi.spyOn(indexedDB, 'deleteDatabase');
    const asked = vi.fn(() => isOver);
    store.clear('/clew', RECORDS, asked);
    // The page may leave while that is asked.
    store.abort(true);
    await vi.waitFor(() => expect(asked).toHaveBeenCalledWith({ thread: 'x' }));
    const other = open().store;
    const record: unknown = await recordIn(other, 'visitor');
    expect([record === true ? undefined : record, counts(await other.read('/clew'))]).toEqual(left);
    expect(deleted).not.toHaveBeenCalled();
  });

  it('creates no database', async () => {
    const created = vi.spyOn(IDBDatabase.prototype, 'createObjectStore');
    const deleted = vi.spyOn(indexedDB, 'deleteDatabase');
    const { store, troubles } = open();
    store.clear('/clew', RECORDS);
    await vi.waitFor(() => expect(deleted).toHaveBeenCalled());
    await nothingIsLeft();
    expect(created).not.toHaveBeenCalled();
    expect(troubles).toEqual([]);
  });

  it('deletes what is written behind a tab that holds the database for seconds', async () => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    const release = await hold();
    const writing = [store.transact([row(2, 'b')]), store.transact([], 'link /clew', () => ({ by: 'tab' }))];
    await vi.advanceTimersByTimeAsync(1000);
    store.clear('/clew', RECORDS);
    await vi.advanceTimersByTimeAsync(3500);
    release();
    await Promise.all(writing);
    await vi.advanceTimersByTimeAsync(4 * PATIENCE);
    await nothingIsLeft();
  });

  it('ends what is still opening the database: nothing is written later', async () => {
    const { store, troubles } = open();
    const writing = store.transact([row(1, 'a')]);
    store.clear('/clew', RECORDS);
    expect(await writing).toBeUndefined();
    await vi.advanceTimersByTimeAsync(4 * PATIENCE);
    await nothingIsLeft();
    expect(troubles).toEqual([]);
  });

  it.each(['open', 'not open'])('of a database that is %s leaves what is written after it', async (state) => {
    await open().store.transact([row(1, 'a')]);
    const { store } = open();
    if (state === 'open') await store.read('/clew');
    store.clear('/clew', RECORDS);
    expect(await store.transact<Counted>([row(2, 'b')], 'visitor', () => ({ n: 1 }))).toEqual({ n: 1 });
    await vi.advanceTimersByTimeAsync(PATIENCE);
    expect(counts(await open().store.read('/clew'))).toEqual([2]);
  });

  it('leaves what is written as the deletion of the database begins', async () => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    const written = new Promise((resolve) => {
      const deletion = indexedDB.deleteDatabase.bind(indexedDB);
      vi.spyOn(indexedDB, 'deleteDatabase').mockImplementation((name) => {
        const request = deletion(name);
        resolve(store.transact([row(2, 'b')]));
        return request;
      });
    });
    store.clear('/clew', RECORDS);
    expect(await written).toBe(true);
    await vi.advanceTimersByTimeAsync(PATIENCE);
    expect(counts(await open().store.read('/clew'))).toEqual([2]);
  });

  it('deletes the database at once if the page unloads before the rows are deleted', async () => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    const release = await hold();
    const deleted = vi.spyOn(indexedDB, 'deleteDatabase');
    store.clear('/clew', RECORDS);
    expect(deleted).not.toHaveBeenCalled();
    store.abort();
    expect(deleted).toHaveBeenCalledTimes(1);
    release();
    await nothingIsLeft();
  });

  it.each([
    ['after the page has left', false],
    ['before the page leaves', true],
  ])('called %s leaves no deletion behind that waits for a page in the back/forward cache', async (_when, isKept) => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    // The page is frozen before the rows are deleted.
    const release = await hold();
    const deleted = vi.spyOn(indexedDB, 'deleteDatabase');
    if (!isKept) store.abort();
    store.clear('/clew', RECORDS);
    store.abort(isKept);
    expect(deleted).not.toHaveBeenCalled();
    release();
    await vi.waitFor(async () => expect(await open().store.read('/clew')).toEqual([]));
    // The page is back, and other pages may have stored events.
    await open().store.read('/clew');
    expect(deleted).not.toHaveBeenCalled();
  });

  it('leaves the database of another program that has the same name', async () => {
    const request = indexedDB.open('clew');
    request.onupgradeneeded = () => request.result.createObjectStore('theirs');
    await promisifyRequest(request);
    request.result.onversionchange = () => request.result.close();
    const deleted = vi.spyOn(indexedDB, 'deleteDatabase');
    const { store } = open();
    expect(await store.transact([row(1, 'a')])).toBeUndefined();
    store.clear('/clew', RECORDS);
    await vi.advanceTimersByTimeAsync(4 * PATIENCE);
    expect(deleted).not.toHaveBeenCalled();
  });

  it('works if deleting throws', async () => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    const deleted = vi.spyOn(indexedDB, 'deleteDatabase').mockImplementation(() => {
      throw new Error('SecurityError');
    });
    store.clear('/clew', RECORDS);
    await vi.waitFor(() => expect(deleted).toHaveBeenCalled());
    expect(await store.read('/clew')).toEqual([]);
  });
});

describe('a page that unloads', () => {
  it('aborts uncommitted transactions, and runs those that read a record again', async () => {
    const { store, troubles } = open();
    await store.transact([row(1, 'a')]);
    const changed = vi.fn(() => ({ n: 1 }));
    const broken = store.transact<Counted>([row(2, 'b')], 'count', changed, () => {
      queueMicrotask(store.abort);
      return ['/clew'];
    });
    expect(await broken).toBeUndefined();
    expect(changed).not.toHaveBeenCalled();
    expect(await recordIn(store, 'count')).toBe(true);
    expect(counts(await store.read('/clew'))).toEqual([1]);
    expect(await store.transact<Counted>([], 'count', (old) => ({ n: (old?.n ?? 0) + 1 }))).toEqual({ n: 1 });
    expect(troubles).toEqual([]);
  });

  it('still writes rows, in the database that is open', async () => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    store.abort();
    expect(await store.transact([row(2, 'b')])).toBe(true);
    expect(counts(await open().store.read('/clew'))).toEqual([1, 2]);
  });

  it('does not open the database again until it reads a record', async () => {
    const opened = vi.spyOn(indexedDB, 'open');
    const { store, troubles } = open();
    store.abort();
    expect(await store.transact([row(1, 'a')])).toBeUndefined();
    expect(opened).not.toHaveBeenCalled();
    expect(await store.transact<Counted>([], 'count', () => ({ n: 1 }))).toEqual({ n: 1 });
    expect(await store.transact([row(2, 'b')])).toBe(true);
    expect(counts(await store.read('/clew'))).toEqual([2]);
    expect(troubles).toEqual([]);
  });

  it('writes nothing that waits for the database to open', async () => {
    const { store } = open();
    const waiting = store.transact([row(1, 'a')]);
    store.abort();
    expect(await waiting).toBeUndefined();
    expect(await open().store.read('/clew')).toEqual([]);
  });
});
