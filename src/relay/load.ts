import { type Ranges, rangesOf, sizeOf, union, without } from './ranges.js';

/** Ages of late events, each with its least age in ms. An event belongs to the oldest one that it has reached. */
export const AGES = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000 } as const;
export type Age = keyof typeof AGES;
const OLDEST_FIRST = (Object.keys(AGES) as Age[]).reverse();

/** The account of one page load. The account is small, because a store keeps one for each page load. */
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
  /**
   * Numbers up to this one may have been in an account that is forgotten. Only those that arrive, or are dropped, count again. Undefined
   * until a dated statement, which may follow other requests.
   */
  readonly forgotten?: number | undefined;
  /** Numbers that are in no other list any more, and how many were delivered, or dropped for each reason. */
  readonly summed?: { readonly ended: Ranges; readonly counts: Counts } | undefined;
}

/** The part of a request for the account of a page load. */
export interface Fact {
  readonly release?: string;
  readonly engine: string;
  readonly day: string;
  readonly count?: number;
  readonly closed?: number;
  /** When the page load began, in ms since the epoch by the relay's clock. */
  readonly begunAt?: number | undefined;
  /** Numbers that the service has now, each with the age (ms) of its event. */
  readonly delivered?: ReadonlyMap<number, number>;
  readonly unnumbered?: Readonly<Record<string, number>>;
  readonly dropped?: Readonly<Record<string, Ranges>>;
}

/** The counts of one or many page loads. */
export type Counts = Readonly<Record<string, number>>;

/**
 * An account with longer lists is summed, for example where the relay refuses every second event of a long page load. A tracker can
 * state less in a request. If the list of ended numbers is still longer, its gaps end, too: they would need memory that pages choose.
 */
const MOST_RANGES = 4000;

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

/** The tracker's `rejected` comes last: for an event that the relay has refused, the relay's reason is the more exact one. */
const byReason = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  Number(one === 'rejected') - Number(other === 'rejected') || (one < other ? -1 : 1);

/** The numbers that were delivered or dropped, and how many of each. */
const endsOf = ({ delivered, dropped, summed }: Load): { ended: Ranges; counts: Record<string, number> } => {
  const counts: Record<string, number> = { ...summed?.counts };
  let ended: Ranges = summed?.ended ?? [];
  const add = (what: string, ranges: Ranges) => {
    const before = sizeOf(ended);
    ended = union(ended, ranges);
    counts[what] = (counts[what] ?? 0) + sizeOf(ended) - before;
  };
  add('delivered', delivered);
  for (const [reason, ranges] of Object.entries(dropped).sort(byReason)) add(`dropped ${reason}`, ranges);
  return { ended, counts };
};

const lengthOf = ({ delivered, dropped, summed }: Load): number =>
  [delivered, summed?.ended ?? [], ...Object.values(dropped)].reduce((sum, { length }) => sum + length, 0);

/** The account after a request, however long its lists are. */
const added = (load: Load | undefined, fact: Fact, isOlder: boolean): Load => {
  const { delivered = [], summed } = load ?? {};
  const ended = summed?.ended ?? [];
  const fresh: number[] = [];
  const late: Record<string, number> = { ...load?.late };
  for (const [n, ms] of fact.delivered ?? []) {
    if (isIn(delivered, n) || isIn(ended, n)) continue;
    fresh.push(n);
    const age = ageOf(ms);
    if (age) late[age] = (late[age] ?? 0) + 1;
  }
  const dropped: Record<string, Ranges> = { ...load?.dropped };
  for (const [reason, ranges] of Object.entries(fact.dropped ?? {}))
    dropped[reason] = union(dropped[reason] ?? [], without(ranges, ended));
  return {
    // Only a page that states the load knows its release.
    release: fact.release || load?.release || '',
    engine: load?.engine ?? fact.engine,
    day: load?.day ?? fact.day,
    count: Math.max(load?.count ?? 0, fact.count ?? 0),
    closed: Math.max(load?.closed ?? 0, fact.closed ?? 0),
    delivered: union(delivered, rangesOf(fresh)),
    unnumbered: higher(load?.unnumbered ?? {}, fact.unnumbered),
    dropped,
    late,
    forgotten: load?.forgotten ?? (fact.begunAt === undefined ? undefined : isOlder ? fact.count : 0),
    summed,
  };
};

/**
 * The account after a request. A fact that comes twice changes nothing, because a request may be repeated.
 *
 * @param isOlder the page load is older than all accounts, so an earlier account of it may be forgotten
 */
export const withFact = (load: Load | undefined, fact: Fact, isOlder = false): Load => {
  const after = added(load, fact, isOlder);
  if (lengthOf(after) <= MOST_RANGES) return after;
  const { ended, counts } = endsOf(after);
  const isLong = ended.length > MOST_RANGES;
  return { ...after, delivered: [], dropped: {}, summed: { ended: isLong ? [1, ended.at(-1) ?? 0] : ended, counts } };
};

/** The counts of a page load. `dropped` and `late` have a count for each reason and age. */
export const countsOf = (load: Load): Counts => {
  const { ended, counts } = endsOf(load);
  for (const [reason, count] of Object.entries(load.unnumbered)) {
    const what = `dropped ${reason}`;
    counts[what] = (counts[what] ?? 0) + count;
  }
  const known = union(ended, load.forgotten ? [1, load.forgotten] : []);
  counts.missing = Math.max(load.closed - sizeOf(known, load.closed), 0);
  counts.unknown = Math.max(load.count, load.closed, known.at(-1) ?? 0) - sizeOf(known) - counts.missing;
  counts.tracked = Object.values(counts).reduce((sum, count) => sum + count, 0);
  for (const [age, count] of Object.entries(load.late)) counts[`late ${age}`] = count;
  return counts;
};
