// @module-tag promise
import { describe, expect, it } from 'vitest';
import {
  BISECT,
  type Bisection,
  isOn,
  narrowed,
  newBisection,
  refused,
  SETTLED,
  taken,
  unanswered,
  WAIT,
} from '../../src/courier/bisect.ts';
import { times } from '../recorder/items.ts';

const LARGEST = 60_000;
/** Bytes of an event that travels alone. */
const SINGLE = 300;

const refuseMany = (bisection: Bisection, bytes: number, status = 422) =>
  refused(bisection, bytes, ['a', 'b'], false, status);
const refuseOne = (bisection: Bisection, status?: number, id = 'a') =>
  refused(bisection, SINGLE, [id], false, status ?? 422);
const refuseLast = (bisection: Bisection, status?: number, id = 'a') =>
  refused(bisection, SINGLE, [id], true, status ?? 422);
const takeOne = (bisection: Bisection) => taken(bisection, SINGLE, false);

/** A bisection after `count` events were refused, one by one: `a`, `b` and so on. */
const aside = (count: number): Bisection => {
  const bisection = newBisection(LARGEST);
  for (const id of 'abcde'.slice(0, count)) refuseOne(bisection, 422, id);
  return bisection;
};

it('bisecting begins with the largest request', () => {
  const bisection = newBisection(LARGEST);
  expect(bisection).toMatchObject({ most: LARGEST, largest: LARGEST, aside: [] });
  expect(isOn(bisection)).toBe(false);
});

describe('a confirmed batch', () => {
  it('allows a next batch of any size without bisecting', () => {
    const bisection = newBisection(LARGEST);
    expect(taken(bisection, SINGLE, false)).toBe(SETTLED);
    expect(bisection).toEqual(newBisection(LARGEST));
  });

  it('doubles the next batch while bisecting, up to the largest request', () => {
    const bisection = newBisection(LARGEST);
    refuseMany(bisection, 20_000);
    expect(bisection.most).toBe(10_000);
    for (const bytes of [10_000, 20_000, 40_000]) {
      expect(isOn(bisection)).toBe(true);
      expect(taken(bisection, bytes, false)).toBe(SETTLED);
      expect(bisection.most).toBe(Math.min(2 * bytes, LARGEST));
    }
    expect(bisection).toEqual(newBisection(LARGEST));
  });

  it('ends bisecting when the queue is empty', () => {
    const bisection = newBisection(LARGEST);
    refuseMany(bisection, 1000);
    expect(taken(bisection, 500, true)).toBe(SETTLED);
    expect(bisection).toEqual(newBisection(LARGEST));
  });
});

describe('a rejected batch', () => {
  it.each([
    ['with more behind it', false],
    ['that is all there is', true],
  ])('is halved repeatedly, and no event is dropped: %s', (_what, isLast) => {
    const bisection = newBisection(LARGEST);
    const sizes: number[] = [];
    for (let bytes = 50_000; bytes > 2 * SINGLE; bytes = bisection.most) {
      expect(refused(bisection, bytes, ['a', 'b'], isLast, 422)).toBe(BISECT);
      sizes.push(bisection.most);
    }
    expect(sizes).toEqual([25_000, 12_500, 6250, 3125, 1562, 781, 390]);
    expect(bisection).toMatchObject({ largest: LARGEST, aside: [] });
    expect(isOn(bisection)).toBe(true);
  });

  it('that is too large (413) lowers the largest request for good', () => {
    const bisection = newBisection(LARGEST);
    expect(narrowed(bisection, 2, 57_000, 58_000)).toBe(true);
    expect(bisection).toMatchObject({ most: 29_000, largest: 29_000 });
    taken(bisection, 28_000, false);
    expect(bisection).toEqual(newBisection(29_000));
    refuseMany(bisection, 28_000);
    expect(bisection).toMatchObject({ most: 14_000, largest: 29_000 });
    unanswered(bisection, 10_000);
    taken(bisection, 10_000, true);
    expect(bisection).toEqual(newBisection(29_000));
  });

  it('that is too large lowers it for one event, down to the event alone', () => {
    const bisection = newBisection(LARGEST);
    for (const [sent, largest] of [
      [60_000, 30_000],
      [30_000, 15_000],
      [15_000, 9000],
    ] as const) {
      expect(narrowed(bisection, 1, 9000, sent)).toBe(true);
      expect(bisection).toMatchObject({ most: largest, largest });
    }
    expect(narrowed(bisection, 1, 9000, 9000)).toBe(false);
    expect(bisection.largest).toBe(9000);
  });

  it.each([400, 413, 415, 422, 500, undefined])('does not lower the largest request with the status %s', (status) => {
    const bisection = newBisection(LARGEST);
    refused(bisection, 50_000, ['a', 'b'], false, status);
    expect(bisection.largest).toBe(LARGEST);
  });
});

