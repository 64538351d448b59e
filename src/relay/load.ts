import { type Ranges, sizeOf, union } from './ranges.js';

/** Ages of late events, each with its least age in ms. An event belongs to the oldest one that it has reached. */
export const AGES = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000 } as const;
export type Age = keyof typeof AGES;
const OLDEST_FIRST = (Object.keys(AGES) as Age[]).reverse();

/** The account of one page load. It is small, because a store keeps one for each page load. */
export interface Load {
  readonly release: string;
  readonly engine: string;
  /** The day (UTC) on which the relay learned of the page load. */
  readonly day: string;
  /** How many events have a number, by the last statement. */
  readonly count: number;
  /** No page has an event with a number up to this one any more. */
  readonly closed: number;
  /** The numbers that the service has. */
  readonly delivered: Ranges;
  /** Events that the tracker dropped before they had a number, by reason. */
  readonly unnumbered: Readonly<Record<string, number>>;
  /** Numbers that were dropped, by reason. */
  readonly dropped: Readonly<Record<string, Ranges>>;
  /** How many events were late, by age. */
  readonly late: Readonly<Partial<Record<Age, number>>>;
  /** Numbers up to this one may have been in an account that is forgotten. Only those that arrive, or are dropped, count again. */
  readonly forgotten?: number | undefined;
}

/** The part of a request for the account of a page load. */
export interface Fact {
  readonly release?: string;
  readonly engine: string;
  readonly day: string;
  readonly count?: number;
  readonly closed?: number;
  /** How long ago (ms) the page load began. */
  readonly age?: number | undefined;
  /** Numbers that the service has now, each with the age (ms) of its event. */
  readonly delivered?: readonly (readonly [n: number, age: number])[];
  readonly unnumbered?: Readonly<Record<string, number>>;
  readonly dropped?: Readonly<Record<string, Ranges>>;
}

/** More ranges than that come from no tracker. They would need memory that pages choose. */
const MOST_RANGES = 2000;

const bounded = (one: Ranges, other: Ranges): Ranges => {
  const both = union(one, other);
  return both.length > MOST_RANGES ? one : both;
};

const higher = (one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>> = {}) =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [
      key,
      Math.max(one[key] ?? 0, other[key] ?? 0),
    ]),
  );

const isIn = (ranges: Ranges, n: number): boolean =>
  ranges.some((first, at) => at % 2 === 0 && first <= n && n <= (ranges[at + 1] ?? 0));

/** The oldest age that has been reached. */
const ageOf = (ms: number): Age | undefined => OLDEST_FIRST.find((name) => ms >= AGES[name]);

/**
 * The account after a request. A fact that comes twice changes nothing, because a request may be repeated.
 *
 * @param isForgotten there may have been an account before, which is forgotten
 */
export const withFact = (load: Load | undefined, fact: Fact, isForgotten = false): Load => {
  const before = load?.delivered ?? [];
  const fresh = (fact.delivered ?? []).filter(([n]) => !isIn(before, n));
  const late: Record<string, number> = { ...load?.late };
  for (const [, ms] of fresh) {
    const age = ageOf(ms);
    if (age) late[age] = (late[age] ?? 0) + 1;
  }
  const dropped: Record<string, Ranges> = { ...load?.dropped };
  for (const [reason, ranges] of Object.entries(fact.dropped ?? {}))
    dropped[reason] = bounded(dropped[reason] ?? [], ranges);
  const numbers = fresh.map(([n]) => n).sort((a, b) => a - b);
  return {
    // Only a page that states the load knows its release.
    release: fact.release || load?.release || '',
    engine: load?.engine ?? fact.engine,
    day: load?.day ?? fact.day,
    count: Math.max(load?.count ?? 0, fact.count ?? 0),
    closed: Math.max(load?.closed ?? 0, fact.closed ?? 0),
    delivered: bounded(
      before,
      union(
        [],
        numbers.flatMap((n) => [n, n]),
      ),
    ),
    unnumbered: higher(load?.unnumbered ?? {}, fact.unnumbered),
    dropped,
    late,
    forgotten: isForgotten ? fact.count : load?.forgotten,
  };
};

/** The counts of one or many page loads. */
export type Counts = Readonly<Record<string, number>>;

/** The tracker's `rejected` comes last: for an event that the relay has refused, the relay's reason is the more exact one. */
const byReason = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  Number(one === 'rejected') - Number(other === 'rejected') || (one < other ? -1 : 1);

/** The counts of a page load. `dropped` and `late` have a count for each reason and age. */
export const countsOf = (load: Load): Counts => {
  const counts: Record<string, number> = {};
  let covered = load.delivered;
  let tracked = 0;
  for (const [reason, count] of Object.entries(load.unnumbered)) {
    counts[`dropped ${reason}`] = count;
    tracked += count;
  }
  for (const [reason, ranges] of Object.entries(load.dropped).sort(byReason)) {
    const before = sizeOf(covered);
    covered = union(covered, ranges);
    counts[`dropped ${reason}`] = (counts[`dropped ${reason}`] ?? 0) + sizeOf(covered) - before;
  }
  for (const [age, count] of Object.entries(load.late)) counts[`late ${age}`] = count;
  const ended = sizeOf(covered);
  covered = union(covered, load.forgotten ? [1, load.forgotten] : []);
  const known = sizeOf(covered);
  const count = Math.max(load.count, load.closed, covered.at(-1) ?? 0);
  counts.tracked = tracked + count - (known - ended);
  counts.delivered = sizeOf(load.delivered);
  counts.missing = Math.max(load.closed - sizeOf(covered, load.closed), 0);
  counts.unknown = count - known - counts.missing;
  return counts;
};
