// @module-tag promise
import { IDBFactory, IDBKeyRange, IDBTransaction } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStore, type ReadRows, type Row, type RowKey, type Store } from '../../src/outbox/store.ts';
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
/** A record; true if there is none. */
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
    const change = async (old: Counted | undefined, read: ReadRows): Promise<Counted> => ({
      n: (old?.n ?? 0) + (await read('/clew')).length,
    });
    expect(await store.transact<Counted>([row(1, 'a')], 'count', change)).toEqual({ n: 1 });
    expect(await store.transact<Counted>([row(2, 'b')], 'count', change)).toEqual({ n: 3 });
    expect(await recordIn(store, 'count')).toEqual({ n: 3 });
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
    expect(troubles).toEqual(['no storage: Error: SecurityError']);
    expect(store.isOpen()).toBe(true);
  });

  it('is tried once for each call after its report, and works again later', async () => {
    const { open: real } = IDBFactory.prototype;
    const opened = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new Error('SecurityError');
    });
    const { store } = open();
    await store.read('/clew');
    expect(opened).toHaveBeenCalledTimes(2);
    await store.read('/clew');
    expect(opened).toHaveBeenCalledTimes(3);
    opened.mockImplementation(function (this: IDBFactory, ...what) {
      return real.apply(this, what) as never;
    });
    expect(await store.transact([row(1, 'a')])).toBe(true);
    expect(opened).toHaveBeenCalledTimes(4);
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

  it('is deleted by clear(), also if deleting throws', async () => {
    const { store } = open();
    await store.transact([row(1, 'a')]);
    const before = store.generation();
    store.clear();
    expect(store.generation()).not.toBe(before);
    expect(await open().store.read('/clew')).toEqual([]);
    vi.spyOn(indexedDB, 'deleteDatabase').mockImplementation(() => {
      throw new Error('SecurityError');
    });
    expect(() => store.clear()).not.toThrow();
  });
});

describe('a page that unloads', () => {
  it('aborts uncommitted transactions, and runs those that read a record again', async () => {
    const { store, troubles } = open();
    await store.transact([row(1, 'a')]);
    let wait = () => {};
    const held = new Promise<void>((resolve) => {
      wait = resolve;
    });
    const broken = store.transact<Counted>([row(2, 'b')], 'count', async (_old, read) => {
      const { length } = await read('/clew');
      wait();
      await read('/clew');
      return { n: length };
    });
    await held;
    store.abort();
    expect(await broken).toBeUndefined();
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
