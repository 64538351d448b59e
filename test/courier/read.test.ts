// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Settling } from '../../src/courier/desk.ts';
import { type Link, newLink, succeed, take } from '../../src/courier/lease.ts';
import { copyOf, isLeftFor, orMemory, read } from '../../src/courier/read.ts';
import type { RowKey } from '../../src/outbox/store.ts';
import { draftEvent, idOf } from '../../src/recorder/event.ts';
import { createMemoryStore, type MemoryStore } from '../outbox/memoryStore.ts';
import { deskOf } from './deskOf.ts';
import { LINK, SERVICE } from './tab.ts';

const [a, b] = [draftEvent(0, 'a'), draftEvent(0, 'b')];
const keyOf = (count: number, page = 'other'): RowKey => [SERVICE, 1, count, page];
const TAKE: Settling = { change: take, writes: [] };
const held = (by: string): Link => ({ ...newLink(), by, until: Date.now() + 9000 });

describe('the rest to send', () => {
  it('has no settled events and nothing that foreign code has stored', () => {
    const isLeft = isLeftFor({ busy: new Set(), settled: new Set([idOf(a)]), singles: new Set() });
    expect([a, b, 'foreign', { uuid: 1 }, undefined].filter(isLeft)).toEqual([b]);
  });

  it('comes from memory where the store has nothing', () => {
    const { queue } = deskOf();
    queue.add(a);
    expect(orMemory(queue, []).flatMap(([, texts]) => texts)).toEqual([a]);
    expect(orMemory(queue, [[keyOf(1), [b]]])).toEqual([[keyOf(1), [b]]]);
  });
});

describe('the stored link', () => {
  it('is a new one if it has a number that JSON does not know', () => {
    const old = { until: 0, fails: 0, okAt: 5n };
    expect(copyOf(deskOf().desk.ports, old as never)).toEqual(newLink());
  });

  it('is copied, and the lease of a page that has left is void', () => {
    const { ports } = deskOf({
      farewell: { hasLeft: (tab) => tab === 'gone', mayHaveProperties: () => true, settle() {} },
    }).desk;
    const link = held('other');
    expect([copyOf(ports, link), copyOf(ports, link) === link]).toEqual([link, false]);
    expect(copyOf(ports, held('gone'))).toMatchObject({ by: '', until: 0 });
  });

  it.each([
    undefined,
    {},
    'link',
    { until: -1, fails: 0, okAt: 0 },
    { until: 0, fails: 'x', okAt: 0 },
    { until: 0, fails: 0, okAt: new Date(0) },
    { until: 0, fails: 0, okAt: 0, asked: Number.NaN },
  ])('is a new one in place of %j', (old) => {
    expect(copyOf(deskOf().desk.ports, old as Link)).toEqual(newLink());
  });
});

