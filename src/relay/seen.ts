import { kindOf } from '../wire.js';
import { type BookStore, memoryBooks, redisBooks } from './bookStore.js';
import { memoryOffsets } from './offsets.js';

/**
 * State of an event: `new` (now reserved for the caller), `pending` (another request is forwarding it at this moment), or
 * `taken` (the service has it).
 */
export type SeenState = 'new' | 'pending' | 'taken';

/**
 * Remembers which events the service has taken, so that the relay can drop duplicates. Browsers retry requests on their own,
 * and a page sends events again if it could not read the answer. Several relays share one store. The relay waits for each
 * call at most its option `timeout`.
 */
export interface Seen {
  /** How long a reservation holds, in ms. `createRelay` refuses a time that is shorter than it may need to forward an event. */
  readonly maxPending?: number | undefined;
  /**
   * Reserves the events that are `new`.
   *
   * @param owner names the request. No other request of any relay has the same name. An event that it has reserved is `new` for it
   *   again. A client of a database repeats a command if the connection was lost before the answer.
   * @returns resolves to the state of each, in order. If it rejects, the relay forwards nothing and answers 503
   */
  reserve(uuids: readonly string[], owner: string): Promise<readonly SeenState[]>;
  /** Marks events as taken by the service. */
  confirm(uuids: readonly string[]): Promise<void>;
  /**
   * Ends the reservation of events that the service has not taken, so that a retry is forwarded. A reservation of another
   * owner stays: the owner's own may have expired in the meantime.
   */
  release(uuids: readonly string[], owner: string): Promise<void>;
  /**
   * For how long back, in ms, this `Seen` remembers every handover that was confirmed. The relay calls the method at the first
   * handover, and when it does not find one. The relay reports an older handover as `forgotten`. Without the method, the relay reports
   * such a handover as `unknown`, and the page sends again.
   */
  memory?(): number | Promise<number>;
  /**
   * Resolves to the offset of each page load, in order: by how many ms the relay corrects the times of its events. Undefined for a load
   * that has none. Without this method and the next one, the relay remembers the offsets in its own memory.
   *
   * @param loads names of page loads
   */
  offsets?(loads: readonly string[]): Promise<readonly (number | undefined)[]>;
  /**
   * Remembers the offset of a page load, unless it has one: two requests of a page load may arrive at the same time.
   *
   * @returns resolves to the offset that the page load has now
   */
  setOffset?(load: string, offset: number): Promise<number>;
  /**
   * The accounts of page loads, for `onReport` and the metrics. Without it, the relay keeps them in its own memory. Relays that share
   * this `Seen` then call events missing that another one has forwarded.
   */
  readonly books?: BookStore | undefined;
}

