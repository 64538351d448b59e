import { inTime } from '../service/inTime.js';
import { isObject, kindOf } from '../wire.js';
import {
  type AddressOptions,
  type ConnectionInfo,
  clientAddress,
  FORWARDED_FOR,
  isHeaderName,
  networkOf,
} from './address.js';
import { Refusal, type RelayRequest } from './request.js';
import { checkCommand, type RedisCommand } from './seen.js';

/**
 * A token bucket: it is full at first, each event takes a token, and `rate` tokens come back each second. A question about a handover
 * takes ten, and so does each further page load of the books, because they cost `seen` more.
 */
export interface Rate {
  /** Tokens a second, in the long run. */
  readonly rate: number;
  /** Tokens at once. */
  readonly burst: number;
}

/** The limits of a relay. The relay answers 429 with `Retry-After` to requests above them. `false` turns one off. */
export interface LimitOptions extends AddressOptions {
  /**
   * For each client address (IPv6: each /64 network). A request takes at least one token. The request that uses up the
   * tokens gets through whole, so the bucket owes at most the tokens of one request.
   *
   * @default { rate: 1000, burst: 10000 }
   */
  address?: Rate | false | undefined;
  /**
   * For each visitor id.
   *
   * @default { rate: 200, burst: 20000 }
   */
  visitor?: Rate | false | undefined;
  /**
   * For all requests together. A request takes one token, for any number of events.
   *
   * @default { rate: 10000, burst: 100000 }
   */
  total?: Rate | false | undefined;
  /**
   * Requests that are forwarded at a time. The relay answers 503 to more.
   *
   * @default 1000
   */
  maxForwards?: number | undefined;
  /**
   * Bytes of the bodies that have arrived and are not answered, with 8 KiB for each request. The relay answers 503 to more. JSON needs
   * several times its bytes, so a process needs about four times as much memory.
   *
   * @default 67108864
   */
  maxBytes?: number | undefined;
  /**
   * Where the buckets are. Several relays share a `redisBuckets`.
   *
   * @default memoryBuckets()
   */
  buckets?: Buckets | undefined;
}

/** Tokens to take from one bucket. */
export interface Take extends Rate {
  /** Names the bucket. */
  readonly key: string;
  /** So many tokens, also if there are fewer: the bucket then owes them. */
  readonly cost: number;
  /** The request has taken its first token: it is refused only if the bucket owes tokens. */
  readonly isLate: boolean;
}

/** Token buckets. If a call rejects, the relay limits the request by buckets in its own memory. */
export interface Buckets {
  /**
   * Takes tokens from each bucket, or from none if one is empty or, for a late `Take`, owes tokens.
   *
   * @returns (or resolves to) ms until the last of these buckets has a token, or 0 if the tokens are taken
   */
  take(takes: readonly Take[]): number | Promise<number>;
}

/** Buckets that are kept at a time, at least. A bucket that is dropped is full again. */
const MOST_BUCKETS = 50_000;

/** Keeps the buckets in this process's memory: the latest 50,000 at least, and at most twice as many. */
export const memoryBuckets = (): Buckets => {
  let buckets = new Map<string, { tokens: number; at: number }>();
  // Dropped whole, because V8 searches a map from its beginning to find the first entry after many deletions.
  let older = buckets;
  const keep = (key: string, bucket: { tokens: number; at: number }) => {
    buckets.set(key, bucket);
    if (buckets.size < MOST_BUCKETS) return;
    older = buckets;
    buckets = new Map();
  };
  const refilled = ({ key, rate, burst }: Take, now: number) => {
    const known = buckets.get(key) ?? older.get(key);
    if (!known) return { tokens: burst, at: now };
    known.tokens = Math.min(burst, known.tokens + ((now - known.at) * rate) / 1000);
    known.at = now;
    keep(key, known);
    return known;
  };
  return {
    take: (takes) => {
      const now = performance.now();
      const all = takes.map((take) => ({ take, bucket: refilled(take, now) }));
      let wait = 0;
      for (const { take, bucket } of all)
        if (bucket.tokens < (take.isLate ? 0 : 1)) wait = Math.max(wait, ((1 - bucket.tokens) * 1000) / take.rate);
      // A refused request keeps no bucket that was not there: it must not be able to make others be dropped.
      if (wait) return wait;
      for (const { take, bucket } of all) {
        bucket.tokens -= take.cost;
        keep(take.key, bucket);
      }
      return 0;
    },
  };
};

