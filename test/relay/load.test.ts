import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countsOf, type Fact, type Load, withFact } from '../../src/relay/load.ts';

const known = { engine: 'gecko', day: '2026-11-26' };
const after = (...facts: Partial<Fact>[]): Load =>
  facts.reduce<Load | undefined>((load, fact) => withFact(load, { ...known, ...fact }), undefined) as Load;
const counts = (...facts: Partial<Fact>[]) => countsOf(after(...facts));
const arrived = (...numbers: number[]): Partial<Fact> => ({ delivered: numbers.map((n) => [n, 0] as const) });

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
    const late = { delivered: [59_999, 60_000, 3_600_000, 86_400_000, 9e9].map((age, at) => [at + 1, age] as const) };
    expect(after(late, late).late).toEqual({ '1m': 1, '1h': 1, '1d': 1, '7d': 1 });
  });
});

it('a page load keeps its first engine and day, and its latest release', () => {
  const load = after(arrived(1), { release: '1', engine: 'webkit', day: '2026-11-27' });
  expect(load).toMatchObject({ release: '1', ...known });
  expect(withFact(load, { ...known, ...arrived(2) }).release).toBe('1');
});

it('a page cannot make it large', () => {
  const many = Array.from({ length: 5000 }, (_, n) => [2 * n + 1, 0] as const);
  const load = many.reduce<Load | undefined>((load, one) => withFact(load, { ...known, delivered: [one] }), undefined);
  expect(load?.delivered.length).toBe(2000);
});

/** Any facts of a page load with ten events. */
const anyNumber = fc.integer({ min: 1, max: 10 });
const anyFact = fc.record(
  {
    count: fc.integer({ min: 0, max: 10 }),
    closed: fc.integer({ min: 0, max: 10 }),
    delivered: fc.array(anyNumber.map((n) => [n, 0] as const)),
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
