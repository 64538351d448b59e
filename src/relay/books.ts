import { inTime, Late } from '../service/inTime.js';
import type { BookStore } from './bookStore.js';
import { type Counts, countsOf, type Fact, type Load, withFact } from './load.js';
import { oneAtATime } from './oneAtATime.js';

/** Totals of the page loads of one release, one browser engine and one day. */
export interface BookTotals {
  /** The option `release` of their tracker, or '' without it. */
  readonly release: string;
  /** By the header `User-Agent`: every browser on iOS is `webkit`. */
  readonly engine: 'chromium' | 'gecko' | 'webkit' | 'other';
  /** The day (UTC) on which the relay learned of the page loads, such as `2026-11-26`. */
  readonly day: string;
  /** Events that were tracked, as far as pages have stated them. `delivered + dropped + missing + unknown`. */
  readonly tracked: number;
  /** Events that the service, or your `forward`, has taken. */
  readonly delivered: number;
  /** Events that the tracker has dropped, or the relay has refused, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Delivered events that arrived late, by age: at least a minute, an hour, a day, or seven days after their call. */
  readonly late: Readonly<Partial<Record<'1m' | '1h' | '1d' | '7d', number>>>;
  /** Events that no page has any more, and that never arrived. */
  readonly missing: number;
  /** Events that have not arrived, of page loads that are open, that still have events, or whose visitor was not seen again. */
  readonly unknown: number;
}

/** How many days the report goes back, with today. The visitors of a page load may come back, and its losses show, until then. */
const DAYS = 31;
const DAY = 86_400_000;
/** Pages choose the release. More releases of a day count as one. */
const MOST_RELEASES = 100;
/** Other requests may change the same page load meanwhile, in this relay and in others. */
const MOST_TRIES = 20;
/** Most numbers in the facts that are kept while the store fails, in about 20 MB. One request may have thousands of them. */
const MOST_LATE = 200_000;

const dayAt = (time: number): string => new Date(time).toISOString().slice(0, 10);
export const today = (): string => dayAt(Date.now());
const reported = (): string[] => Array.from({ length: DAYS }, (_, ago) => dayAt(Date.now() - ago * DAY));

