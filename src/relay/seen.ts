/**
 * State of an event: `new` (now reserved for the caller), `pending` (another request is forwarding it at this moment), or
 * `taken` (the service has it).
 */
export type SeenState = 'new' | 'pending' | 'taken';

/**
 * Remembers which events the service has taken, so that the relay can drop duplicates. Browsers retry requests on their own,
 * and a page sends events again if it could not read the answer. Several relays share one store.
 */
export interface Seen {
  /**
   * Reserves the events that are `new`.
   *
   * @returns resolves to the state of each, in order. If it rejects, the relay forwards nothing and answers 503
   */
  reserve(uuids: readonly string[]): Promise<readonly SeenState[]>;
  /** Marks events as taken by the service. */
  confirm(uuids: readonly string[]): Promise<void>;
  /** Ends the reservation of events that the service has not taken, so that a retry is forwarded. */
  release(uuids: readonly string[]): Promise<void>;
}

/** How long a `Seen` remembers events. */
export interface SeenOptions {
  /**
   * How long a taken event is remembered, in ms.
   *
   * @default 86400000 (a day)
   */
  maxAge?: number;
  /**
   * How long a reservation holds if its relay has died, in ms. Keep it longer than three times the relay's `timeout`, because
   * the relay tries a beacon three times.
   *
   * @default 60000
   */
  maxPending?: number;
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/**
 * Remembers events in this process's memory: at least the newest `maxEvents`, at most twice as many, and none older than
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
}: SeenOptions & { maxEvents?: number } = {}): Seen => {
  /** The end of each reservation, in ms since the epoch. */
  const pending = new Map<string, number>();
  // Two maps, and the older one is dropped whole, because V8 searches a map from its beginning to find the first entry after
  // many deletions.
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
 * Sends one command to a Redis and resolves to its reply: `(args) => client.sendCommand(args)` with `redis`,
 * `([name, ...args]) => client.call(name, ...args)` with `ioredis`.
 */
export type RedisCommand = (args: string[]) => Promise<unknown>;

/**
 * Remembers events in a Redis that several relays share: one key for each event, which Redis deletes after `maxAge`. It
 * survives a restart of the relays. A Redis that evicts keys forgets these events earlier.
 * https://redis.io/docs/latest/commands/set/
 *
 * @param command sends a command to that Redis. If it rejects, the relay answers 503
 * @param options how long events are remembered, and under which keys
 * @param options.prefix begins each key. Default: `clew:seen:`
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
          // A key that has expired in between counts as pending, and the relay asks again.
          return `${await command(['GET', prefix + uuid])}` === TAKEN ? 'taken' : 'pending';
        }),
      ),
    confirm: (uuids) => all(uuids, (key) => command(['SET', key, TAKEN, 'PX', `${maxAge}`])),
    release: (uuids) => all(uuids, (key) => command(['DEL', key])),
  };
};