describe('a single rejected event', () => {
  it.each([400, 413, 415, 422, 500])('is set aside and kept, and the next one is sent alone: %i', (status) => {
    const bisection = newBisection(LARGEST);
    refuseMany(bisection, 3 * SINGLE);
    expect(refuseOne(bisection, status)).toBe(BISECT);
    expect(bisection).toMatchObject({ aside: ['a'], most: 1, largest: LARGEST });
  });

  it.each([
    ['when there are others after it', refuseOne],
    ['when there is nothing left but it', refuseLast],
  ])('is dropped if the next one is confirmed and it is rejected again, %s', (_when, refuse) => {
    const bisection = aside(1);
    expect(takeOne(bisection)).toBe(SETTLED);
    // The event is the first one again, and alone.
    expect(bisection).toMatchObject({ aside: [], most: 1 });
    expect(refuse(bisection, 422)).toBe(SETTLED);
    expect(bisection.aside).toEqual([]);
  });

  it('with 500 is dropped after four rounds in which another event was confirmed', () => {
    const bisection = aside(1);
    for (let round = 1; round <= 4; round++) {
      expect(takeOne(bisection)).toBe(SETTLED);
      expect(bisection).toMatchObject({ proven: ['a'], aside: [], most: 1 });
      expect(refuseOne(bisection, 500)).toBe(round < 4 ? BISECT : SETTLED);
    }
    expect(bisection).toMatchObject({ strikes: 0 });
  });

  it('with 500 and no event after it is dropped after four tries with back-offs', () => {
    const bisection = aside(1);
    takeOne(bisection);
    const refuse = () => refuseLast(bisection, 500);
    expect([refuse(), refuse(), refuse(), refuse()]).toEqual([WAIT, WAIT, WAIT, SETTLED]);
    expect(bisection).toMatchObject({ strikes: 0 });
  });

  it('loses its strikes when it is confirmed', () => {
    const bisection = aside(1);
    takeOne(bisection);
    refuseLast(bisection, 500);
    expect(takeOne(bisection)).toBe(SETTLED);
    expect(bisection).toMatchObject({ proven: [], strikes: 0 });
  });

  it('is confirmed later if only an outage set it aside', () => {
    const bisection = aside(1);
    takeOne(bisection);
    expect(taken(bisection, SINGLE, true)).toBe(SETTLED);
    expect(bisection).toEqual(newBisection(LARGEST));
  });

  it('is retried alone, like the others set aside with it', () => {
    const bisection = aside(3);
    takeOne(bisection);
    for (const id of ['a', 'b', 'c']) {
      expect(bisection).toMatchObject({ aside: [], most: 1 });
      expect(refuseOne(bisection, 422, id)).toBe(SETTLED);
    }
  });

  it('proves nothing about events that were not set aside with it', () => {
    const bisection = aside(1);
    takeOne(bisection);
    expect(refuseOne(bisection)).toBe(SETTLED);
    expect(refuseOne(bisection, 422, 'b')).toBe(BISECT);
    expect(bisection.aside).toEqual(['b']);
  });

  it('proves nothing about an event that is next because another page has sent the rejected one meanwhile', () => {
    const bisection = aside(1);
    takeOne(bisection);
    expect(refuseLast(bisection, 500, 'b')).toBe(WAIT);
    expect(bisection).toMatchObject({ aside: ['b'], proven: [], strikes: 0 });
  });

  it('needs a new proof after an unanswered request', () => {
    const bisection = aside(1);
    takeOne(bisection);
    expect(unanswered(bisection, SINGLE)).toBe(WAIT);
    expect(refuseOne(bisection)).toBe(BISECT);
    expect(bisection.aside).toEqual(['a']);
  });
});