/** How long a `Seen` remembers events. */
export interface SeenOptions {
  /**
   * How long a taken event is remembered, in ms.
   *
   * @default 2592000000 (30 days), as long as a tracker keeps an event. In `memorySeen` 86400000 (a day).
   */
  maxAge?: number | undefined;
  /**
   * How long a reservation holds if its relay has died, in ms. The time must be at least five times the relay's `timeout` plus
   * 1,200 ms: `seen` and `accept` may take `timeout` each, and the relay tries a beacon three times.
   *
   * @default 60000
   */
  maxPending?: number | undefined;
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/** @throws TypeError for an unknown option, and for one that is not a whole number above 0: Redis takes no other */
const checkOptions = (caller: string, numbers: object, others: object, ...names: readonly string[]): void => {
  const [stray] = Object.keys(others);
  if (stray !== undefined)
    throw new TypeError(
      `${caller}: ${stray}: expected one of ${[...Object.keys(numbers), ...names].join(', ')}, got another name`,
    );
  for (const [name, value] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new TypeError(`${caller}: ${name}: expected a whole number above 0, got ${kindOf(value)}`);
};

/** @throws TypeError for a client in place of a function */
export const checkCommand = (caller: string, command: unknown): void => {
  if (typeof command !== 'function')
    throw new TypeError(
      `${caller}: expected a function, such as (args) => redis.sendCommand(args), got ${kindOf(command)}`,
    );
};

/** The part of a process's environment that is read. Edge workers have none. */
const host = globalThis as { process?: { env?: { NODE_ENV?: string } } };
let hasWarned = false;

const warnInProduction = (): void => {
  if (hasWarned || host.process?.env?.NODE_ENV !== 'production') return;
  hasWarned = true;
  console.warn(
    'clew: memorySeen forgets events when the process restarts. In production, share a Redis with redisSeen.',
  );
};

/**
 * For development: in production (`NODE_ENV`) it warns once. Remembers events in this process's memory: at least the newest `maxEvents`, at most twice as many, and none older than
 * `maxAge`. A restart clears it, and other relays do not share it.
 *
 * @param options how many events are remembered, and how long
 * @param options.maxEvents default: 100000
 * @example createRelay({ baseUrl: 'https://service.example', apiKey: 'the-key', seen: memorySeen({ maxEvents: 1_000_000 }) })
 */
export const memorySeen = ({
  maxAge = DAY,
  maxPending = MINUTE,
  maxEvents = 100_000,
  ...others
}: SeenOptions & { maxEvents?: number | undefined } = {}): Seen => {
  checkOptions('memorySeen', { maxAge, maxPending, maxEvents }, others);
  warnInProduction();
  /** The owner of each reservation, and its end in ms since the epoch. */
  const pending = new Map<string, { owner: string; until: number }>();
  // Two maps, and the older one is dropped whole, because V8 searches a map from its beginning to find the first entry after
  // many deletions.
  let taken = new Map<string, number>();
  let older = taken;
  /** When the first entry of each could be written. */
  let takenSince = performance.now();
  let olderSince = takenSince;
  return {
    maxPending,
    async reserve(uuids, owner) {
      const now = performance.now();
      const holds = (until = 0) => until > now;
      const mine = { owner, until: now + maxPending };
      return uuids.map((uuid) => {
        if (holds(taken.get(uuid) ?? older.get(uuid))) return 'taken';
        const held = pending.get(uuid);
        if (held && held.owner !== owner && holds(held.until)) return 'pending';
        pending.set(uuid, mine);
        return 'new';
      });
    },
    async confirm(uuids) {
      const until = performance.now() + maxAge;
      for (const uuid of uuids) {
        pending.delete(uuid);
        taken.set(uuid, until);
        if (taken.size < maxEvents) continue;
        older = taken;
        taken = new Map();
        olderSince = takenSince;
        takenSince = performance.now();
      }
    },
    async release(uuids, owner) {
      for (const uuid of uuids) if (pending.get(uuid)?.owner === owner) pending.delete(uuid);
    },
    memory: () => Math.min(performance.now() - olderSince, maxAge),
    ...memoryOffsets(maxEvents),
    books: memoryBooks(maxEvents),
  };
};

/** In one step, because another relay may reserve an event between a look and a deletion. */
const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1";

/**
 * Sends one command to a Redis and resolves to its reply: `(args) => client.sendCommand(args)` with `redis`,
 * `([name, ...args]) => client.call(name, ...args)` with `ioredis`.
 */
export type RedisCommand = (args: string[]) => Promise<unknown>;

/**
 * Remembers events in a Redis that several relays share: one key for each event and each request, and two for each page load. Redis
 * deletes the keys after `maxAge`. The keys survive a restart of the relays. A Redis that evicts keys forgets these events earlier. One
 * more key has the time since which Redis remembers.
 * https://redis.io/docs/latest/commands/set/
 *
 * @param command sends a command to that Redis. If it rejects, the relay answers 503
 * @param options how long events are remembered, and under which keys
 * @param options.prefix begins each key. Default: `clew:seen:`
 */
export const redisSeen = (
  command: RedisCommand,
  {
    maxAge = 30 * DAY,
    maxPending = MINUTE,
    prefix = 'clew:seen:',
    ...others
  }: SeenOptions & { prefix?: string | undefined } = {},
): Seen => {
  checkCommand('redisSeen', command);
  checkOptions('redisSeen', { maxAge, maxPending }, others, 'prefix');
  const TAKEN = 'taken';
  /** Settles when all commands have settled, so that what comes next finds nothing half done. */
  const all = async <T>(uuids: readonly string[], run: (key: string) => Promise<T>): Promise<T[]> => {
    const done = await Promise.allSettled(uuids.map((uuid) => run(prefix + uuid)));
    return done.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  };
  const memory = async () => {
    // The beginning is lost with all other keys.
    await command(['SET', `${prefix}since`, `${Date.now()}`, 'NX']);
    const since = Number(await command(['GET', `${prefix}since`]));
    return Math.min(Math.max(Date.now() - since, 0), maxAge);
  };
  return {
    maxPending,
    reserve: (uuids, owner) =>
      all(uuids, async (key): Promise<SeenState> => {
        const isReserved = await command(['SET', key, owner, 'NX', 'PX', `${maxPending}`]);
        if (isReserved !== null) return 'new';
        const by = `${await command(['GET', key])}`;
        if (by === TAKEN) return 'taken';
        // ioredis repeats a SET whose reply was lost with the connection. A key that has expired in between counts as pending, and the
        // relay asks again.
        return by === owner ? 'new' : 'pending';
      }),
    confirm: async (uuids) => void (await all(uuids, (key) => command(['SET', key, TAKEN, 'PX', `${maxAge}`]))),
    release: async (uuids, owner) => void (await all(uuids, (key) => command(['EVAL', RELEASE, '1', key, owner]))),
    memory,
    offsets: (loads) =>
      all(loads, async (key) => {
        const offset = await command(['GET', key]);
        return offset === null ? undefined : Number(offset);
      }),
    async setOffset(load, offset) {
      const isFirst = await command(['SET', prefix + load, `${offset}`, 'NX', 'PX', `${maxAge}`]);
      return isFirst === null ? Number((await command(['GET', prefix + load])) ?? offset) : offset;
    },
    books: redisBooks(command, maxAge, `{${prefix}books}:`, memory),
  };
};
