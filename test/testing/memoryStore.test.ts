import { describe, expect, it } from 'vitest';
import type { Row, RowKey } from '../../src/index.ts';
import { createMemoryStore } from '../../src/testing.ts';

const key = (page: number, count: number, tab = 'tab', service = '/clew'): RowKey => [service, page, count, tab];

describe('a memory store', () => {
  it('shares no object with the caller that writes', async () => {
    const store = createMemoryStore();
    const items = ['stored'];
    const record = { thread: 'stored' };
    const writing = store.transact([
      [key(1, 1), items],
      ['visitor', record],
    ]);
    items.push('later');
    record.thread = 'later';
    await writing;
    items.push('later still');
    record.thread = 'later still';
    expect(await store.read('/clew')).toEqual([[key(1, 1), ['stored']]]);
    expect(await store.transact([], 'visitor', (old) => old as object)).toEqual({ thread: 'stored' });
  });

  it('shares no object with the caller that reads', async () => {
    const store = createMemoryStore();
    await store.transact([[key(1, 1), ['stored']]]);
    const [row] = (await store.read('/clew')) as [Row];
    (row[1] as string[]).push('changed');
    (row[0] as unknown[])[1] = 7;
    expect(await store.read('/clew')).toEqual([[key(1, 1), ['stored']]]);
  });

  it('copies a record for the function that changes it and for the caller that gets it', async () => {
    const store = createMemoryStore();
    const made = { fails: 0 };
    await store.transact([], 'link', () => made);
    made.fails = 1;
    const seen = await store.transact<{ fails: number }>([], 'link', (old) => ({ ...(old as { fails: number }) }));
    expect(seen).toEqual({ fails: 0 });
    await store
      .transact<{ fails: number }>([], 'link', (old) => {
        (old as { fails: number }).fails = 7;
        throw new Error('broken');
      })
      .catch(() => {});
    expect(await store.transact([], 'link', (old) => old as object)).toEqual({ fails: 0 });
  });

  it('returns rows of one service, in the order of their keys', async () => {
    const store = createMemoryStore();
    const keys = [key(10, 1), key(2, 10), key(2, 9, 'b'), key(2, 9, 'a'), key(1, 7, 'tab', '/other')];
    await store.transact(keys.map((one) => [one, ['item']] as const));
    expect((await store.read('/clew')).map(([found]) => found)).toEqual([
      key(2, 9, 'a'),
      key(2, 9, 'b'),
      key(2, 10),
      key(10, 1),
    ]);
    expect((await store.read('/other')).map(([found]) => found)).toEqual([key(1, 7, 'tab', '/other')]);
  });

  it('deletes rows that are written without items, and a service with its records when it is cleared', async () => {
    const store = createMemoryStore();
    await store.transact([
      [key(1, 1), ['a']],
      [key(1, 2), ['b']],
      [key(1, 1, 'tab', '/other'), ['c']],
      ['visitor', { thread: 'stored' }],
      ['link /other', { by: 'tab' }],
    ]);
    await store.transact([[key(1, 1), undefined]]);
    expect((await store.read('/clew')).map(([found]) => found)).toEqual([key(1, 2)]);
    const before = store.generation();
    store.clear('/clew', ['visitor', 'link /clew']);
    expect(store.generation()).not.toBe(before);
    expect(await store.read('/clew')).toEqual([]);
    expect(await store.transact([], 'visitor', (old) => ({ isFound: !!old }))).toEqual({ isFound: false });
    expect(await store.read('/other')).toHaveLength(1);
    expect(await store.transact([], 'link /other', (old) => ({ isFound: !!old }))).toEqual({ isFound: true });
  });

  it('keeps all that is of a later consent when it is cleared', async () => {
    const store = createMemoryStore();
    await store.transact([
      [key(1, 1), ['a']],
      ['visitor', { thread: 'stored' }],
    ]);
    store.clear('/clew', ['visitor'], () => false);
    expect(await store.read('/clew')).toHaveLength(1);
    store.clear('/clew', ['visitor'], (record) => (record as { thread: string }).thread === 'stored');
    expect(await store.read('/clew')).toEqual([]);
  });

  it('changes a record in one transaction after another, even if one fails', async () => {
    const store = createMemoryStore();
    const add = (old: { n: number } | undefined) => ({ n: (old?.n ?? 0) + 1 });
    const failing = store.transact([], 'count', () => {
      throw new Error('broken');
    });
    const adding = Array.from({ length: 5 }, () => store.transact<{ n: number }>([], 'count', add));
    await expect(failing).rejects.toThrow('broken');
    expect(await Promise.all(adding)).toEqual([1, 2, 3, 4, 5].map((n) => ({ n })));
  });

  it('reads in a change the writes of its transaction, and is always open', async () => {
    const store = createMemoryStore();
    const change = (_old: unknown, found: readonly Row[]) => ({ found });
    const rows = await store.transact([[key(1, 1), ['new']]], 'link', change, () => ['/clew']);
    expect(rows).toEqual({ found: [[key(1, 1), ['new']]] });
    expect(await store.transact([])).toBe(true);
    expect(store.isOpen()).toBe(true);
  });
});
