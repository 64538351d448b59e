import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memorySeen, redisBuckets, redisSeen, type Seen } from '../../src/relay.ts';
import { openInMemory, requestOf, uuids } from './requests.ts';
import { event } from './stage.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});
const batch = () => ({ batch: [event('a')] });

describe('`seen` that does not answer', () => {
  it('to `reserve` means 503 after `timeout`, and nothing is forwarded', async () => {
    const errors: unknown[] = [];
    const { relay, received } = openInMemory({
      seen: { ...memorySeen(), reserve: never },
      timeout: 2000,
      onError: (error) => errors.push(error),
    });
    const reply = relay(requestOf(batch()));
    await vi.advanceTimersByTimeAsync(2000);
    expect(await (await reply).json()).toEqual({ error: 'the relay cannot read which events are confirmed' });
    expect(errors.map(String)).toEqual(['TimeoutError: seen did not answer within 2000 ms']);
    expect(received).toEqual([]);
  });

  it('to `confirm` withholds the answer for `timeout` at most, and `close` resolves', async () => {
    const errors: unknown[] = [];
    const { relay } = openInMemory({
      seen: { ...memorySeen(), confirm: never },
      timeout: 2000,
      onError: (error) => errors.push(error),
    });
    const reply = relay(requestOf(batch()));
    await vi.advanceTimersByTimeAsync(0);
    const closed = relay.close();
    await vi.advanceTimersByTimeAsync(2000);
    expect((await reply).status).toBe(201);
    await closed;
    expect(errors.map(String)).toEqual(['TimeoutError: seen did not answer within 2000 ms']);
  });

  it('leaves no timer behind once it has answered', async () => {
    const { relay } = openInMemory();
    await relay(requestOf(batch()));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('in time, but reserves later, keeps no event reserved', async () => {
    const seen = memorySeen();
    let answer = () => {};
    const slow: Seen = {
      ...seen,
      reserve: async (...asked) => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return seen.reserve(...asked);
      },
    };
    const { relay } = openInMemory({ seen: slow, timeout: 2000 });
    const body = batch();
    const reply = relay(requestOf(body));
    await vi.advanceTimersByTimeAsync(2000);
    expect((await reply).status).toBe(503);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(await seen.reserve([body.batch[0]?.uuid ?? ''], 'another')).toEqual(['new']);
  });
});

it('`seen` that throws at once means 503', async () => {
  const { relay } = openInMemory({
    seen: {
      ...memorySeen(),
      reserve: () => {
        throw new Error('broken');
      },
    },
  });
  expect((await relay(requestOf(batch()))).status).toBe(503);
});

/** The part of a Redis that `redisSeen` uses. */
const createRedis = () => {
  const keys = new Map<string, string>();
  const run = async ([name = '', key = '', value = '', condition]: string[]) => {
    if (name === 'GET') return keys.get(key) ?? null;
    if (name !== 'SET' || (condition === 'NX' && keys.has(key))) return null;
    keys.set(key, value);
    return 'OK';
  };
  const command = async (args: string[]) => {
    if (args[0] !== 'EVAL') return run(args);
    const [, , , key = '', owner] = args;
    if (keys.get(key) === owner) keys.delete(key);
    return 1;
  };
  return { keys, command };
};

it('a Redis that fails at one of several events keeps none of them reserved', async () => {
  const { keys, command } = createRedis();
  const [, bad] = uuids(2);
  const { relay, received } = openInMemory({
    seen: redisSeen(async (args) => {
      if (args[0] === 'SET' && args[1]?.endsWith(bad ?? '')) throw new Error('out of memory');
      return command(args);
    }),
  });
  const events = [event('a'), event('b', { uuid: bad }), event('c')];
  expect((await relay(requestOf({ batch: events }))).status).toBe(503);
  await vi.advanceTimersByTimeAsync(0);
  expect([...keys]).toEqual([]);
  expect(received).toEqual([]);
});

it('a SET that the Redis client repeats after a lost reply does not delay the event', async () => {
  const { command } = createRedis();
  let isLost = true;
  const { relay, received } = openInMemory({
    timeout: 2000,
    seen: redisSeen(async (args) => {
      const reply = await command(args);
      if (!isLost) return reply;
      isLost = false;
      return command(args);
    }),
  });
  const reply = relay(requestOf(batch()));
  expect((await reply).status).toBe(201);
  expect(received).toHaveLength(1);
});

it('a request that waits for others gives up only what it has reserved itself', async () => {
  const { command } = createRedis();
  const names: string[] = [];
  const seen = redisSeen(async (args) => {
    names.push(args[0] ?? '');
    return command(args);
  });
  const events = Array.from({ length: 20 }, (_, n) => event(`n${n}`));
  await seen.reserve(
    events.slice(1).map(({ uuid }) => uuid),
    'another',
  );
  const { relay } = openInMemory({ timeout: 1000, seen });
  names.length = 0;
  const reply = relay(requestOf({ batch: events }));
  await vi.advanceTimersByTimeAsync(2000);
  expect((await reply).status).toBe(503);
  const looks = names.filter((name) => name === 'SET').length / events.length;
  expect(looks).toBeGreaterThan(2);
  expect(names.filter((name) => name === 'EVAL')).toHaveLength(looks);
});

it.each<[string, () => unknown]>([
  ['memorySeen: maxAge: expected a whole number above 0, got 0', () => memorySeen({ maxAge: 0 })],
  [
    'memorySeen: maxEvents: expected a whole number above 0, got a string',
    () => memorySeen({ maxEvents: '1' as never }),
  ],
  [
    'memorySeen: maxage: expected one of maxAge, maxPending, maxEvents, got another name',
    () => memorySeen({ maxage: 5 } as object),
  ],
  [
    'redisSeen: expected a function, such as (args) => redis.sendCommand(args), got an object',
    () => redisSeen({ sendCommand: async () => 'OK' } as never),
  ],
  [
    'redisBuckets: expected a function, such as (args) => redis.sendCommand(args), got an object',
    () => redisBuckets({ sendCommand: async () => 'OK' } as never),
  ],
  [
    'redisSeen: maxEvents: expected one of maxAge, maxPending, prefix, got another name',
    () => redisSeen(async () => 'OK', { maxEvents: 5 } as object),
  ],
  [
    'redisSeen: maxAge: expected a whole number above 0, got a number',
    () => redisSeen(async () => 'OK', { maxAge: Number.POSITIVE_INFINITY }),
  ],
  [
    'redisSeen: maxPending: expected a whole number above 0, got a number',
    () => redisSeen(async () => 'OK', { maxPending: 45_000.5 }),
  ],
  [
    'redisSeen: maxPending: expected a whole number above 0, got NaN',
    () => redisSeen(async () => 'OK', { maxPending: Number.NaN }),
  ],
])('%s', (message, create) => {
  expect(create).toThrow(message);
  expect(create).toThrow(TypeError);
});

it('memorySeen warns once in production', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  memorySeen();
  expect(warn).not.toHaveBeenCalled();
  vi.stubEnv('NODE_ENV', 'production');
  memorySeen();
  memorySeen();
  vi.unstubAllEnvs();
  expect(warn.mock.calls).toEqual([[expect.stringContaining('share a Redis with redisSeen')]]);
  warn.mockRestore();
});
