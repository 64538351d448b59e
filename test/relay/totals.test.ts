// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type BookChange, type BookStore, memoryBooks } from '../../src/relay/bookStore.ts';
import { createBooks, today } from '../../src/relay/books.ts';
import type { Fact } from '../../src/relay/load.ts';

afterEach(() => vi.useRealTimers());

const DAY = 86_400_000;
/** Most numbers of the facts that wait for the store. */
const MOST_LATE = 200_000;

/** Books in a store that the test can turn off. */
const open = async (more: Partial<BookStore> = {}) => {
  const errors: unknown[] = [];
  const changes: BookChange[] = [];
  const memory = memoryBooks();
  let reads = 0;
  const state = { isDown: false };
  const store: BookStore = {
    ...memory,
    read: async (loads) => {
      reads++;
      if (state.isDown) throw new Error('down');
      return memory.read(loads);
    },
    write: async (change) => {
      changes.push(change);
      return memory.write(change);
    },
    totals: async (days) => {
      if (state.isDown) throw new Error('down');
      return memory.totals(days);
    },
    ...more,
  };
  const books = createBooks(store, 1000, (error) => errors.push(error));
  const factOf = (fact: Partial<Fact>): Fact => ({ engine: 'gecko', day: today(), ...fact });
  const add = (...facts: Partial<Fact>[]) => books.add(new Map(facts.map((fact, at) => [at + 1, factOf(fact)])));
  const totals = () => books.totals() ?? [];
  const tracked = () => totals().reduce((sum, one) => sum + one.tracked, 0);
  await books.refresh();
  return { books, state, errors, changes, add, totals, tracked, reads: () => reads };
};

describe('the totals', () => {
  it('go back 31 days, the latest first', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { books, totals } = await open();
    for (let day = 1; day <= 33; day++) {
      vi.setSystemTime(Date.now() + DAY);
      await books.add(new Map([[day, { engine: 'gecko', day: today(), release: `r${day}`, count: 1 }]]));
    }
    expect(totals().map(({ release }) => release)).toEqual(Array.from({ length: 31 }, (_, at) => `r${33 - at}`));
  });

  it('of a day are in the order of releases', async () => {
    const { totals, add } = await open();
    await add({ release: 'b', count: 1 }, { release: 'a', count: 1 });
    expect(totals().map(({ release }) => release)).toEqual(['a', 'b']);
  });

  it('have no reason that holds for no event any more', async () => {
    const { totals, add, changes } = await open();
    await add({ count: 2, dropped: { expired: [1, 1] } });
    await add({ delivered: new Map([[1, 0]]) });
    expect(totals()).toMatchObject([{ tracked: 2, delivered: 1, unknown: 1 }]);
    expect(totals()[0]?.dropped).toEqual({});
    for (const change of changes) expect(Object.values(change.changes)).not.toContain(0);
  });

  it('are not known before the store has stated them', async () => {
    const books = createBooks({ ...memoryBooks(), totals: () => Promise.reject(new Error('down')) }, 1000, () => {});
    await books.add(new Map([[1, { engine: 'gecko', day: today(), count: 1 }]]));
    await books.refresh();
    expect(books.totals()).toBeUndefined();
  });

  it('stay as they are while the store cannot state them', async () => {
    const { books, state, errors, add, tracked } = await open();
    await add({ count: 3 });
    state.isDown = true;
    await books.refresh();
    expect(tracked()).toBe(3);
    expect(errors).toEqual([new Error('down')]);
  });

  it('are read once for requests at the same time, and again later', async () => {
    let asked = 0;
    const totals = async () => {
      asked++;
      return [];
    };
    const { books } = await open({ totals });
    expect(asked).toBe(1);
    await Promise.all([books.refresh(), books.refresh()]);
    expect(asked).toBe(2);
    await books.refresh();
    expect(asked).toBe(3);
  });
});

it('a write that takes longer than the time for it is in the totals once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  const memory = memoryBooks();
  const write: BookStore['write'] = async (change) => {
    const isDone = await memory.write(change);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return isDone;
  };
  const { books, add, tracked } = await open({ read: memory.read, totals: memory.totals, write });
  const added = add({ count: 2 });
  await vi.advanceTimersByTimeAsync(1000);
  await added;
  const refreshed = books.refresh();
  await vi.advanceTimersByTimeAsync(3000);
  await refreshed;
  expect(tracked()).toBe(2);
});

