// @module-tag promise
import { describe, expect, it } from 'vitest';
import {
  isOn,
  newSearch,
  refused,
  SEARCH,
  SETTLED,
  type Search,
  taken,
  unanswered,
  WAIT,
} from '../../src/courier/bisect.ts';
import { times } from '../recorder/items.ts';

const LARGEST = 60_000;
/** Bytes of an event that travels alone. */
const SINGLE = 300;

const refuseMany = (search: Search, bytes: number, status = 422) => refused(search, bytes, false, false, status);
const refuseOne = (search: Search, status?: number) => refused(search, SINGLE, true, false, status ?? 422);
const refuseLast = (search: Search, status?: number) => refused(search, SINGLE, true, true, status ?? 422);
const takeOne = (search: Search) => taken(search, SINGLE, false);

/** A search for which so many events were refused, one by one. */
const aside = (count: number): Search => {
  const search = newSearch(LARGEST);
  for (let i = 0; i < count; i++) refuseOne(search);
  return search;
};

it('bisecting begins with the largest request', () => {
  const search = newSearch(LARGEST);
  expect(search).toMatchObject({ most: LARGEST, largest: LARGEST, aside: 0 });
  expect(isOn(search)).toBe(false);
});

describe('a confirmed batch', () => {
  it('allows a next batch of any size without bisecting', () => {
    const search = newSearch(LARGEST);
    expect(taken(search, SINGLE, false)).toBe(SETTLED);
    expect(search).toEqual(newSearch(LARGEST));
  });

  it('doubles the next batch while bisecting, up to the largest request', () => {
    const search = newSearch(LARGEST);
    refuseMany(search, 20_000);
    expect(search.most).toBe(10_000);
    for (const bytes of [10_000, 20_000, 40_000]) {
      expect(isOn(search)).toBe(true);
      expect(taken(search, bytes, false)).toBe(SETTLED);
      expect(search.most).toBe(Math.min(2 * bytes, LARGEST));
    }
    expect(search).toEqual(newSearch(LARGEST));
  });

  it('ends bisecting when the queue is empty', () => {
    const search = newSearch(LARGEST);
    refuseMany(search, 1000);
    expect(taken(search, 500, true)).toBe(SETTLED);
    expect(search).toEqual(newSearch(LARGEST));
  });
});

describe('a rejected batch', () => {
  it.each([
    ['with more behind it', false],
    ['that is all there is', true],
  ])('is halved repeatedly, and no event is dropped: %s', (_what, isLast) => {
    const search = newSearch(LARGEST);
    const sizes: number[] = [];
    for (let bytes = 50_000; bytes > 2 * SINGLE; bytes = search.most) {
      expect(refused(search, bytes, false, isLast, 422)).toBe(SEARCH);
      sizes.push(search.most);
    }
    expect(sizes).toEqual([25_000, 12_500, 6250, 3125, 1562, 781, 390]);
    expect(search).toMatchObject({ largest: LARGEST, aside: 0 });
    expect(isOn(search)).toBe(true);
  });

  it('that is too large (413) lowers the largest request for good', () => {
    const search = newSearch(LARGEST);
    expect(refuseMany(search, 58_000, 413)).toBe(SEARCH);
    expect(search).toMatchObject({ most: 29_000, largest: 29_000 });
    taken(search, 28_000, false);
    expect(search).toEqual(newSearch(29_000));
    refuseMany(search, 28_000);
    expect(search).toMatchObject({ most: 14_000, largest: 29_000 });
    unanswered(search, 10_000);
    taken(search, 10_000, true);
    expect(search).toEqual(newSearch(29_000));
  });

  it.each([400, 415, 422, 500, undefined])('does not lower the largest request with the status %s', (status) => {
    const search = newSearch(LARGEST);
    refused(search, 50_000, false, false, status);
    expect(search.largest).toBe(LARGEST);
  });
});

