import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countsOf, type Fact, type Load, withFact } from '../../src/relay/load.ts';

const known = { engine: 'gecko', day: '2026-11-26' };
const after = (...facts: Partial<Fact>[]): Load =>
  facts.reduce<Load | undefined>((load, fact) => withFact(load, { ...known, ...fact }), undefined) as Load;
const counts = (...facts: Partial<Fact>[]) => countsOf(after(...facts));
const arrived = (...numbers: number[]): Partial<Fact> => ({ delivered: new Map(numbers.map((n) => [n, 0])) });

describe('an event of a page load is', () => {
  it('unknown until it has arrived', () => {
    expect(counts({ count: 3 }, arrived(1, 3))).toEqual({ tracked: 3, delivered: 2, missing: 0, unknown: 1 });
  });

  it('unknown if a later one has arrived, without a statement', () => {
    expect(counts(arrived(4))).toEqual({ tracked: 4, delivered: 1, missing: 0, unknown: 3 });
  });

  it('missing if no page has it any more', () => {
    expect(counts({ count: 5, closed: 4 }, arrived(1, 2))).toMatchObject({ missing: 2, unknown: 1 });
  });

  it('delivered if it arrives after that', () => {
    expect(counts({ count: 2, closed: 2 }, arrived(1), arrived(2))).toMatchObject({ missing: 0, delivered: 2 });
  });

  it('dropped for its first reason, and delivered above all', () => {
    const facts = [{ count: 4, closed: 4, dropped: { unsigned: [2, 2] } }, { dropped: { rejected: [1, 3] } }];
    expect(counts(...facts, arrived(3))).toEqual({
      tracked: 4,
      delivered: 1,
      missing: 1,
      unknown: 0,
      'dropped unsigned': 1,
      'dropped rejected': 1,
    });
  });

  it('tracked and dropped without a number, once for each statement', () => {
    const facts = [
      { count: 1, unnumbered: { full: 2 } },
      { count: 1, unnumbered: { full: 5, filtered: 1 } },
    ];
    expect(counts(...facts)).toMatchObject({ tracked: 7, 'dropped full': 5, 'dropped filtered': 1, unknown: 1 });
  });

  it('late by its age, once', () => {
    const ages = [59_999, 60_000, 3_600_000, 86_400_000, 9e9];
    const late = { delivered: new Map(ages.map((age, at) => [at + 1, age])) };
    expect(after(late, late).late).toEqual({ '1m': 1, '1h': 1, '1d': 1, '7d': 1 });
  });
});

it('a page load keeps its first engine and day, and its latest release', () => {
  const load = after(arrived(1), { release: '1', engine: 'webkit', day: '2026-11-27' });
  expect(load).toMatchObject({ release: '1', ...known });
  expect(withFact(load, { ...known, ...arrived(2) }).release).toBe('1');
});

it('a long page load of which every second event is refused has exact and small accounts', () => {
  /** Twenty events of a request, of which the relay refuses the even ones. */
  const request = (from: number): Partial<Fact> => {
    const odd = Array.from({ length: 10 }, (_, at) => from + 2 * at + 1);
    return {
      delivered: new Map(odd.map((n) => [n, 60_000])),
      dropped: { 'not-accepted': odd.flatMap((n) => [n + 1, n + 1]) },
    };
  };
  const requests = Array.from({ length: 200 }, (_, at) => request(20 * at));
  // Two requests never arrive, and one arrives last.
  const [last] = requests.splice(100, 3);
  const facts = [...requests, ...requests.slice(0, 5), last ?? {}];
  const load = after(...facts, { count: 4000, closed: 4000 });
  expect(countsOf(load)).toEqual({
    tracked: 4000,
    delivered: 1980,
    'dropped not-accepted': 1980,
    'late 1m': 1980,
    missing: 40,
    unknown: 0,
  });
  expect(JSON.stringify(load).length).toBeLessThan(30_000);
});

it('a long list of drops, whose other events arrive later, misses none of them', () => {
  const numbers = Array.from({ length: 1700 }, (_, at) => 2 * at + 1);
  const drops = { count: 3400, dropped: { 'too-large': numbers.flatMap((n) => [n + 1, n + 1]) } };
  const facts = Array.from({ length: 17 }, (_, at) => ({
    ...drops,
    ...arrived(...numbers.slice(100 * at, 100 * at + 100)),
  }));
  const account = { tracked: 3400, delivered: 1700, 'dropped too-large': 1700, missing: 0, unknown: 0 };
  expect(counts(...facts, { closed: 3400 })).toEqual(account);
});

it('a page cannot make it large, and nothing is missing that it has no room for', () => {
  const odd = (from: number) => Array.from({ length: 500 }, (_, at) => 2 * (from + at) + 1);
  let load: Load | undefined;
  for (let from = 0; from < 5000; from += 500) {
    load = withFact(load, {
      ...known,
      count: 10_000,
      closed: 10_000,
      ...arrived(...odd(from)),
      dropped: { full: [2, 2] },
    });
    expect(JSON.stringify(load).length).toBeLessThan(40_000);
  }
  const { tracked, missing = 0, delivered } = countsOf(load as Load);
  expect([tracked, delivered]).toEqual([5001 + missing, 5000]);
  expect(missing).toBeLessThan(4000);
});

/** Any facts of a page load with ten events. */
const anyNumber = fc.integer({ min: 1, max: 10 });
const anyFact = fc.record(
  {
    count: fc.integer({ min: 0, max: 10 }),
    closed: fc.integer({ min: 0, max: 10 }),
    delivered: fc.array(anyNumber.map((n) => [n, 0] as const)).map((pairs) => new Map(pairs)),
    dropped: fc
      .tuple(fc.constantFrom('expired', 'rejected', 'unsigned'), anyNumber)
      .map(([reason, n]) => ({ [reason]: [n, n] })),
    unnumbered: fc.integer({ min: 1, max: 3 }).map((full) => ({ full })),
  },
  { requiredKeys: [] },
);

it('each event has one state, whatever arrives, in any order and however often', () => {
  fc.assert(
    fc.property(fc.array(anyFact, { minLength: 1, maxLength: 8 }), (facts) => {
      const one = counts(...facts);
      const { tracked = 0, delivered = 0, missing = 0, unknown = 0, ...dropped } = one;
      expect(tracked).toBe(delivered + missing + unknown + Object.values(dropped).reduce((sum, n) => sum + n, 0));
      expect(Math.min(missing, unknown)).toBeGreaterThanOrEqual(0);
      expect(counts(...[...facts].reverse(), ...facts)).toEqual(one);
    }),
  );
});
