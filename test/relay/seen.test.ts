// @module-tag promise
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, describe, expect, it, vi } from 'vitest';
import {
  createRelay,
  memorySeen,
  type RelayOptions,
  redisSeen,
  type Seen,
  type SeenOptions,
  toNodeHandler,
} from '../../src/relay.ts';
import { describeWithRedis, itWithRedis, useRedis } from '../redis.ts';
import { closeServer, listenOn, useUpstream } from '../upstream.ts';

const redis = useRedis();
const OWNER = 'a request';
const upstream = useUpstream();
const servers: Server[] = [];
afterAll(() => Promise.all(servers.map(closeServer)));

const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
const inRedis = (options: SeenOptions & { prefix?: string } = {}): Seen =>
  redisSeen(redis().command, { prefix: `${randomUUID()}:`, ...options });

/** How long (ms) it takes until an id is new again. */
const forgottenAfter = async (seen: Seen, uuid: string, since: number): Promise<number> => {
  await vi.waitUntil(async () => (await seen.reserve([uuid], randomUUID()))[0] === 'new', {
    timeout: 15_000,
    interval: 5,
  });
  return Date.now() - since;
};

const seenSuite = (create: (options?: SeenOptions) => Seen) => {
  it('reserves a new id for the first request that asks', async () => {
    const seen = create();
    const [a, b, c] = ids(3) as [string, string, string];
    expect(await seen.reserve([a, b], OWNER)).toEqual(['new', 'new']);
    expect(await seen.reserve([c, b, a], 'another')).toEqual(['new', 'pending', 'pending']);
    expect(await seen.reserve([], OWNER)).toEqual([]);
  });

  it('reserves an id once if two requests ask for it at once', async () => {
    const seen = create();
    const [a] = ids(1) as [string];
    const answers = await Promise.all(Array.from({ length: 20 }, () => seen.reserve([a], randomUUID())));
    expect(answers.flat().sort()).toEqual(['new', ...Array(19).fill('pending')]);
  });

  it('reserves an id again for the request that has reserved it, which still ends it', async () => {
    const seen = create();
    const [a] = ids(1) as [string];
    for (let time = 0; time < 2; time++) expect(await seen.reserve([a], OWNER)).toEqual(['new']);
    expect(await seen.reserve([a], 'another')).toEqual(['pending']);
    await seen.release([a], OWNER);
    expect(await seen.reserve([a], 'another')).toEqual(['new']);
  });

  it('answers `taken` for a confirmed id, reserved before or not', async () => {
    const seen = create();
    const [a, b] = ids(2) as [string, string];
    await seen.reserve([a], OWNER);
    await seen.confirm([a, b]);
    expect(await seen.reserve([a, b], OWNER)).toEqual(['taken', 'taken']);
    expect(await seen.reserve([a, b], OWNER)).toEqual(['taken', 'taken']);
  });

  it('reserves a released id for the next request', async () => {
    const seen = create();
    const [a, b] = ids(2) as [string, string];
    await seen.reserve([a, b], OWNER);
    await seen.release([a], OWNER);
    expect(await seen.reserve([a, b], 'another')).toEqual(['new', 'pending']);
    await seen.release([], OWNER);
    await seen.confirm([]);
  });

  it('keeps the reservation of another request, whose own has expired', async () => {
    const maxPending = 50;
    const seen = create({ maxPending });
    const waiting = { timeout: 15_000, interval: 5 };
    /** The states for a third request, before and after the second one ends its reservation. Undefined if it expired by itself. */
    const play = async () => {
      const [a] = ids(1) as [string];
      await seen.reserve([a], 'one');
      let since = 0;
      const isReserved = async () => {
        since = Date.now();
        return (await seen.reserve([a], 'two'))[0] === 'new';
      };
      await vi.waitUntil(isReserved, waiting);
      await seen.release([a], 'one');
      const before = await seen.reserve([a], OWNER);
      if (Date.now() - since >= maxPending) return undefined;
      await seen.release([a], 'two');
      return [...before, ...(await seen.reserve([a], OWNER))];
    };
    expect(await vi.waitUntil(play, waiting)).toEqual(['pending', 'new']);
  });

  it('ends a reservation when it expires, and not before', async () => {
    const seen = create({ maxPending: 150 });
    const [a] = ids(1) as [string];
    const since = Date.now();
    await seen.reserve([a], OWNER);
    expect(await forgottenAfter(seen, a, since)).toBeGreaterThanOrEqual(150);
  });

  it('drops a confirmed id when it expires, and not before', async () => {
    const seen = create({ maxPending: 20, maxAge: 150 });
    const [a] = ids(1) as [string];
    const since = Date.now();
    await seen.reserve([a], OWNER);
    await seen.confirm([a]);
    expect(await forgottenAfter(seen, a, since)).toBeGreaterThanOrEqual(150);
  });

  it('keeps the ids of a large batch apart', async () => {
    const seen = create();
    const batch = ids(1000);
    expect(new Set(await seen.reserve(batch, OWNER))).toEqual(new Set(['new']));
    await seen.confirm(batch.slice(0, 500));
    await seen.release(batch.slice(500), OWNER);
    const states = await seen.reserve(batch, OWNER);
    expect(new Set(states.slice(0, 500))).toEqual(new Set(['taken']));
    expect(new Set(states.slice(500))).toEqual(new Set(['new']));
  });
};

