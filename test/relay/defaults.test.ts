import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRelay, memorySeen, type RelayReport, redisSeen } from '../../src/relay.ts';
import { openInMemory, requestOf, uuids } from './requests.ts';
import { event, KEY } from './stage.ts';

const OWNER = 'a request';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The value of a promise, once it has resolved. */
const follow = <T>(promise: Promise<T>) => {
  const followed: { value?: T } = {};
  promise.then((value) => {
    followed.value = value;
  });
  return followed;
};
const batchOf = (...names: string[]) => ({ batch: names.map((name) => event(name)) });

describe('without `timeout`', () => {
  it('the relay waits 10 s for the service, and then answers 504', async () => {
    let signal: AbortSignal | null | undefined;
    const silent: typeof fetch = (_url, init) => {
      signal = init?.signal;
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal?.reason)));
    };
    const relay = createRelay({ baseUrl: 'https://service.example', apiKey: KEY, fetch: silent });
    const reply = follow(relay(requestOf(batchOf('a'))));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(reply.value).toBeUndefined();
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(signal?.aborted).toBe(true);
    expect(reply.value?.status).toBe(504);
    expect(await reply.value?.json()).toEqual({ error: 'the service did not answer within 10000 ms' });
    expect(reply.value?.headers.get('Retry-After')).toBe('1');
  });

  it('the relay waits 10 s for another request that forwards the same event, and then answers 503', async () => {
    const seen = memorySeen();
    const batch = [event('a')];
    await seen.reserve(
      batch.map(({ uuid }) => uuid),
      OWNER,
    );
    const { relay, received } = openInMemory({ seen });
    const reply = follow(relay(requestOf({ batch })));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(reply.value).toBeUndefined();
    // The relay looks again after one more pause at most, which is 1 s.
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reply.value?.status).toBe(503);
    expect(reply.value?.headers.get('Retry-After')).toBe('1');
    expect(received).toEqual([]);
  });
});

it('the relay holds no timer once the service has answered', async () => {
  for (const status of [201, 400, 500]) {
    const answer: typeof fetch = async () => new Response(null, { status });
    const relay = createRelay({ baseUrl: 'https://service.example', apiKey: KEY, fetch: answer });
    await relay(requestOf(batchOf('a')));
    expect(vi.getTimerCount()).toBe(0);
  }
});

it('the relay polls for a confirmation after 10 to 20 ms, then at most every second', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const looks: number[] = [];
  const start = Date.now();
  const { relay } = openInMemory({
    seen: {
      ...memorySeen(),
      reserve: async ([uuid]) => {
        looks.push(Date.now() - start);
        return uuid ? ['pending'] : [];
      },
    },
  });
  const reply = follow(relay(requestOf(batchOf('a'))));
  await vi.advanceTimersByTimeAsync(2_500);
  expect(looks).toEqual([0, 15, 45, 105, 225, 465, 945, 1695, 2445]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reply.value?.status).toBe(503);
});