it('names of other programs in the store are in no row', async () => {
  const totals = async (days: readonly string[]) =>
    days.map(() => ({ 'not JSON': 1, '["only one"]': 2, '[1,2,3]': 3, '["r","gecko","tracked"]': 4 }));
  const { books, totals: rows } = await open({ totals });
  await books.refresh();
  expect(rows()[0]).toMatchObject({ release: 'r', engine: 'gecko', tracked: 4 });
});

it('a page load keeps its release on a day that has a hundred others', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { books, totals } = await open();
  const add = (load: number, release: string, count: number) =>
    books.add(new Map([[load, { engine: 'gecko', day: today(), release, count }]]));
  await add(1, 'shop', 1);
  vi.setSystemTime(Date.now() + DAY);
  for (let load = 2; load < 102; load++) await add(load, `r${load}`, 1);
  await add(1, 'shop', 2);
  await add(102, 'late', 1);
  expect(totals().filter(({ release }) => /^(shop|other)$/.test(release))).toMatchObject([
    { release: 'other', tracked: 1 },
    { release: 'shop', tracked: 2 },
  ]);
});

it('accounts in memory take as many bytes with a release beyond Latin-1', async () => {
  for (const [release, kept] of [
    ['r', 2],
    ['発', 1],
  ] as const) {
    const books = memoryBooks();
    const text = release.repeat(20 * 1024 * 1024);
    const write = (load: string) => books.write({ load, before: undefined, after: text, day: today(), changes: {} });
    for (const load of ['a', 'b', 'c']) await write(load);
    const found = await books.read(['a', 'b', 'c']);
    expect(found.filter(Boolean).length).toBeGreaterThanOrEqual(kept);
    expect([release, found[0] !== undefined]).toEqual([release, release === 'r']);
  }
});

it('a repeated request writes nothing', async () => {
  const { add, changes } = await open();
  const fact = { count: 2, closed: 2, delivered: new Map([[1, 0]]), dropped: { full: [2, 2] } };
  await add(fact);
  await add(fact);
  expect(changes).toHaveLength(1);
});

it('the store states its memory once for each page load', async () => {
  let asked = 0;
  const memory = () => {
    asked++;
    return DAY;
  };
  const { add } = await open({ memory });
  await add({ delivered: new Map([[1, 0]]) });
  expect(asked).toBe(0);
  for (let count = 2; count < 5; count++) await add({ count, begunAt: Date.now() });
  expect(asked).toBe(1);
});

it('a store without a memory remembers all page loads, also old ones', async () => {
  const { memory: _, ...store } = memoryBooks();
  const books = createBooks(store, 1000, () => {});
  await books.refresh();
  const begunAt = Date.now() - 400 * DAY;
  await books.add(new Map([[1, { engine: 'gecko', day: today(), count: 3, closed: 3, begunAt }]]));
  expect(books.totals()).toMatchObject([{ tracked: 3, missing: 3 }]);
});

describe('facts that the store has not taken', () => {
  const four = [{ count: 1 }, { count: 2 }, { count: 3 }, { count: 4 }];

  it('are all added with the next request that it takes', async () => {
    const { state, add, tracked } = await open();
    state.isDown = true;
    await add(...four);
    state.isDown = false;
    await add({ count: 1 });
    expect(tracked()).toBe(10);
  });

  it('are tried one at a time while it fails', async () => {
    const { books, state, add, reads } = await open();
    state.isDown = true;
    await add(...four);
    expect(reads()).toBe(4);
    await books.close();
    expect(reads()).toBe(5);
    await add({ count: 1 });
    expect(reads()).toBe(6);
  });

  it('have a bound', async () => {
    const { books, state, add, tracked } = await open();
    state.isDown = true;
    const [most, each] = [MOST_LATE / 1000, 999];
    const delivered = new Map(Array.from({ length: each }, (_, at) => [at + 1, 0]));
    await add(...Array.from({ length: most + 2 }, () => ({ delivered })));
    state.isDown = false;
    await books.close();
    expect(tracked()).toBe(most * each);
    await add({ count: each + 1 });
    expect(tracked()).toBe(most * each + 1);
  });

  it('are added before the relay has closed, also while a report adds them', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { books, state, add, tracked } = await open({ memory: () => held.then(() => DAY) });
    state.isDown = true;
    await add({ count: 3, begunAt: Date.now() });
    state.isDown = false;
    const refreshed = books.refresh();
    const closed = books.close();
    release();
    await closed;
    await refreshed;
    expect(tracked()).toBe(3);
  });
});