/**
 * Takes tokens by the clock of Redis, because relays have clocks of their own. Redis deletes a bucket that would be full.
 * KEYS: the buckets. ARGV: for each its rate, burst, cost, and fewest tokens. Returns ms to wait for each.
 */
const TAKE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local tokens, waits, isRefused = {}, {}, false
  for i, key in ipairs(KEYS) do
    local rate, burst = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
    local saved = redis.call('HMGET', key, 'tokens', 'at')
    local since = math.max(now - (tonumber(saved[2]) or now), 0)
    tokens[i] = math.min(burst, (tonumber(saved[1]) or burst) + since * rate / 1000)
    waits[i] = 0
    if tokens[i] < tonumber(ARGV[4 * i]) then
      waits[i], isRefused = math.ceil((1 - tokens[i]) * 1000 / rate), true
    end
  end
  if isRefused then return waits end
  for i, key in ipairs(KEYS) do
    local rate, burst = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
    local left = tokens[i] - tonumber(ARGV[4 * i - 1])
    redis.call('HSET', key, 'tokens', tostring(left), 'at', now)
    redis.call('PEXPIRE', key, math.ceil((burst - left) * 1000 / rate) + 1000)
  end
  return waits`;

/**
 * Keeps the buckets in a Redis that several relays share. Each request is one or two calls. While a bucket is empty, the relay
 * refuses without a call to Redis, so that a flood does not become one of Redis.
 *
 * @param command sends a command to that Redis
 * @param options under which keys
 * @param options.prefix begins each key. Default: `{clew}:limit:`, whose braces put all keys into one slot of a cluster
 * @throws TypeError if `command` is no function
 */
export const redisBuckets = (
  command: RedisCommand,
  { prefix = '{clew}:limit:' }: { prefix?: string } = {},
): Buckets => {
  checkCommand('redisBuckets', command);
  /** When each empty bucket has a token again. */
  let empty = new Map<string, number>();
  return {
    async take(takes) {
      const now = performance.now();
      // A bucket without a token does not refuse a late take.
      const known = Math.max(0, ...takes.map(({ key, isLate }) => (isLate ? 0 : (empty.get(key) ?? 0) - now)));
      if (known > 0) return known;
      const keys = takes.map(({ key }) => prefix + key);
      const args = takes.flatMap(({ rate, burst, cost, isLate }) => [rate, burst, cost, isLate ? 0 : 1].map(String));
      const waits = (await command(['EVAL', TAKE, `${keys.length}`, ...keys, ...args])) as number[];
      if (empty.size >= MOST_BUCKETS) empty = new Map();
      for (const [at, { key }] of takes.entries()) {
        const wait = Number(waits[at]);
        if (wait > 0) empty.set(key, now + wait);
        else empty.delete(key);
      }
      return Math.max(0, ...waits.map(Number));
    },
  };
};

/** The cost of a request: a token on arrival, and the others once its body is known. */
export interface Admission {
  /**
   * Takes the tokens of its events, questions and books.
   *
   * @param visitors the visitor id of each valid event
   * @param others the number of other tokens
   * @throws Refusal 429
   */
  admit(visitors: readonly string[], others: number): Promise<void>;
}

const isRate = (value: unknown): boolean => {
  const { rate, burst } = (value ?? {}) as Rate;
  // Redis knows no Infinity.
  return Number.isFinite(rate) && rate > 0 && Number.isFinite(burst) && burst >= 1;
};

/** The fault of the option: its name, what was expected, and what it got. Undefined if it is valid. */
export const checkLimits = (options: unknown): [name: string, expected: string, got: string] | undefined => {
  if (!isObject(options)) return ['limits', 'an object', kindOf(options)];
  const { trustedProxies = 0, addressHeader = 'x', maxForwards = 1, maxBytes = 1, buckets } = options;
  for (const name of ['address', 'visitor', 'total'])
    if (options[name] !== undefined && options[name] !== false && !isRate(options[name]))
      return [`limits.${name}`, '{ rate: a number above 0, burst: a number from 1 }, or false', kindOf(options[name])];
  if (!Number.isInteger(trustedProxies) || Number(trustedProxies) < 0)
    return ['limits.trustedProxies', 'a whole number from 0', kindOf(trustedProxies)];
  if (!isHeaderName(addressHeader)) return ['limits.addressHeader', 'the name of a header', kindOf(addressHeader)];
  // The entries of `Forwarded` are `for=192.0.2.1;proto=https`.
  if (/^forwarded$/i.test(String(addressHeader)))
    return ['limits.addressHeader', 'a header with a list of addresses, such as X-Forwarded-For', 'Forwarded'];
  // Without a proxy, the relay does not read the header, and all visitors would share one limit.
  if (options.addressHeader !== undefined && !trustedProxies)
    return ['limits.trustedProxies', 'a whole number from 1 with addressHeader', kindOf(options.trustedProxies)];
  if (typeof maxForwards !== 'number' || !(maxForwards >= 1))
    return ['limits.maxForwards', 'a number from 1', kindOf(maxForwards)];
  if (typeof maxBytes !== 'number' || !(maxBytes >= 1)) return ['limits.maxBytes', 'a number from 1', kindOf(maxBytes)];
  if (buckets !== undefined && !(isObject(buckets) && typeof buckets.take === 'function'))
    return ['limits.buckets', 'the method take', kindOf(buckets)];
  return undefined;
};

/** How long the buckets may take to answer, in ms. After that the relay uses buckets in its own memory. */
const LONGEST_TAKE = 500;

const TOO_MANY = 'too many requests';

/**
 * Creates a function that lets a request in, or rejects with a `Refusal` 429.
 *
 * @param warn receives, at most once, that the relay seems to be behind a proxy that it does not know of
 * @param isAddressAdded whether events get the address, too
 */
export const createLimits = (
  options: LimitOptions,
  onError: (error: unknown) => void,
  warn: (message: string) => void,
  isAddressAdded = false,
) => {
  const { address: perAddress = { rate: 1000, burst: 10_000 }, visitor = { rate: 200, burst: 20_000 } } = options;
  const { total = { rate: 10_000, burst: 100_000 }, buckets = memoryBuckets() } = options;

  /** A store that fails must not cost events, and a flood that makes it late must not turn the limits off. */
  const spare = memoryBuckets();

  const take = async (takes: readonly Take[]): Promise<void> => {
    if (!takes[0]) return;
    let wait: number;
    try {
      const taken = buckets.take(takes);
      wait = typeof taken === 'number' ? taken : await inTime(taken, LONGEST_TAKE, 'limits.buckets');
      if (!Number.isFinite(wait)) throw new TypeError(`limits.buckets: expected a number of ms, got ${kindOf(wait)}`);
    } catch (error) {
      onError(error);
      wait = Number(spare.take(takes));
    }
    if (wait > 0) throw new Refusal(429, TOO_MANY, Math.ceil(wait / 1000));
  };
  const takeOf = (of: Rate | false, key: string | undefined, cost: number, isLate: boolean): Take[] =>
    of && key !== undefined ? [{ rate: of.rate, burst: of.burst, key, cost, isLate }] : [];

  let isWarned = !(perAddress || isAddressAdded) || options.trustedProxies !== undefined;
  const noticeProxy = (headers: RelayRequest['headers']) => {
    if (isWarned || headers.get(FORWARDED_FOR) === null) return;
    isWarned = true;
    warn(
      `a request has ${FORWARDED_FOR}: behind a proxy, set limits.trustedProxies, or all clients share its address and limit`,
    );
  };

  return async ({ headers }: RelayRequest, connection: ConnectionInfo): Promise<Admission> => {
    noticeProxy(headers);
    const address = clientAddress(headers, connection, options);
    const addressKey = address && `address ${networkOf(address)}`;
    await take([...takeOf(perAddress, addressKey, 1, false), ...takeOf(total, 'total', 1, false)]);
    return {
      async admit(visitors, others) {
        const counts = new Map<string, number>();
        for (const id of visitors) counts.set(id, (counts.get(id) ?? 0) + 1);
        const cost = visitors.length + others;
        // Checked again: many requests may have been let in before the first body was read. Not from the total: one address
        // could leave nothing to the others.
        const more = cost > 1 ? takeOf(perAddress, addressKey, cost - 1, true) : [];
        await take([...more, ...[...counts].flatMap(([id, n]) => takeOf(visitor, `visitor ${id}`, n, false))]);
      },
    };
  };
};