describe('memorySeen', () => seenSuite(memorySeen));
describeWithRedis('redisSeen', () => seenSuite(inRedis));

describe('memory is bounded', () => {
  it('in memorySeen by number: the oldest ids are dropped first', async () => {
    const seen = memorySeen({ maxEvents: 10 });
    const all = ids(25);
    for (const uuid of all) {
      await seen.reserve([uuid], OWNER);
      await seen.confirm([uuid]);
    }
    const newest = all.slice(-10);
    expect(new Set(await seen.reserve(newest, OWNER))).toEqual(new Set(['taken']));
    expect(await seen.reserve(all.slice(0, 1), OWNER)).toEqual(['new']);
  });

  itWithRedis('in redisSeen by age: Redis forgets by itself, whatever became of the relay', async () => {
    const prefix = `${randomUUID()}:`;
    const seen = inRedis({ prefix, maxPending: 5000, maxAge: 90_000 });
    const [a, b, c] = ids(3) as [string, string, string];
    await seen.reserve([a, b, c], OWNER);
    await seen.confirm([b]);
    await seen.release([c], OWNER);
    const leftOf = async (uuid: string) => Number(await redis().command(['PTTL', prefix + uuid]));
    expect(await leftOf(a)).toBeGreaterThan(0);
    expect(await leftOf(a)).toBeLessThanOrEqual(5000);
    expect(await leftOf(b)).toBeGreaterThan(5000);
    expect(await leftOf(b)).toBeLessThanOrEqual(90_000);
    // -2: there is no such key.
    expect(await leftOf(c)).toBe(-2);
  });
});

