// @module-tag promise
import { describe, expect, it } from 'vitest';
import { normaliseOptions } from '../../src/api/options.ts';
import { type Batch, ENVELOPE, joinUpserts, nextBatch } from '../../src/courier/cut.ts';
import type { ItemText } from '../../src/recorder/event.ts';
import { eventOf, eventText, idOf, times, upsertText } from '../recorder/items.ts';

const limits = normaliseOptions({ baseUrl: '/clew' });
const { maxBatchBytes } = limits;

/** Cuts batches until nothing is left. */
const allBatches = (items: readonly ItemText[], singles?: ReadonlySet<string>): Batch[] => {
  const batches: Batch[] = [];
  for (let left = items; left.length; left = left.slice(batches.at(-1)?.items.length)) {
    batches.push(nextBatch(left, limits, singles) as Batch);
  }
  return batches;
};
const counts = (batches: Batch[]) => batches.map(({ items }) => items.length);
const sizeOf = (body: string) => Buffer.byteLength(body, 'utf8');

it('no items make no batch', () => {
  expect(nextBatch([], limits)).toBeUndefined();
});

describe('a batch', () => {
  it('is exactly the JSON of its events, in order', () => {
    const items = times(5, (i) => eventText(`e${i}`, { text: 'é😀"\\\n', i }));
    const batch = nextBatch(items, limits);
    expect(batch?.path).toBe('/api/events/batch/');
    expect(batch?.items).toEqual(items);
    expect(batch?.body).toBe(JSON.stringify({ batch: items.map((text) => JSON.parse(text)) }));
  });

  it('holds at most 200 events', () => {
    expect(counts(allBatches(times(200, () => eventText())))).toEqual([200]);
    expect(counts(allBatches(times(401, () => eventText())))).toEqual([200, 200, 1]);
  });

  it.each([
    ['one-byte letters', 'x'],
    ['two-byte letters', 'é'],
    ['emoji', '😀'],
  ])('is split below 60,000 bytes, counted in UTF-8: %s', (_what, letter) => {
    const half = (maxBatchBytes - ENVELOPE - 1) / 2;
    const sizes = [Math.ceil(half), Math.floor(half)];
    // Only whole letters fit. Characters of one byte fill the rest.
    const text = (bytes: number) => {
      const empty = sizeOf(eventText('seen', ''));
      const letters = Math.floor((bytes - empty) / sizeOf(letter));
      return eventText('seen', letter.repeat(letters) + 'x'.repeat(bytes - empty - letters * sizeOf(letter)));
    };
    const exact = sizes.map(text);
    const batch = nextBatch(exact, limits);
    expect(batch?.bytes).toBe(maxBatchBytes);
    expect(batch?.items).toHaveLength(2);
    expect(counts(allBatches([exact[0] as string, text((sizes[1] as number) + 1)]))).toEqual([1, 1]);
  });

  it('reports its length in bytes, for every kind of body', () => {
    const single = eventText('é', '😀');
    const items = [eventText('😀'), eventText('€', ['é']), upsertText({ name: 'Zoë' }), single];
    const batches = allBatches(items, new Set([idOf(single)]));
    expect(counts(batches)).toEqual([2, 1, 1]);
    for (const { body, bytes } of batches) expect(bytes).toBe(sizeOf(body));
  });

  it('always has the first item, whatever its size', () => {
    const batches = allBatches([eventOf(maxBatchBytes + 5000), eventText()]);
    expect(counts(batches)).toEqual([1, 1]);
    expect(batches[0]?.bytes).toBeGreaterThan(maxBatchBytes);
    expect(nextBatch([eventText(), eventText()], { maxBatchBytes: 1, maxBatchEvents: 1 })?.items).toHaveLength(1);
  });

  it('never exceeds a limit and never changes the order, whatever the sizes', () => {
    // A fixed walk through sizes from small to nearly a whole batch.
    const items = times(120, (i) => eventOf(400 + ((i * 7919) % 59_000)));
    const batches = allBatches(items);
    expect(batches.flatMap((batch) => batch.items)).toEqual(items);
    for (const { bytes, body } of batches) {
      expect(bytes).toBe(sizeOf(body));
      expect(bytes).toBeLessThanOrEqual(maxBatchBytes);
    }
  });
});

describe('an item with a request of its own', () => {
  it('is an upsert, in its place between the events', () => {
    const items = [eventText('a'), eventText('b'), upsertText(), upsertText(), eventText('c')];
    const batches = allBatches(items);
    expect(counts(batches)).toEqual([2, 1, 1, 1]);
    expect(batches.map(({ path }) => path)).toEqual([
      '/api/events/batch/',
      '/api/customers/upsert',
      '/api/customers/upsert',
      '/api/events/batch/',
    ]);
    expect(JSON.parse(batches[1]?.body ?? '')).toEqual({ properties: { plan: 'pro' }, primary_key: 'ann' });
  });

  it('is an event for the single-event endpoint, without its timestamp', () => {
    const single = eventText('now', { a: 1 });
    const batches = allBatches([eventText('a'), single, eventText('b')], new Set([idOf(single)]));
    expect(counts(batches)).toEqual([1, 1, 1]);
    expect(batches[1]?.path).toBe('/events/');
    const { timestamp: _, ...rest } = JSON.parse(single);
    expect(JSON.parse(batches[1]?.body ?? '')).toEqual(rest);
  });
});

describe('upserts joined to one', () => {
  const joined = (items: readonly ItemText[], most = maxBatchBytes) => joinUpserts(items, most);
  const [free, pro] = [upsertText({ plan: 'free', city: 'Bonn' }), upsertText({ plan: 'pro' })];

  it('are those of the customer of the first one, in order, without the events between them', () => {
    const batch = joined([free, eventText(), upsertText({ plan: 'none' }, 'bob'), pro]);
    expect(batch).toMatchObject({ path: '/api/customers/upsert', items: [free, pro] });
    expect(JSON.parse(batch?.body ?? '')).toEqual({ properties: { plan: 'pro', city: 'Bonn' }, primary_key: 'ann' });
    expect(batch?.bytes).toBe(sizeOf(batch?.body ?? ''));
  });

  it('leave later ones that do not fit', () => {
    expect(joined([free, pro, upsertText({ note: 'x'.repeat(1000) })], 500)?.items).toEqual([free, pro]);
  });

  it('stop before one that does not fit, so that no newer one overtakes it', () => {
    const large = upsertText({ plan: 'none', note: 'x'.repeat(1000) });
    expect(joined([free, large, pro], 500)).toBeUndefined();
    expect(joined([free, pro, large, upsertText({ plan: 'late' })], 500)?.items).toEqual([free, pro]);
  });

  it('stop before one with another signature: a token may name the properties that it is for', () => {
    const signed = (text: ItemText, signature: string) => text.replace(/}$/, `,"signature":"${signature}"}`);
    const [one, two, three] = [signed(free, 'a'), signed(pro, 'a'), signed(pro, 'b')];
    expect(joined([one, two, three, one])?.items).toEqual([one, two]);
    expect(joined([one, three])).toBeUndefined();
  });

  it.each([
    ['of no items', []],
    ['behind an event', [eventText(), free, pro]],
    ['for one that is the only one', [free, eventText()]],
    ['for one with one of another customer', [free, upsertText({}, 'bob')]],
    ['for one that no code of clew has written', ['{"uuid":"00000000-0000-4000-8000-000000000000","properties', pro]],
  ])('are none %s', (_, items) => {
    expect(joined(items)).toBeUndefined();
  });
});
