/**
 * What is known of an event that has come: `new` (it is reserved now, for whoever asked), `pending` (another request is
 * forwarding it at this moment), or `taken` (the service has it).
 */
export type SeenState = 'new' | 'pending' | 'taken';

/**
 * Which events have been taken: a page that left sends again what nobody could tell it had arrived, and browsers repeat
 * requests by themselves. Where there are several relays, they share one of these.
 */
export interface Seen {
  /** Reserves those that are neither taken nor reserved; answers for each, in order. To reject is to know nothing: the page is told to come again. */
  reserve(uuids: readonly string[]): Promise<readonly SeenState[]>;
  /** The service has taken these. */
  confirm(uuids: readonly string[]): Promise<void>;
  /** It has not: they may come again. */
  release(uuids: readonly string[]): Promise<void>;
}

/** For how long events are remembered. */
export interface SeenOptions {
  /**
   * How long a taken event is remembered, in ms.
   *
   * @default 86400000 (a day)
   */
  maxAge?: number;
  /**
   * How long a reservation holds whose relay has died, in ms: longer than the relay's `timeout` and its retries.
   *
   * @default 60000
   */
  maxPending?: number;
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/**
 * In this process's memory: at least the newest `maxEvents`, at most twice as many, and none older than `maxAge`.
 *
 * @param options how much is remembered, and for how long
 * @param options.maxEvents default: 100000
 */
export const memorySeen = ({
  maxAge = DAY,
  maxPending = MINUTE,
  maxEvents = 100_000,
}: SeenOptions & { maxEvents?: number } = {}): Seen => {
  /** Until when each holds. */
  const pending = new Map<string, number>();
  // Two of them, of which the older one is dropped whole: a map that loses its first entry again and again is searched
  // for it again and again.
  let taken = new Map<string, number>();
  let older = taken;
  return {
    async reserve(uuids) {
      const now = Date.now();
      const holds = (until = 0) => until > now;
      return uuids.map((uuid) => {
        if (holds(taken.get(uuid) ?? older.get(uuid))) return 'taken';
        if (holds(pending.get(uuid))) return 'pending';
        pending.set(uuid, now + maxPending);
        return 'new';
      });
    },
    async confirm(uuids) {
      const until = Date.now() + maxAge;
      for (const uuid of uuids) {
        pending.delete(uuid);
        taken.set(uuid, until);
        if (taken.size < maxEvents) continue;
        older = taken;
        taken = new Map();
      }
    },
    async release(uuids) {
      for (const uuid of uuids) pending.delete(uuid);
    },
  };
};

/**
 * Sends one command to a Redis and resolves to its answer: `(args) => client.sendCommand(args)` with `redis`,
 * `([name, ...args]) => client.call(name, ...args)` with `ioredis`.
 */
export type RedisCommand = (args: string[]) => Promise<unknown>;

/**
 * In a Redis that several relays share: one key for each event, which Redis forgets by itself.
 * https://redis.io/docs/latest/commands/set/
 *
 * @param command sends a command to that Redis
 * @param options how long is remembered, and under which keys
 * @param options.prefix of the keys. Default: `clew:seen:`
 */
export const redisSeen = (
  command: RedisCommand,
  { maxAge = DAY, maxPending = MINUTE, prefix = 'clew:seen:' }: SeenOptions & { prefix?: string } = {},
): Seen => {
  const TAKEN = 'taken';
  const all = async (uuids: readonly string[], run: (key: string) => Promise<unknown>): Promise<void> => {
    await Promise.all(uuids.map((uuid) => run(prefix + uuid)));
  };
  return {
    reserve: (uuids) =>
      Promise.all(
        uuids.map(async (uuid) => {
          const isReserved = await command(['SET', prefix + uuid, 'pending', 'NX', 'PX', `${maxPending}`]);
          if (isReserved !== null) return 'new';
          // What has expired in between is asked for again, as all that is pending.
          return `${await command(['GET', prefix + uuid])}` === TAKEN ? 'taken' : 'pending';
        }),
      ),
    confirm: (uuids) => all(uuids, (key) => command(['SET', key, TAKEN, 'PX', `${maxAge}`])),
    release: (uuids) => all(uuids, (key) => command(['DEL', key])),
  };
};