describe('a read', () => {
  it('takes the lease, writes what the last answer means, and gives the oldest rows', async () => {
    const { store, desk, pass } = deskOf();
    await store.transact([
      [keyOf(1), [a]],
      [keyOf(2), [b]],
    ]);
    const rows = await read(desk, pass, { change: succeed, writes: [[keyOf(1), undefined]] });
    expect(rows).toEqual([[keyOf(2), [b]]]);
    expect(store.record<Link>(LINK)).toMatchObject({ by: 'me', fails: 0, okAt: expect.any(Number) });
    expect([desk.state.does, desk.link.by, pass.found.remaining]).toEqual(['commit', 'me', 1]);
  });

  it('gives nothing while another tab has the lease', async () => {
    const { store, desk, pass } = deskOf();
    await store.transact([[keyOf(1), [a]]]);
    await store.transact([], LINK, () => held('other'));
    expect(await read(desk, pass, TAKE)).toBeUndefined();
    expect([desk.link.by, store.record<Link>(LINK)?.by]).toEqual(['other', 'other']);
  });

  it('gives the lease back if nothing is due', async () => {
    const { store, desk, pass } = deskOf();
    expect(await read(desk, pass, TAKE)).toBeUndefined();
    expect(store.record<Link>(LINK)?.by).toBe('');
  });

  it('keeps the lease for rows of foreign data, which are deleted', async () => {
    const { store, desk, pass } = deskOf();
    store.put(keyOf(1), 'foreign');
    expect(await read(desk, pass, TAKE)).toHaveLength(1);
    expect(pass.found.remaining).toBe(0);
  });

  it('comes too late once the page has left, and changes nothing here', async () => {
    const { store, desk, pass } = deskOf();
    await store.transact([[keyOf(1), [a]]]);
    const reading = read(desk, pass, TAKE);
    const away = { holder: 'me', does: 'stay away' } as const;
    desk.state = away;
    expect(await reading).toBeUndefined();
    expect([desk.state, desk.link]).toEqual([away, newLink()]);
  });

  it('reports nothing if the page leaves after the transaction, and before its result', async () => {
    const memory = createMemoryStore();
    const onLink = vi.fn();
    const store: MemoryStore = {
      ...memory,
      async transact(...what) {
        const result = await memory.transact(...what);
        desk.state = { holder: 'me', does: 'stay away' };
        return result;
      },
    };
    await memory.transact([[keyOf(1), [a]]]);
    const { desk, pass } = deskOf({ onLink }, store);
    expect(await read(desk, pass, TAKE)).toBeUndefined();
    expect(onLink).not.toHaveBeenCalled();
  });

  it('forgets settled ids whose rows are gone, and remembers the others', async () => {
    const { store, desk, pass } = deskOf();
    await store.transact([[keyOf(1), [a, b]]]);
    desk.known.settled.add(idOf(a)).add('gone');
    await read(desk, pass, TAKE);
    expect([...desk.known.settled]).toEqual([idOf(a)]);
  });

  it('drops the notes of handovers that are settled, after the rows are written', async () => {
    const taken = [{ id: 'x', at: 0, ids: [] }];
    const drop = vi.fn();
    const receipts = { makeId: () => '', write() {}, open: () => [], held: () => new Set<string>(), drop };
    const { desk, pass } = deskOf({ receipts });
    const reading = read(desk, pass, { ...TAKE, taken });
    expect(drop).not.toHaveBeenCalled();
    await reading;
    expect(drop).toHaveBeenCalledWith(taken);
  });

  it('keeps the note of a settled handover while one of its events has a row', async () => {
    const taken = [{ id: 'x', at: 0, ids: [idOf(a)] }];
    const drop = vi.fn();
    const receipts = { makeId: () => '', write() {}, open: () => [], held: () => new Set<string>(), drop };
    const { store, desk, pass } = deskOf({ receipts });
    await store.transact([[keyOf(1), [a]]]);
    await read(desk, pass, { ...TAKE, taken });
    expect(drop).toHaveBeenLastCalledWith([]);
    await read(desk, pass, { ...TAKE, taken, writes: [[keyOf(1), undefined]] });
    expect(drop).toHaveBeenLastCalledWith(taken);
  });

  it('keeps the note of a settled handover while a backlog may hide rows of its events', async () => {
    const taken = [{ id: 'x', at: 0, ids: [idOf(a)] }];
    const drop = vi.fn();
    const receipts = { makeId: () => '', write() {}, open: () => [], held: () => new Set<string>(), drop };
    const { store, desk, pass } = deskOf({ receipts });
    const backlog = Array.from({ length: 20 }, () => draftEvent(0, 'many'));
    await store.transact([
      [keyOf(1), backlog],
      [keyOf(2), [a]],
    ]);
    await read(desk, pass, { ...TAKE, taken });
    expect(drop).toHaveBeenLastCalledWith([]);
  });

  it('works on what the page knows where storage is refused', async () => {
    const { store, queue, desk, pass } = deskOf();
    store.isBroken = true;
    queue.add(a);
    expect(await read(desk, pass, TAKE)).toEqual([]);
    expect([desk.link.by, pass.found.remaining]).toEqual(['me', 1]);
  });

  it('gives the lease back if the answer could not be stored', async () => {
    const { store, queue, desk, pass } = deskOf();
    store.isBroken = true;
    queue.add(a);
    expect(await read(desk, pass, { ...TAKE, writes: [[keyOf(1), undefined]] })).toBeUndefined();
    expect(desk.link.by).toBe('');
  });
});

describe('the end of the store', () => {
  it.each([
    ['seen', 11, true],
    ['not seen, because there are more events than a read takes', 12, false],
  ])('is reported to the queue only if it was %s', async (_what, count, isSeen) => {
    const { store, queue, desk, pass } = deskOf();
    await store.transact([[keyOf(1), Array.from({ length: count }, () => draftEvent(0, 'many'))]]);
    const saw = vi.spyOn(queue, 'saw');
    await read(desk, pass, TAKE);
    expect(saw.mock.calls.length > 0).toBe(isSeen);
  });
});