describe('the relay forwards a failed beacon', () => {
  const BEACON = { headers: { 'Content-Type': 'text/plain;charset=UTF-8' } };

  it.each<[string, () => Promise<Response>]>([
    ['answers 503', async () => new Response('down', { status: 503 })],
    ['cannot be reached', () => Promise.reject(new Error('unreachable'))],
  ])('again after 100 to 200 ms and again after 500 to 1000 ms more, if the service %s', async (_what, answer) => {
    const times: number[] = [];
    const start = Date.now();
    const { relay } = openInMemory({
      forward: () => {
        times.push(Date.now() - start);
        return answer();
      },
    });
    const replies = Array.from({ length: 20 }, (_, n) => follow(relay(requestOf(batchOf(`e${n}`), BEACON))));
    await vi.advanceTimersByTimeAsync(99);
    expect(times).toHaveLength(20);
    await vi.advanceTimersByTimeAsync(101);
    expect(times).toHaveLength(40);
    expect(new Set(times.slice(20)).size).toBeGreaterThan(5);
    await vi.advanceTimersByTimeAsync(399);
    expect(times).toHaveLength(40);
    await vi.advanceTimersByTimeAsync(601);
    expect(times).toHaveLength(60);
    for (const { value } of replies) expect(value?.status).toBeGreaterThanOrEqual(502);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('not again if the request was not a beacon', async () => {
    const forward = vi.fn(async () => new Response(null, { status: 500 }));
    const { relay } = openInMemory({ forward });
    expect((await relay(requestOf(batchOf('a')))).status).toBe(502);
    expect(forward).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('without `reportInterval`', () => {
  it('the relay reports once a minute at most, and only what has changed', async () => {
    const reports: RelayReport[] = [];
    const { relay } = openInMemory({ onReport: (report) => reports.push(report) });
    const send = async (body: Parameters<typeof requestOf>[0]) => {
      await relay(requestOf(body));
      // The report reads the books of all relays first.
      await vi.advanceTimersByTimeAsync(0);
    };
    const post = (...names: string[]) => send(batchOf(...names));
    await post('a');
    vi.advanceTimersByTime(59_999);
    await post('b');
    expect(reports).toEqual([]);
    vi.advanceTimersByTime(1);
    await post('c');
    expect(reports).toEqual([{ taken: 3, repeats: 0, rejected: 0, missing: 0, corrected: 0, books: [] }]);
    vi.advanceTimersByTime(59_999);
    await post('d');
    expect(reports).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await send('no JSON');
    expect(reports).toHaveLength(2);
    vi.advanceTimersByTime(120_000);
    await send('no JSON');
    await relay.close();
    expect(reports).toHaveLength(2);
  });

  it('the relay reports the rest when it closes', async () => {
    const reports: RelayReport[] = [];
    const { relay } = openInMemory({ onReport: (report) => reports.push(report) });
    await relay(requestOf(batchOf('a')));
    await relay.close();
    expect(reports).toMatchObject([{ taken: 1 }]);
  });
});

it('without `maxBodyBytes` the relay takes 102,400 bytes and no more', async () => {
  const { relay } = openInMemory();
  const text = JSON.stringify(batchOf('a'));
  expect((await relay(requestOf(text.padEnd(102_400)))).status).toBe(201);
  expect((await relay(requestOf(text.padEnd(102_401)))).status).toBe(413);
});

it('without `maxEvents` the relay takes 500 events and no more', async () => {
  const { relay, received } = openInMemory();
  const batchOfSize = (count: number) => ({ batch: Array.from({ length: count }, (_, n) => ({ n })) });
  expect((await relay(requestOf(batchOfSize(500)))).status).toBe(200);
  const reply = await relay(requestOf(batchOfSize(501)));
  expect([reply.status, await reply.json()]).toEqual([413, { error: 'batch: expected at most 500 events, got 501' }]);
  expect(received).toEqual([]);
});

it('without `bodyTimeout` the relay answers 408 after 30 s without the whole body', async () => {
  const { relay, received } = openInMemory();
  const body = (async function* () {
    yield new TextEncoder().encode('{"batch":[');
    await new Promise(() => {});
  })();
  const reply = follow(relay({ ...requestOf(''), body }));
  await vi.advanceTimersByTimeAsync(29_999);
  expect(reply.value).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(reply.value?.status).toBe(408);
  expect(reply.value?.headers.get('Connection')).toBe('close');
  expect(received).toEqual([]);
});

it('without `seen` the relay remembers for a day which events were confirmed', async () => {
  const { relay, received } = openInMemory();
  const batch = [event('a')];
  const post = async () => (await relay(requestOf({ batch }))).status;
  expect(await post()).toBe(201);
  vi.advanceTimersByTime(86_399_999);
  expect(await post()).toBe(200);
  expect(received).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(await post()).toBe(201);
  expect(received).toHaveLength(2);
});

it('without `eventsUrl` single events go to `baseUrl`', async () => {
  const urls: unknown[] = [];
  const note: typeof fetch = async (url) => {
    urls.push(url);
    return new Response(null, { status: 201 });
  };
  const relay = createRelay({ baseUrl: 'https://service.example/v1', apiKey: KEY, fetch: note });
  await relay(requestOf(event('a'), { path: '/clew/events/' }));
  expect(urls).toEqual(['https://service.example/v1/events/']);
});

describe('memorySeen without options', () => {
  it('keeps a reservation for a minute', async () => {
    const seen = memorySeen();
    const [uuid] = uuids(1) as [string];
    await seen.reserve([uuid], OWNER);
    vi.advanceTimersByTime(59_999);
    expect(await seen.reserve([uuid], 'another')).toEqual(['pending']);
    vi.advanceTimersByTime(1);
    expect(await seen.reserve([uuid], 'another')).toEqual(['new']);
  });

  it('keeps a confirmed event for a day', async () => {
    const seen = memorySeen();
    const [uuid] = uuids(1) as [string];
    await seen.confirm([uuid]);
    vi.advanceTimersByTime(86_399_999);
    expect(await seen.reserve([uuid], OWNER)).toEqual(['taken']);
    vi.advanceTimersByTime(1);
    expect(await seen.reserve([uuid], OWNER)).toEqual(['new']);
  });

  it('keeps the newest 100,000 confirmed events, and at most twice as many', async () => {
    const seen = memorySeen();
    const first = 'the first';
    const confirmMore = (count: number, prefix: string) =>
      seen.confirm(Array.from({ length: count }, (_, n) => `${prefix}${n}`));
    await seen.confirm([first]);
    await confirmMore(99_999, 'a');
    expect(await seen.reserve([first], OWNER)).toEqual(['taken']);
    await confirmMore(99_999, 'b');
    expect(await seen.reserve([first], OWNER)).toEqual(['taken']);
    await confirmMore(1, 'c');
    expect(await seen.reserve([first, 'b0', 'c0'], OWNER)).toEqual(['new', 'taken', 'taken']);
  }, 60_000);
});

it('redisSeen without options keeps `clew:seen:` keys, a reservation for a minute and a confirmation for 30 days', async () => {
  const commands: string[][] = [];
  const seen = redisSeen(async (args) => {
    commands.push(args);
    return 'OK';
  });
  expect(await seen.reserve(['a'], OWNER)).toEqual(['new']);
  await seen.confirm(['a']);
  await seen.release(['a'], OWNER);
  expect(commands).toEqual([
    ['SET', 'clew:seen:a', OWNER, 'NX', 'PX', '60000'],
    ['SET', 'clew:seen:a', 'taken', 'PX', '2592000000'],
    ['EVAL', expect.any(String), '1', 'clew:seen:a', OWNER],
  ]);
});
