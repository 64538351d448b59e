/** A change of the account of one page load, and of the totals of its day. */
export interface BookChange {
  /** Names the page load. */
  readonly load: string;
  /** The account as it was read, or undefined if there was none. */
  readonly before: string | undefined;
  readonly after: string;
  /** The day of the totals, such as `2026-11-26`. */
  readonly day: string;
  /** Numbers to be added to the totals of that day, by name. */
  readonly changes: Readonly<Record<string, number>>;
}

/** Remembers the accounts of page loads and their totals, as long as `seen` remembers events. */
export interface BookStore {
  /** Resolves to the account of each page load, in order. Undefined for a page load that has none. */
  read(loads: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Makes the change in one step. Resolves to false, and changes nothing, if the account is no longer `before`. */
  write(change: BookChange): Promise<boolean>;
  /** Resolves to the totals of each day, in order. */
  totals(days: readonly string[]): Promise<readonly Readonly<Record<string, number>>[]>;
  /**
   * For how long back, in ms, it remembers every account. The events of an older page load that has no account are never missing,
   * because the account may be forgotten. Without the method, it remembers all accounts.
   */
  memory?(): number | Promise<number>;
}

/** Days whose totals are kept in memory. */
const MOST_DAYS = 40;

/** Most bytes of the accounts in one of the two maps of `memoryBooks`. */
const MOST_BYTES = 32 * 1024 * 1024;

/** V8 keeps a text with two bytes for each character if one of them is beyond Latin-1, such as that of a release. */
const bytesOf = (text: string): number => text.length * (/[^\0-\xff]/.test(text) ? 2 : 1);

/**
 * Keeps the accounts of the newest `most` page loads in this process, and at most twice as many. The store keeps fewer accounts
 * if they would take more than about 64 MiB: pages choose how long an account is.
 */
export const memoryBooks = (most = 100_000): BookStore => {
  // Two maps, and the older one is dropped whole, because V8 searches a map from its beginning to find the first entry after
  // many deletions.
  let newer = new Map<string, string>();
  let older = newer;
  /** Bytes of the accounts that were written into the newer map. */
  let length = 0;
  /** When the first account of each could be written. */
  let newerSince = performance.now();
  let olderSince = newerSince;
  const days = new Map<string, Record<string, number>>();
  const of = (load: string) => newer.get(load) ?? older.get(load);
  return {
    read: async (loads) => loads.map(of),
    async write({ load, before, after, day, changes }) {
      if (of(load) !== before) return false;
      length += bytesOf(after) - bytesOf(newer.get(load) ?? '');
      newer.set(load, after);
      if (newer.size >= most || length > MOST_BYTES) {
        older = newer;
        newer = new Map();
        length = 0;
        olderSince = newerSince;
        newerSince = performance.now();
      }
      const totals = days.get(day) ?? {};
      for (const [name, by] of Object.entries(changes)) totals[name] = (totals[name] ?? 0) + by;
      days.set(day, totals);
      if (days.size > MOST_DAYS) days.delete([...days.keys()].sort()[0] ?? '');
      return true;
    },
    totals: async (of) => of.map((day) => ({ ...days.get(day) })),
    memory: () => performance.now() - olderSince,
  };
};

/** KEYS: the account, the totals of its day. ARGV: the account before and after, ms to keep both, names and numbers to add. */
const WRITE = `
  if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  for i = 4, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  return 1`;

/** A script, because HGETALL itself answers in another form in each version of Redis's protocol. */
const TOTALS = "return redis.call('HGETALL', KEYS[1])";

/**
 * Keeps the accounts in a Redis that several relays share, each under a key of its own.
 *
 * @param prefix begins each key, with braces that put all keys into one slot of a cluster: a script may use only one slot
 * @param memory for how long back (ms) that Redis remembers
 */
export const redisBooks = (
  command: (args: string[]) => Promise<unknown>,
  maxAge: number,
  prefix: string,
  memory: () => Promise<number>,
): BookStore => ({
  memory,
  read: (loads) =>
    Promise.all(
      loads.map(async (load) => {
        const text = await command(['GET', `${prefix}load:${load}`]);
        return typeof text === 'string' ? text : undefined;
      }),
    ),
  async write({ load, before = '', after, day, changes }) {
    const keys = [`${prefix}load:${load}`, `${prefix}day:${day}`];
    const numbers = Object.entries(changes).flatMap(([name, by]) => [name, `${by}`]);
    return Number(await command(['EVAL', WRITE, '2', ...keys, before, after, `${maxAge}`, ...numbers])) === 1;
  },
  totals: (days) =>
    Promise.all(
      days.map(async (day) => {
        const list = (await command(['EVAL', TOTALS, '1', `${prefix}day:${day}`])) as string[];
        return Object.fromEntries(list.flatMap((name, at) => (at % 2 ? [] : [[name, Number(list[at + 1])]])));
      }),
    ),
});