/** Browsers on iOS have the engine WebKit, and name it without `Chrome/` or `Firefox/`. */
export const engineOf = (userAgent: string | null): BookTotals['engine'] => {
  const agent = userAgent ?? '';
  if (/\bFirefox\//.test(agent)) return 'gecko';
  if (/\b(Headless)?Chrom(e|ium)\//.test(agent)) return 'chromium';
  return /\bAppleWebKit\//.test(agent) ? 'webkit' : 'other';
};

/** How many numbers are in a fact. */
const sizeOf = ({ delivered, dropped = {} }: Fact): number =>
  Object.values(dropped).reduce((sum, { length }) => sum + length, 1 + (delivered?.size ?? 0));

const nameOf = ({ release, engine }: Load, what: string): string => JSON.stringify([release, engine, what]);

/** The difference of two accounts, as changes of the totals. `counts` are those of the account after the request. */
const changesOf = (before: Load | undefined, after: Load, counts: Counts): Counts => {
  const changes: Record<string, number> = {};
  const add = (load: Load, counts: Counts, sign: number) => {
    for (const [what, count] of Object.entries(counts)) {
      if (!count) continue;
      const name = nameOf(load, what);
      changes[name] = (changes[name] ?? 0) + sign * count;
    }
  };
  if (before) add(before, countsOf(before), -1);
  add(after, counts, 1);
  for (const [name, by] of Object.entries(changes)) if (!by) delete changes[name];
  return changes;
};

/** Anything may be in a Redis that other programs use. */
const partsOf = (name: string): readonly string[] => {
  try {
    const parts = JSON.parse(name);
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : [];
  } catch {
    return [];
  }
};

const totalsOf = (day: string, totals: Counts): BookTotals[] => {
  const rows = new Map<string, Record<string, Record<string, number>>>();
  for (const [name, count] of Object.entries(totals)) {
    const [release, engine, what] = partsOf(name);
    if (release === undefined || engine === undefined || what === undefined || !Number.isFinite(count)) continue;
    const key = JSON.stringify([release, engine]);
    const row = rows.get(key) ?? {};
    const [group = '', detail = ''] = what.split(' ');
    if (count) row[group] = { ...row[group], [detail]: count };
    rows.set(key, row);
  }
  return [...rows].sort().flatMap(([key, { tracked, delivered, missing, unknown, dropped = {}, late = {} }]) => {
    const [release, engine] = JSON.parse(key);
    const one = (counts?: Record<string, number>) => counts?.[''] ?? 0;
    // The page loads of this row have another release by now.
    if (!one(tracked)) return [];
    return {
      release,
      engine,
      day,
      tracked: one(tracked),
      delivered: one(delivered),
      dropped,
      late,
      missing: one(missing),
      unknown: one(unknown),
    };
  });
};

/**
 * The account of each page load, by what its requests contain and state.
 *
 * @param timeout how long `store` may take, in ms
 * @param onError receives why `store` has failed. The facts are added with a later request
 */
export const createBooks = (store: BookStore, timeout: number, onError: (error: unknown) => void) => {
  /** As this relay knows them. Other relays may have changed them. */
  let known = new Map<string, Record<string, number>>();
  let isRead = false;
  const releases = new Set<string>();
  let namedOn = '';
  /** Facts that the store has not taken yet. A fact may be added twice. */
  const late = new Set<{ readonly load: string; readonly fact: Fact }>();
  /** How many numbers are in them. */
  let lateSize = 0;
  const waiting = new Map<string, { readonly facts: Fact[]; readonly written: Promise<Counts> }>();
  /** The latest write of each page load. */
  const writing = new Map<string, Promise<void>>();
  /** A report has the facts of all requests that were answered before it. */
  const changing = new Set<Promise<unknown>>();

  const named = (release: string, day: string): string => {
    if (day !== namedOn) releases.clear();
    namedOn = day;
    if (releases.size < MOST_RELEASES) releases.add(release);
    return releases.has(release) ? release : 'other';
  };

  /** A page load keeps its release, also on a later day with many others. */
  const labelled = (before: Load | undefined, { release, ...fact }: Fact): Fact =>
    release === undefined
      ? fact
      : { ...fact, release: release === before?.release ? release : named(release, fact.day) };

  /** Whether the page load is older than the memory of the store. The first dated statement of the page load decides that once. */
  const isOlder = async (before: Load | undefined, { begunAt }: Fact): Promise<boolean> => {
    if (begunAt === undefined || before?.forgotten !== undefined) return false;
    const memory = (await store.memory?.()) ?? Number.POSITIVE_INFINITY;
    return Date.now() - begunAt > memory;
  };

  const write = async (load: string, facts: readonly Fact[]): Promise<Counts> => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const totalsBefore = known;
      const [text] = await store.read([load]);
      const before = text === undefined ? undefined : (JSON.parse(text) as Load);
      let changed = before;
      for (const fact of facts) changed = withFact(changed, labelled(changed, fact), await isOlder(changed, fact));
      const after = changed as Load;
      const written = JSON.stringify(after);
      const counts = countsOf(after);
      if (text === written) return counts;
      const changes = changesOf(before, after, counts);
      if (!(await store.write({ load, before: text, after: written, day: after.day, changes }))) continue;
      // The totals were read meanwhile, and may have these changes already. The next read has them.
      if (known !== totalsBefore) return counts;
      const totals = known.get(after.day) ?? {};
      for (const [name, by] of Object.entries(changes)) totals[name] = (totals[name] ?? 0) + by;
      known.set(after.day, totals);
      return counts;
    }
    throw new Error(`seen.books: expected to write a page load within ${MOST_TRIES} tries`);
  };

  /** The facts of a page load wait while one of its writes is running. The next write adds all of them. */
  const add = (load: string, fact: Fact): Promise<Counts> => {
    const next = waiting.get(load);
    next?.facts.push(fact);
    if (next) return next.written;
    const facts = [fact];
    const begin = async () => {
      await writing.get(load);
      waiting.delete(load);
      return inTime(write(load, facts), timeout, 'seen');
    };
    const written = begin();
    waiting.set(load, { facts, written });
    const ended = written
      .catch(() => {})
      .then(() => {
        if (writing.get(load) === ended) writing.delete(load);
      });
    writing.set(load, ended);
    return written;
  };

  const attempt = async (load: string, fact: Fact): Promise<Counts | undefined> => {
    try {
      return await inTime(add(load, fact), timeout, 'seen');
    } catch (error) {
      onError(error);
      // A worker may have ended the request that was writing. The store refuses a write that does not know the one before.
      if (error instanceof Late) {
        waiting.delete(load);
        writing.delete(load);
      }
      return undefined;
    }
  };

  const keep = (load: string, fact: Fact) => {
    const size = sizeOf(fact);
    if (lateSize + size > MOST_LATE) return;
    late.add({ load, fact });
    lateSize += size;
  };

  /** Adds the facts that the store did not take. The first one shows whether the store works again. The promise never rejects. */
  const addLate = oneAtATime(async () => {
    const tryOne = async (one: { readonly load: string; readonly fact: Fact }) => {
      const counts = await attempt(one.load, one.fact);
      if (counts && late.delete(one)) lateSize -= sizeOf(one.fact);
      return counts;
    };
    const [first, ...others] = late;
    if (first && (await tryOne(first))) await Promise.all(others.map(tryOne));
  }, 2 * timeout);

  const addAll = async (facts: ReadonlyMap<number, Fact>) => {
    const all = [...facts].map(async ([load, fact]) => {
      const counts = await attempt(`${load}`, fact);
      if (!counts) keep(`${load}`, fact);
      return [load, counts] as const;
    });
    const counts = await Promise.all(all);
    if (counts.every(([, one]) => one)) await addLate();
    return new Map(counts);
  };

  /** The writes, the two steps of `addLate`, and the totals. */
  const longestRefresh = 4 * timeout;
  const read = async () => {
    const days = reported();
    try {
      await inTime(Promise.all(changing), timeout, 'seen');
    } catch {
      // Requests that a worker has ended.
      changing.clear();
    }
    await addLate();
    try {
      const all = await inTime(store.totals(days), timeout, 'seen');
      known = new Map(days.map((day, at) => [day, { ...all[at] }]));
      isRead = true;
    } catch (error) {
      onError(error);
    }
  };

  return {
    /** Adds a request's facts. Resolves to the counts of each page load, and never rejects. */
    async add(facts: ReadonlyMap<number, Fact>): Promise<ReadonlyMap<number, Counts | undefined>> {
      if (!facts.size) return new Map();
      const adding = addAll(facts).finally(() => changing.delete(adding));
      changing.add(adding);
      return adding;
    },
    /** Adds the facts that are left, as the relay closes. The promise never rejects. */
    close: addLate.again,
    /** Reads what all relays that share the store have counted. The promise never rejects. */
    refresh: oneAtATime(read, longestRefresh),
    /** How long a refresh may take, in ms. */
    longestRefresh,
    /**
     * The totals as last read, with the changes by this relay since, the latest day first. Undefined before they were read: what an
     * earlier process or other relays have counted is not zero.
     */
    totals: (): BookTotals[] | undefined =>
      isRead ? reported().flatMap((day) => totalsOf(day, known.get(day) ?? {})) : undefined,
  };
};

export type Books = ReturnType<typeof createBooks>;
