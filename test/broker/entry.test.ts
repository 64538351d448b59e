import { describe, expect, it } from 'vitest';
import { type Entry, entryOf, nextCut, openUnits } from '../../demo/broker/entry.ts';

const NOW = 1_770_000_000_000;
const BATCH = '/api/events/batch/';

const entry = (id: string, path: string, body: object): Entry => {
  const found = entryOf(id, { path, body: JSON.stringify(body) });
  if (!found) throw new Error('no entry');
  return found;
};
const batchOf = (...names: string[]) => entry(`${NOW}-0`, BATCH, { batch: names.map((event) => ({ event })) });
const unitsOf = (...entries: Entry[]) => entries.flatMap(openUnits);
const cut = (entries: Entry[], most = Number.POSITIVE_INFINITY) => nextCut(unitsOf(...entries), most, NOW);

describe('the next request', () => {
  it('is one entry unchanged and never joins two entries', () => {
    const [a, b] = [batchOf('a', 'é😀'), batchOf('c')];
    expect(cut([a, b])?.request).toEqual({ path: BATCH, body: '{"batch":[{"event":"a"},{"event":"é😀"}]}' });
  });

  it('leaves out confirmed events', () => {
    const a = batchOf('a', 'b', 'c');
    a.settled.add(1);
    expect(cut([a])?.request.body).toBe('{"batch":[{"event":"a"},{"event":"c"}]}');
  });

  it('has at most the given bytes of UTF-8, but at least one event', () => {
    const a = batchOf('a', '😀', 'c');
    const whole = cut([a]);
    expect(whole?.bytes).toBe(Buffer.byteLength(whole?.request.body ?? ''));
    expect(cut([a], whole?.bytes)?.units).toHaveLength(3);
    expect(cut([a], (whole?.bytes ?? 0) - 1)?.units).toHaveLength(2);
    expect(cut([a], 1)?.units).toHaveLength(1);
  });

  it('is undefined when the stream is empty', () => {
    expect(cut([])).toBeUndefined();
  });

  it('adds the time to a late single event, and changes no prompt event and no $identify', () => {
    const sent = (id: number, event: string) =>
      nextCut(unitsOf(entry(`${id}-3`, '/events/', { event })), 1, NOW)?.request;
    expect(sent(NOW - 4000, 'a')).toEqual({ path: '/events/', body: '{"event":"a"}' });
    expect(sent(NOW - 6000, '$identify')).toEqual({ path: '/events/', body: '{"event":"$identify"}' });
    const timestamp = new Date(NOW - 6000).toISOString();
    expect(sent(NOW - 6000, 'a')).toEqual({
      path: BATCH,
      body: JSON.stringify({ batch: [{ timestamp, event: 'a' }] }),
    });
  });
});

it.each<[Record<string, string>]>([
  [{}],
  [{ path: BATCH }],
  [{ path: BATCH, body: '{' }],
  [{ path: BATCH, body: 'null' }],
  [{ path: BATCH, body: '{"batch":[]}' }],
  [{ path: BATCH, body: '{"batch":{"0":{}}}' }],
  [{ path: '/events', body: '{}' }],
  [{ path: '/inspect', body: '{}' }],
])('%j is not an entry of a relay', (fields) => {
  expect(entryOf('1-0', fields)).toBeUndefined();
});