describe('a single rejected event', () => {
  it.each([400, 413, 415, 422, 500])('is set aside and kept, and the next one is sent alone: %i', (status) => {
    const search = newSearch(LARGEST);
    refuseMany(search, 3 * SINGLE);
    expect(refuseOne(search, status)).toBe(SEARCH);
    expect(search).toMatchObject({ aside: 1, most: 1, largest: LARGEST });
  });

  it.each([
    ['when there are others after it', refuseOne],
    ['when there is nothing left but it', refuseLast],
  ])('is dropped if the next one is confirmed and it is rejected again, %s', (_when, refuse) => {
    const search = aside(1);
    expect(takeOne(search)).toBe(SETTLED);
    // It goes first again, and alone.
    expect(search).toMatchObject({ aside: 0, most: 1 });
    expect(refuse(search, 422)).toBe(SETTLED);
    expect(search.aside).toBe(0);
  });

  it('with 500 is dropped after four rounds in which another event was confirmed', () => {
    const search = aside(1);
    for (let round = 1; round <= 4; round++) {
      expect(takeOne(search)).toBe(SETTLED);
      expect(search).toMatchObject({ proven: 1, aside: 0, most: 1 });
      expect(refuseOne(search, 500)).toBe(round < 4 ? SEARCH : SETTLED);
    }
    expect(search).toMatchObject({ proven: 0, strikes: 0 });
  });

  it('with 500 and no event after it is dropped after four tries with back-offs', () => {
    const search = aside(1);
    takeOne(search);
    const refuse = () => refuseLast(search, 500);
    expect([refuse(), refuse(), refuse(), refuse()]).toEqual([WAIT, WAIT, WAIT, SETTLED]);
    expect(search).toMatchObject({ proven: 0, strikes: 0 });
  });

  it('loses its strikes when it is confirmed', () => {
    const search = aside(1);
    takeOne(search);
    refuseLast(search, 500);
    expect(takeOne(search)).toBe(SETTLED);
    expect(search).toMatchObject({ proven: 0, strikes: 0 });
  });

  it('is confirmed later if only an outage set it aside', () => {
    const search = aside(1);
    takeOne(search);
    expect(taken(search, SINGLE, true)).toBe(SETTLED);
    expect(search).toEqual(newSearch(LARGEST));
  });

  it('is retried alone, like the others set aside with it', () => {
    const search = aside(3);
    takeOne(search);
    for (let i = 0; i < 3; i++) {
      expect(search).toMatchObject({ aside: 0, most: 1 });
      expect(refuseOne(search)).toBe(SETTLED);
    }
  });

  it('proves nothing about events that were not set aside with it', () => {
    const search = aside(1);
    takeOne(search);
    expect(refuseOne(search)).toBe(SETTLED);
    expect(refuseOne(search)).toBe(SEARCH);
    expect(search.aside).toBe(1);
  });

  it('needs a new proof after an unanswered request', () => {
    const search = aside(1);
    takeOne(search);
    expect(unanswered(search, SINGLE)).toBe(WAIT);
    expect(refuseOne(search)).toBe(SEARCH);
    expect(search.aside).toBe(1);
  });
});

describe('the last queued event, rejected alone', () => {
  it.each([400, 413, 415, 422, undefined])('is dropped without proof: %s', (status) => {
    const search = newSearch(LARGEST);
    expect(refused(search, SINGLE, true, true, status)).toBe(SETTLED);
    expect(search.aside).toBe(0);
  });

  it('stays queued if it is the fifth in a row: the service is at fault', () => {
    const search = newSearch(LARGEST);
    expect(times(4, () => refuseLast(search))).toEqual(Array(4).fill(SETTLED));
    expect(times(4, () => refuseLast(search))).toEqual(Array(4).fill(WAIT));
    expect(aside(4).aside).toBe(4);
    expect(refuseLast(aside(4))).toBe(WAIT);
  });

  it('is dropped again once the service has confirmed an event', () => {
    const search = newSearch(LARGEST);
    for (let i = 0; i < 10; i++) {
      for (let n = 0; n < 4; n++) expect(refuseLast(search)).toBe(SETTLED);
      taken(search, SINGLE, true);
    }
  });

  it('stays queued with 500, however often, and no other event is dropped', () => {
    const search = newSearch(LARGEST);
    for (let i = 0; i < 20; i++) expect(refuseLast(search, 500)).toBe(WAIT);
    expect(refuseLast(aside(2), 500)).toBe(WAIT);
  });
});

describe('five events in a row, each rejected alone', () => {
  it.each([400, 422, 500])('stay queued, because the service is at fault: %i', (status) => {
    const search = newSearch(LARGEST);
    expect(times(5, () => refuseOne(search, status))).toEqual([SEARCH, SEARCH, SEARCH, SEARCH, WAIT]);
    expect(search.most).toBe(1);
  });

  it('are followed by one event at a time, with a back-off after each', () => {
    const search = aside(5);
    expect(times(20, () => refuseOne(search))).toEqual(Array(20).fill(WAIT));
  });

  it('are not in a row if one of them was confirmed', () => {
    const search = aside(4);
    takeOne(search);
    takeOne(search);
    expect(refuseOne(search)).toBe(SEARCH);
    expect(search.aside).toBe(1);
  });
});

describe('an unanswered batch', () => {
  it('is retried unchanged, whatever the bisecting has found', () => {
    const search = aside(2);
    expect(unanswered(search, 4321)).toBe(WAIT);
    expect(search).toMatchObject({ most: 4321, largest: LARGEST, aside: 0 });
    expect(isOn(search)).toBe(true);
    taken(search, 4321, true);
    expect(search).toEqual(newSearch(LARGEST));
  });
});

it('bisecting is on after an unanswered batch of the largest size, so that a 500 to it counts', () => {
  const search = newSearch(LARGEST);
  expect(unanswered(search, LARGEST)).toBe(WAIT);
  expect(isOn(search)).toBe(true);
  expect(refused(search, LARGEST, false, false, 500)).toBe(SEARCH);
});