/** A relay behind a socket, which shares event ids with the relays of the same prefix. */
const openRelay = async (seen: Seen, options: Partial<RelayOptions> = {}) => {
  const server = createServer(
    toNodeHandler(createRelay({ baseUrl: upstream.url, apiKey: 'the-secret-key', seen, ...options })),
  );
  servers.push(server);
  const url = await listenOn(server);
  return async (batch: object[]) => {
    const response = await fetch(`${url}/clew/api/events/batch/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ batch }),
    });
    return { status: response.status, retryAfter: response.headers.get('Retry-After'), text: await response.text() };
  };
};

const events = (count: number) =>
  ids(count).map((uuid) => ({
    uuid,
    timestamp: new Date().toISOString(),
    event: 'a',
    source: 'custom',
    correlationKey: '_id',
    correlationValue: '01234567-89ab-4cde-8f01-23456789abcd',
  }));

/** Two relays with one Redis, each with its own connection. */
const openTwo = () => {
  const prefix = `${randomUUID()}:`;
  const open = async () => openRelay(redisSeen(await redis().connect(), { prefix }));
  return Promise.all([open(), open()]);
};

describeWithRedis('two relays with one Redis', () => {
  it('forward a batch once if both get it at the same time', async () => {
    const [one, two] = await openTwo();
    const batch = events(20);
    let answer = () => {};
    upstream.react((response) => {
      answer = () => response.writeHead(201).end();
    });
    const replies = [one(batch), two(batch), one(batch)];
    await expect.poll(() => upstream.received.length).toBeGreaterThan(0);
    // Meanwhile the other requests find out that the events are pending.
    const first = await Promise.race([...replies, new Promise((resolve) => setTimeout(resolve, 100, 'nobody yet'))]);
    expect(first).toBe('nobody yet');
    answer();
    expect((await Promise.all(replies)).map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect(upstream.bodies()).toEqual([{ batch }]);
  });

  it('forward each event of two overlapping batches once', async () => {
    const [one, two] = await openTwo();
    const all = events(30);
    const replies = await Promise.all([one(all.slice(0, 20)), two(all.slice(10))]);
    for (const { status } of replies) expect(status).toBeLessThan(300);
    const forwarded = upstream.bodies().flatMap((body) => (body as { batch: { uuid: string }[] }).batch);
    expect(forwarded.map(({ uuid }) => uuid).sort()).toEqual(all.map(({ uuid }) => uuid).sort());
  });

  it('forward an event that the other relay could not deliver', async () => {
    const [one, two] = await openTwo();
    const batch = events(3);
    upstream.answer(503, { 'Retry-After': '7' });
    expect(await one(batch)).toMatchObject({ status: 503, retryAfter: '7' });
    upstream.answer(201);
    expect((await two(batch)).status).toBe(201);
    expect((await one(batch)).status).toBe(200);
    expect(upstream.received).toHaveLength(2);
  });

  it('forward the events of a crashed relay after its reservation expires', async () => {
    const shared = { prefix: `${randomUUID()}:`, maxPending: 300 };
    const batch = events(3);
    const since = Date.now();
    await inRedis(shared).reserve(
      batch.map(({ uuid }) => uuid),
      OWNER,
    );
    const relay = await openRelay(inRedis({ prefix: shared.prefix }));
    expect((await relay(batch)).status).toBe(201);
    expect(Date.now() - since).toBeGreaterThanOrEqual(300);
    expect(upstream.bodies()).toEqual([{ batch }]);
  });

  it('answer 503 if a reservation outlasts the time-out, and the page retries', async () => {
    const prefix = `${randomUUID()}:`;
    const batch = events(3);
    await inRedis({ prefix }).reserve([batch[1]?.uuid ?? ''], OWNER);
    const relay = await openRelay(inRedis({ prefix }), { timeout: 1000 });
    expect(await relay(batch)).toMatchObject({ status: 503, retryAfter: '1' });
    expect(upstream.received).toEqual([]);
    // The ids that the request itself had reserved are free again.
    expect(
      await inRedis({ prefix }).reserve(
        batch.map(({ uuid }) => uuid),
        'another',
      ),
    ).toEqual(['new', 'pending', 'new']);
  });
});

itWithRedis(
  'a Redis that is down is 503 with Retry-After, and nothing is forwarded; when it is back, all goes through',
  async () => {
    const relay = await openRelay(inRedis());
    const batch = events(3);
    await redis().kill();
    expect(await relay(batch)).toMatchObject({ status: 503, retryAfter: '1' });
    expect(upstream.received).toEqual([]);
    await redis().restart();
    await redis().reconnected();
    expect((await relay(batch)).status).toBe(201);
    expect((await relay(batch)).status).toBe(200);
    expect(upstream.bodies()).toEqual([{ batch }]);
  },
);
