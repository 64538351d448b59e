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
} from '../../src/pipeline/search.ts';
import { times } from './items.ts';

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

it('begins with as much as a request may hold', () => {
  const search = newSearch(LARGEST);
  expect(search).toMatchObject({ most: LARGEST, largest: LARGEST, aside: 0 });
  expect(isOn(search)).toBe(false);
});

describe('a batch that is taken', () => {
  it('lets the next one be as large as any, when all is well', () => {
    const search = newSearch(LARGEST);
    expect(taken(search, SINGLE, false)).toBe(SETTLED);
    expect(search).toEqual(newSearch(LARGEST));
  });

  it('lets the next one be twice as large in a search, until that is as large as any', () => {
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

  it('ends a search when there is nothing after it', () => {
    const search = newSearch(LARGEST);
    refuseMany(search, 1000);
    expect(taken(search, 500, true)).toBe(SETTLED);
    expect(search).toEqual(newSearch(LARGEST));
  });
});

describe('a refused batch', () => {
  it.each([
    ['with more behind it', false],
    ['that is all there is', true],
  ])('is halved, again and again, and nothing of it is given up: %s', (_what, isLast) => {
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

  it('that was too large (413) says for good what is too much', () => {
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

  it.each([400, 415, 422, 500, undefined])('says so of no other reason: %s', (status) => {
    const search = newSearch(LARGEST);
    refused(search, 50_000, false, false, status);
    expect(search.largest).toBe(LARGEST);
  });
});

describe('a single event that is refused', () => {
  it.each([400, 413, 415, 422, 500])('is set aside and not given up, for the next one to go alone: %i', (status) => {
    const search = newSearch(LARGEST);
    refuseMany(search, 3 * SINGLE);
    expect(refuseOne(search, status)).toBe(SEARCH);
    expect(search).toMatchObject({ aside: 1, most: 1, largest: LARGEST });
  });

  it.each([
    ['when there are others after it', refuseOne],
    ['when there is nothing left but it', refuseLast],
  ])('is given up when the next one got through and it is refused again, %s', (_when, refuse) => {
    const search = aside(1);
    expect(takeOne(search)).toBe(SETTLED);
    // It goes first again, and alone.
    expect(search).toMatchObject({ aside: 0, most: 1 });
    expect(refuse(search, 422)).toBe(SETTLED);
    expect(search.aside).toBe(0);
  });

  it('that is answered 500 is given up after four rounds in which another one got through: half of a service may be down', () => {
    const search = aside(1);
    for (let round = 1; round <= 4; round++) {
      expect(takeOne(search)).toBe(SETTLED);
      expect(search).toMatchObject({ proven: 1, aside: 0, most: 1 });
      expect(refuseOne(search, 500)).toBe(round < 4 ? SEARCH : SETTLED);
    }
    expect(search).toMatchObject({ proven: 0, strikes: 0 });
  });

  it('that is answered 500 and has none after it is given up after four tries, with waits in between', () => {
    const search = aside(1);
    takeOne(search);
    const refuse = () => refuseLast(search, 500);
    expect([refuse(), refuse(), refuse(), refuse()]).toEqual([WAIT, WAIT, WAIT, SETTLED]);
    expect(search).toMatchObject({ proven: 0, strikes: 0 });
  });

  it('that is taken meanwhile was not at fault, and its strikes are forgotten', () => {
    const search = aside(1);
    takeOne(search);
    refuseLast(search, 500);
    expect(takeOne(search)).toBe(SETTLED);
    expect(search).toMatchObject({ proven: 0, strikes: 0 });
  });

  it('is sent when it was not its fault: good events may be set aside in an outage', () => {
    const search = aside(1);
    takeOne(search);
    expect(taken(search, SINGLE, true)).toBe(SETTLED);
    expect(search).toEqual(newSearch(LARGEST));
  });

  it('is told from the others that were set aside with it: each goes again', () => {
    const search = aside(3);
    takeOne(search);
    for (let i = 0; i < 3; i++) {
      expect(search).toMatchObject({ aside: 0, most: 1 });
      expect(refuseOne(search)).toBe(SETTLED);
    }
  });

  it('proves nothing about those that were never set aside: the service may be down again by then', () => {
    const search = aside(1);
    takeOne(search);
    expect(refuseOne(search)).toBe(SETTLED);
    expect(refuseOne(search)).toBe(SEARCH);
    expect(search.aside).toBe(1);
  });

  it('has to be proven again when the service was away in between', () => {
    const search = aside(1);
    takeOne(search);
    expect(unanswered(search, SINGLE)).toBe(WAIT);
    expect(refuseOne(search)).toBe(SEARCH);
    expect(search.aside).toBe(1);
  });
});

describe('the last event there is, refused alone', () => {
  it.each([400, 413, 415, 422, undefined])('is given up, for nothing can prove it: %s', (status) => {
    const search = newSearch(LARGEST);
    expect(refused(search, SINGLE, true, true, status)).toBe(SETTLED);
    expect(search.aside).toBe(0);
  });

  it('waits when it is the fifth in a row: then it is the service', () => {
    const search = newSearch(LARGEST);
    expect(times(4, () => refuseLast(search))).toEqual(Array(4).fill(SETTLED));
    expect(times(4, () => refuseLast(search))).toEqual(Array(4).fill(WAIT));
    expect(aside(4).aside).toBe(4);
    expect(refuseLast(aside(4))).toBe(WAIT);
  });

  it('is given up again once the service has taken one', () => {
    const search = newSearch(LARGEST);
    for (let i = 0; i < 10; i++) {
      for (let n = 0; n < 4; n++) expect(refuseLast(search)).toBe(SETTLED);
      taken(search, SINGLE, true);
    }
  });

  it('waits when it is answered 500, however often, and takes no other one with it', () => {
    const search = newSearch(LARGEST);
    for (let i = 0; i < 20; i++) expect(refuseLast(search, 500)).toBe(WAIT);
    expect(refuseLast(aside(2), 500)).toBe(WAIT);
  });
});

describe('five in a row, each refused alone', () => {
  it.each([400, 422, 500])('are the service: all of them wait, and nothing is given up: %i', (status) => {
    const search = newSearch(LARGEST);
    expect(times(5, () => refuseOne(search, status))).toEqual([SEARCH, SEARCH, SEARCH, SEARCH, WAIT]);
    expect(search.most).toBe(1);
  });

  it('are followed by one at a time, with a wait after each', () => {
    const search = aside(5);
    expect(times(20, () => refuseOne(search))).toEqual(Array(20).fill(WAIT));
  });

  it('are not in a row when one of them got through', () => {
    const search = aside(4);
    takeOne(search);
    takeOne(search);
    expect(refuseOne(search)).toBe(SEARCH);
    expect(search.aside).toBe(1);
  });
});

describe('a batch that is not answered', () => {
  it('goes again as it was, whatever has been found out before', () => {
    const search = aside(2);
    expect(unanswered(search, 4321)).toBe(WAIT);
    expect(search).toMatchObject({ most: 4321, largest: LARGEST, aside: 0 });
    expect(isOn(search)).toBe(true);
    taken(search, 4321, true);
    expect(search).toEqual(newSearch(LARGEST));
  });
});

it('is on after a batch as large as any was not answered, so that a 500 to it counts', () => {
  const search = newSearch(LARGEST);
  expect(unanswered(search, LARGEST)).toBe(WAIT);
  expect(isOn(search)).toBe(true);
  expect(refused(search, LARGEST, false, false, 500)).toBe(SEARCH);
});
