// @module-tag promise
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { networkOf } from '../../src/relay/address.ts';
import {
  type LimitOptions,
  type LogLine,
  memoryBuckets,
  memorySeen,
  type RelayOptions,
  type Take,
} from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event } from './stage.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const batch = (count = 1, visitor?: string) => ({
  batch: Array.from({ length: count }, (_, n) => event(`e${n}`, visitor ? { correlationValue: visitor } : {})),
});
/** A relay, and the outcome of requests from an address. */
const open = (limits: LimitOptions, options: Partial<RelayOptions> = {}) => {
  const { relay, received } = openInMemory({ limits, ...options });
  const send = async (body: object, address = '10.0.0.1', headers: Record<string, string> = {}) => {
    const { status, headers: answered } = await relay(requestOf(body, { headers }), { address });
    return status === 201 ? status : [status, answered.get('Retry-After')];
  };
  return { relay, send, received };
};

describe('an address', () => {
  it('gets 429 with Retry-After when its bucket is empty, and others do not', async () => {
    const { send } = open({ address: { rate: 0.5, burst: 3 } });
    for (let n = 0; n < 3; n++) expect(await send(batch())).toBe(201);
    expect(await send(batch())).toEqual([429, '2']);
    expect(await send(batch(), '10.0.0.2')).toBe(201);
    vi.advanceTimersByTime(1999);
    expect(await send(batch())).toEqual([429, '1']);
    vi.advanceTimersByTime(1);
    expect(await send(batch())).toBe(201);
    expect(await send(batch())).toEqual([429, '2']);
  });

  it('is charged for each event, valid or not, after its request has been let in', async () => {
    const { send } = open({ address: { rate: 1, burst: 10 } });
    expect(await send({ batch: [...batch(20).batch, {}, {}] })).toBe(201);
    expect(await send(batch())).toEqual([429, '13']);
  });

  it('is charged ten tokens for each question, and for each page load of its books but one', async () => {
    const { send } = open({ address: { rate: 1, burst: 80 } });
    const books = [3, 4, 5].map((load) => [2 ** 40 + load, 1, 1, '', [['full', 2 ** 40 + 9, 1, 1]]]);
    // A token for the event, thirty for page loads 4, 5 and 9, and forty for the questions.
    const handovers = Array.from({ length: 4 }, () => [randomUUID(), 60_000]);
    expect(await send({ ...batch(), books, handovers })).toBe(201);
    expect(await send(batch(12))).toBe(201);
    expect(await send(batch())).toEqual([429, '4']);
  });

  it('that sends many requests at once gets one whole request through, and 429 for the others', async () => {
    const { relay, received } = openInMemory({ limits: { address: { rate: 10, burst: 200 } } });
    const open: (() => void)[] = [];
    const send = (count: number) => {
      const whole = requestOf(batch(count));
      const body = async function* () {
        await new Promise<void>((resolve) => open.push(resolve));
        yield* whole.body as AsyncIterable<Uint8Array>;
      };
      return relay({ ...whole, body: body() }, { address: '10.0.0.1' });
    };
    const replies = Array.from({ length: 100 }, () => send(300));
    await vi.waitFor(() => expect(open).toHaveLength(100));
    for (const release of open) release();
    const answers = await Promise.all(replies);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(99).fill(429)]);
    // 200 tokens, of which the 100 requests took one each, and the first one 299 more.
    expect(answers.find(({ status }) => status === 429)?.headers.get('Retry-After')).toBe('20');
    expect(received).toHaveLength(1);
    vi.advanceTimersByTime(20_000);
    expect((await relay(requestOf(batch(300)), { address: '10.0.0.1' })).status).toBe(201);
  });

  it('with a burst of one gets a batch through', async () => {
    const { send } = open({ address: { rate: 1, burst: 1 } });
    expect(await send(batch(5))).toBe(201);
    expect(await send(batch(5))).toEqual([429, '5']);
  });

  it('is refused before its body is read', async () => {
    const { relay } = open({ address: { rate: 1, burst: 1 } });
    const body = {
      // biome-ignore lint/correctness/useYield: the body must not be read
      async *[Symbol.asyncIterator]() {
        throw new Error('read');
      },
    };
    const request = { ...requestOf({}), body };
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await relay(request, { address: '10.0.0.1' })).status);
    expect(statuses).toEqual([400, 429, 429]);
  });

  it('that is unknown is in no bucket of its own', async () => {
    const { relay } = openInMemory({ limits: { address: { rate: 1, burst: 1 } } });
    for (let n = 0; n < 3; n++) expect((await relay(requestOf(batch()))).status).toBe(201);
  });

  it.each<[string, LimitOptions, number]>([
    ['an unset `trustedProxies`', {}, 1],
    ['`trustedProxies` 0', { trustedProxies: 0 }, 0],
    ['`trustedProxies` 1', { trustedProxies: 1 }, 0],
    ['no limit for an address', { address: false }, 0],
  ])('behind a proxy with %s (%j) is warned of %i times', async (_what, limits, count) => {
    const warnings: LogLine[] = [];
    const logger = (line: LogLine) => void (line.message !== 'request' && warnings.push(line));
    const { send } = open(limits, { logger });
    await send(batch());
    for (let n = 0; n < 2; n++) await send(batch(), '10.0.0.1', { 'X-Forwarded-For': '1.1.1.1' });
    expect(warnings).toHaveLength(count);
    for (const { level, message } of warnings) expect(`${level} ${message}`).toMatch(/^warn .*limits\.trustedProxies/);
  });

  it('without a limit, but added to events, is warned of once behind a proxy', async () => {
    const warnings: string[] = [];
    const logger = ({ level, message }: LogLine) => void (level === 'warn' && warnings.push(message));
    const { send } = open({ address: false }, { logger, enrich: { address: { field: 'address' } } });
    for (let n = 0; n < 2; n++) await send(batch(), '10.0.0.1', { 'X-Forwarded-For': '1.1.1.1' });
    expect(warnings).toEqual([expect.stringContaining('limits.trustedProxies')]);
  });

  it.each<[string, LimitOptions, string, string]>([
    ['the connection', {}, '1.1.1.1', '10.0.0.1'],
    ['the connection, whatever a client writes', {}, '1.1.1.1, 2.2.2.2', '10.0.0.1'],
    ['the proxy’s entry', { trustedProxies: 1 }, '1.1.1.1', '1.1.1.1'],
    ['the last proxy’s entry, whatever a client writes', { trustedProxies: 1 }, '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    ['the entry before the last with two proxies', { trustedProxies: 2 }, '6.6.6.6, 1.1.1.1, 9.9.9.9', '1.1.1.1'],
    ['the connection if there are fewer entries than proxies', { trustedProxies: 3 }, '6.6.6.6, 9.9.9.9', '10.0.0.1'],
    ['the connection without the header', { trustedProxies: 1 }, '', '10.0.0.1'],
    ['another header', { trustedProxies: 1, addressHeader: 'CF-Connecting-IP' }, '6.6.6.6', '1.1.1.1'],
  ])('comes from %s', async (_what, limits, forwarded, expected) => {
    const takes: Take[] = [];
    const take = (asked: readonly Take[]) => {
      takes.push(...asked);
      return 0;
    };
    const buckets = { take };
    const { send } = open({ ...limits, buckets });
    await send(batch(), '10.0.0.1', { 'X-Forwarded-For': forwarded, 'CF-Connecting-IP': '1.1.1.1' });
    expect(takes[0]).toMatchObject({ key: `address ${expected}`, cost: 1 });
  });

  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['::ffff:c0a8:1', '192.168.0.1'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['64:ff9b::102:304', '1.2.3.4'],
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['unknown', 'unknown'],
    ['1.2.3.256', 'unknown'],
    ['1::2::3', 'unknown'],
    ['x'.repeat(5000), 'unknown'],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

it('a visitor gets 429 when their bucket is empty, from whatever address, and others do not', async () => {
  const { send } = open({ visitor: { rate: 1, burst: 10 } });
  const [ann, ben] = [randomUUID(), randomUUID()];
  expect(await send(batch(15, ann))).toBe(201);
  expect(await send(batch(1, ann), '10.0.0.2')).toEqual([429, '6']);
  expect(await send(batch(1, ben))).toBe(201);
  vi.advanceTimersByTime(6000);
  expect(await send(batch(1, ann))).toBe(201);
});

it('all requests together get 429 when the total is used up', async () => {
  const { send } = open({ total: { rate: 1, burst: 2 } });
  const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  const statuses = [];
  for (const address of addresses) statuses.push(await send(batch(), address));
  expect(statuses).toEqual([201, 201, [429, '1']]);
});

it('one address leaves the total to the others, whatever its requests hold', async () => {
  const { send } = open({});
  for (let n = 0; n < 100; n++) await send({ batch: Array(500).fill(0) }, '6.6.6.6');
  expect(await send(batch(), '10.0.0.2')).toBe(201);
});

it('false turns each limit off', async () => {
  const { send } = open({ address: false, visitor: false, total: false, buckets: memoryBuckets() });
  const visitor = randomUUID();
  for (let n = 0; n < 300; n++) expect(await send(batch(100, visitor))).toBe(201);
});

it('with the defaults a visitor’s full queue gets through, and a flood does not', async () => {
  const { send, received } = open({});
  const visitor = randomUUID();
  for (let n = 0; n < 50; n++) expect(await send(batch(200, visitor))).toBe(201);
  received.length = 0;
  let through = 0;
  for (let n = 0; n < 100; n++) if ((await send(batch(200), '6.6.6.6')) === 201) through++;
  expect(through).toBe(50);
  expect(await send(batch(1), '10.0.0.2')).toBe(201);
});

/** The second flood takes seconds, and meets the limits and the memory that are the default. */
const FLOODS: [requests: number, limits: LimitOptions, maxEvents?: number][] = [
  [10_000, { address: { rate: 100, burst: 1000 } }, 10_000],
  ...(process.env.TEST_ALL ? ([[100_000, {}]] as [number, LimitOptions][]) : []),
];

it.each(FLOODS)(
  'a flood of %i requests from one address evicts no id of another',
  async (requests, limits, maxEvents) => {
    const seen = memorySeen({ maxEvents });
    const { send, received } = open(limits, { seen });
    const honest = batch();
    expect(await send(honest)).toBe(201);
    for (let n = 0; n < requests; n++) {
      // 10,000 requests a second.
      if (n % 10 === 0) vi.advanceTimersByTime(1);
      await send({ batch: [{}] }, '6.6.6.6');
    }
    for (let n = 0; n < 100; n++) await send(batch(200), '6.6.6.6');
    received.length = 0;
    expect(await send(honest)).toEqual([200, null]);
    expect(received).toEqual([]);
  },
  60_000,
);

describe('buckets that fail are reported, and buckets in memory limit requests:', () => {
  it.each<[string, () => Promise<number>]>([
    ['rejecting', () => Promise.reject(new Error('away'))],
    ['never answering', () => new Promise(() => {})],
    ['answering nothing', async () => undefined as never],
    ['answering no number of ms', async () => Number.NaN],
    ['answering that they never have a token', async () => Number.POSITIVE_INFINITY],
  ])('%s', async (_what, take) => {
    const errors: unknown[] = [];
    const limits = { address: { rate: 0.01, burst: 2 }, buckets: { take } };
    const { send } = open(limits, { onError: (error) => errors.push(error) });
    const statuses = [];
    for (let n = 0; n < 3; n++) {
      const reply = send(batch());
      await vi.advanceTimersByTimeAsync(1000);
      statuses.push(await reply);
    }
    expect(statuses).toEqual([201, 201, [429, expect.any(String)]]);
    expect(errors).toHaveLength(5);
  });
});

it('more forwards at a time than `maxForwards` get 503 with Retry-After, and their events stay new', async () => {
  const answers: (() => void)[] = [];
  const forward = () =>
    new Promise<Response>((resolve) => answers.push(() => resolve(new Response(null, { status: 201 }))));
  const { send } = open({ maxForwards: 2 }, { forward });
  const replies = [send(batch()), send(batch())];
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  const late = batch();
  expect(await send(late)).toEqual([503, '1']);
  for (const answer of answers) answer();
  expect(await Promise.all(replies)).toEqual([201, 201]);
  const again = send(late);
  await vi.waitFor(() => expect(answers).toHaveLength(3));
  answers[2]?.();
  expect(await again).toBe(201);
});

it('more bytes at a time than `maxBytes` get 503 with Retry-After, and leave room when they are answered', async () => {
  const answers: (() => void)[] = [];
  const forward = () =>
    new Promise<Response>((resolve) => answers.push(() => resolve(new Response(null, { status: 201 }))));
  // Each request needs 8 KiB and its body, so there is no room for three requests.
  const { send } = open({ maxBytes: 3 * 8192 }, { forward });
  const first = batch();
  // The second one waits for the first, whose event it has.
  const replies = [send(first), send(first)];
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  const late = batch();
  expect(await send(late)).toEqual([503, '1']);
  answers[0]?.();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await Promise.all(replies)).toEqual([201, [200, null]]);
  const again = send(late);
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.();
  expect(await again).toBe(201);
});

it('a refused request takes no tokens of visitors who are not over their limit', async () => {
  const { send } = open({ visitor: { rate: 1, burst: 1 } });
  const [ann, ben] = [randomUUID(), randomUUID()];
  expect(await send(batch(20, ann))).toBe(201);
  const both = { batch: [...batch(1, ann).batch, ...batch(1, ben).batch] };
  for (let n = 0; n < 3; n++) expect(await send(both)).toEqual([429, '20']);
  expect(await send(batch(1, ben))).toBe(201);
});

it('keeps no bucket for a refused request, which could make those of others be dropped', async () => {
  const { take } = memoryBuckets();
  const bucket = (key: string, isLate = false) => ({ key, rate: 0.001, burst: 1, cost: 1, isLate });
  for (const key of ['debtor', 'flood']) expect(take([bucket(key)])).toBe(0);
  for (let request = 0; request < 300; request++) {
    const visitors = Array.from({ length: 500 }, (_, n) => bucket(`${request} ${n}`));
    expect(take([bucket('flood'), ...visitors])).toBeGreaterThan(0);
  }
  expect(take([bucket('debtor')])).toBeGreaterThan(0);
});

it('a clock that is set back neither empties nor fills a bucket', () => {
  const { take } = memoryBuckets();
  const one = { key: 'a', rate: 1, burst: 2, cost: 1, isLate: false };
  expect([take([one]), take([one])]).toEqual([0, 0]);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(take([one])).toBe(1000);
  vi.advanceTimersByTime(1000);
  expect(take([one])).toBe(0);
});