describe('the last queued event, rejected alone', () => {
  it.each([400, 413, 415, 422, undefined])('is dropped without proof: %s', (status) => {
    const bisection = newBisection(LARGEST);
    expect(refused(bisection, SINGLE, ['a'], true, status)).toBe(SETTLED);
    expect(bisection.aside).toEqual([]);
  });

  it('stays queued if it is the fifth in a row: the service is at fault', () => {
    const bisection = newBisection(LARGEST);
    expect(times(4, () => refuseLast(bisection))).toEqual(Array(4).fill(SETTLED));
    expect(times(4, () => refuseLast(bisection))).toEqual(Array(4).fill(WAIT));
    expect(aside(4).aside).toEqual(['a', 'b', 'c', 'd']);
    expect(refuseLast(aside(4))).toBe(WAIT);
  });

  it('is dropped again once the service has confirmed an event', () => {
    const bisection = newBisection(LARGEST);
    for (let i = 0; i < 10; i++) {
      for (let n = 0; n < 4; n++) expect(refuseLast(bisection)).toBe(SETTLED);
      taken(bisection, SINGLE, true);
    }
  });

  it('stays queued with 500, however often, and no other event is dropped', () => {
    const bisection = newBisection(LARGEST);
    for (let i = 0; i < 20; i++) expect(refuseLast(bisection, 500)).toBe(WAIT);
    expect(refuseLast(aside(2), 500)).toBe(WAIT);
  });
});

describe('five events in a row, each rejected alone', () => {
  it.each([400, 422, 500])('stay queued, because the service is at fault: %i', (status) => {
    const bisection = newBisection(LARGEST);
    expect(times(5, () => refuseOne(bisection, status))).toEqual([BISECT, BISECT, BISECT, BISECT, WAIT]);
    expect(bisection.most).toBe(1);
  });

  it('are followed by one event at a time, with a back-off after each', () => {
    const bisection = aside(5);
    expect(times(20, () => refuseOne(bisection))).toEqual(Array(20).fill(WAIT));
  });

  it('are not in a row if one of them was confirmed', () => {
    const bisection = aside(4);
    takeOne(bisection);
    takeOne(bisection);
    expect(refuseOne(bisection)).toBe(BISECT);
    expect(bisection.aside).toEqual(['a']);
  });
});

describe('an unanswered batch', () => {
  it('is retried unchanged, whatever the bisecting has found', () => {
    const bisection = aside(2);
    expect(unanswered(bisection, 4321)).toBe(WAIT);
    expect(bisection).toMatchObject({ most: 4321, largest: LARGEST, aside: [] });
    expect(isOn(bisection)).toBe(true);
    taken(bisection, 4321, true);
    expect(bisection).toEqual(newBisection(LARGEST));
  });
});

it('bisecting is on after an unanswered batch of the largest size, so that a 500 to it counts', () => {
  const bisection = newBisection(LARGEST);
  expect(unanswered(bisection, LARGEST)).toBe(WAIT);
  expect(isOn(bisection)).toBe(true);
  expect(refused(bisection, LARGEST, ['a', 'b'], false, 500)).toBe(BISECT);
});
