// @module-tag promise
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { signPrimaryKey } from '../../src/relay.ts';
import type { WireEvent } from '../../src/wire.ts';
import { itWithRedis as it, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { createBroker, event, events, KEY, repeatsIn, until } from './broker.ts';
import { type Running, start } from './process.ts';

// Each test starts several processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const SECRET = 'an-identity-secret-of-enough-bytes';
const BATCH = '/clew/api/events/batch/';

const redis = useRedis();
const upstream = useUpstream();

/** The two scripts of the example, as processes that nobody asks before they are killed. */
const openBroker = () => {
  const broker = createBroker(redis(), upstream);
  const run = async (script: string, pattern: RegExp, env: Record<string, string>): Promise<Running> => {
    const common = { REDIS_URL: redis().url, STREAM: broker.stream };
    const running = await start(process.execPath, ['--import', 'tsx', script], pattern, { ...common, ...env });
    onTestFinished(async () => void (await running.end('SIGKILL')));
    return running;
  };
  return {
    ...broker,
    startRelay: () =>
      run('demo/broker/relay.ts', /clew relay: (http:.*)\n/, {
        PORT: '0',
        MAX_PENDING: '5000',
        TIMEOUT: '900',
        IDENTITY_SECRET: SECRET,
      }),
    startWorker: () =>
      run('demo/broker/run-worker.ts', /delivers to (.*)\n/, {
        BASE_URL: upstream.url,
        API_KEY: KEY,
        TAKE_OVER_AFTER: '1000',
      }),
  };
};

const uuidsOf = (batch: readonly WireEvent[]) => batch.map(({ uuid }) => uuid);
/** What came to the service, by id, in order. */
const arrived = (): string[] => upstream.received.flatMap(({ text }) => uuidsOf(JSON.parse(text).batch));

/** Pages that post to the relay at an address which may change, and, as the tracker does, again what nobody has confirmed. */
const createPages = (url: () => string) => {
  /** Ids in requests whose answer did not come, or was not one of success. */
  const unconfirmed = new Set<string>();
  const replies: { status: number; retryAfter: string | null }[] = [];
  const answers = new EventEmitter();
  const confirmed = () => replies.filter(({ status }) => status < 300).length;
  const post = async (batch: readonly WireEvent[]): Promise<void> => {
    const request = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ batch }),
    };
    for (;;) {
      const reply = await fetch(url() + BATCH, request).catch(() => undefined);
      await reply?.text().catch(() => {});
      if (reply) replies.push({ status: reply.status, retryAfter: reply.headers.get('Retry-After') });
      answers.emit('answer');
      if (reply?.ok) return;
      for (const uuid of uuidsOf(batch)) unconfirmed.add(uuid);
      await pause(50);
    }
  };
  return {
    unconfirmed,
    replies,
    /** Resolves with the answer that makes them so many, before the pages can post all the rest. */
    async haveConfirmed(count: number): Promise<void> {
      while (confirmed() < count) await once(answers, 'answer');
    },
    /** Four at a time. */
    async postAll(batches: readonly WireEvent[][]): Promise<void> {
      const open = [...batches];
      const one = async () => {
        for (let batch = open.shift(); batch; batch = open.shift()) await post(batch);
      };
      await Promise.all([one(), one(), one(), one()]);
    },
  };
};

/** All are there, and none twice but those whose answer was lost. */
const expectNoLoss = (batches: readonly WireEvent[][], unconfirmed: ReadonlySet<string>) => {
  const uuids = arrived();
  expect(new Set(uuids)).toEqual(new Set(uuidsOf(batches.flat())));
  expect(repeatsIn(uuids).filter((uuid) => !unconfirmed.has(uuid))).toEqual([]);
};

const manyBatches = () => Array.from({ length: 40 }, (_, n) => events(5, `${n}-`));

it('events travel from page over relay, stream and worker to the service, and both processes end on SIGTERM', async () => {
  const broker = openBroker();
  const [relay, worker] = await Promise.all([broker.startRelay(), broker.startWorker()]);
  const post = (path: string, body: object) =>
    fetch(`${relay.ready}/clew${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const batch = [event('a'), event('b')];
  const { timestamp: _, ...single } = event('now');
  const upsert = { primary_key: 'ann', properties: { plan: 'pro' } };
  const signature = await signPrimaryKey(SECRET, 'ann');
  expect((await post('/api/events/batch/', { batch })).status).toBe(201);
  const reply = await post('/api/customers/upsert', { ...upsert, signature });
  expect([reply.status, await reply.text()]).toEqual([201, '']);
  expect((await post('/events/', single)).status).toBe(201);
  expect((await post('/api/events/batch/', { batch })).status).toBe(200);
  await until(() => upstream.received.length === 3);
  await broker.done();
  expect(upstream.bodies()).toEqual([{ batch }, upsert, single]);
  expect(await Promise.all([relay.end('SIGTERM'), worker.end('SIGTERM')])).toEqual([0, 0]);
});

it('SIGKILL of a relay with requests in flight loses no event', async () => {
  const broker = openBroker();
  const [first] = await Promise.all([broker.startRelay(), broker.startWorker()]);
  let url = first.ready;
  const pages = createPages(() => url);
  const batches = manyBatches();
  const posted = pages.postAll(batches);
  await pages.haveConfirmed(10);
  // Whatever is under way from now on is so when the relay dies.
  await redis().command(['CLIENT', 'PAUSE', '60000', 'WRITE']);
  await first.end('SIGKILL');
  await redis().command(['CLIENT', 'UNPAUSE']);
  url = (await broker.startRelay()).ready;
  await posted;
  await broker.done();
  expect(pages.unconfirmed.size).toBeGreaterThan(0);
  expectNoLoss(batches, pages.unconfirmed);
});

it('SIGKILL of a worker during a delivery loses no event and sends only unconfirmed ones again', async () => {
  const broker = openBroker();
  const batches = Array.from({ length: 12 }, (_, n) => events(5, `${n}-`));
  for (const batch of batches) await broker.append(batch);
  // The service takes the third, and its answer never comes.
  upstream.react((response) => {
    if (upstream.received.length !== 3) response.writeHead(201).end();
  });
  const first = await broker.startWorker();
  await until(() => upstream.received.length === 3);
  await first.end('SIGKILL');
  await broker.startWorker();
  await broker.done();
  expect(repeatsIn(arrived())).toEqual(uuidsOf(batches[2] ?? []));
  expectNoLoss(batches, new Set(uuidsOf(batches[2] ?? [])));
});

it('SIGKILL of Redis loses no event: pages get 503 until Redis is back', async () => {
  const broker = openBroker();
  const [relay] = await Promise.all([broker.startRelay(), broker.startWorker()]);
  const pages = createPages(() => relay.ready);
  const batches = manyBatches();
  const posted = pages.postAll(batches);
  await pages.haveConfirmed(10);
  await redis().kill();
  await until(() => pages.replies.some(({ status }) => status === 503));
  await redis().restart();
  await redis().reconnected();
  await posted;
  await broker.done();
  const refusals = pages.replies.filter(({ status }) => status >= 300);
  expect(new Set(refusals.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(['503 1']));
  expectNoLoss(batches, pages.unconfirmed);
});
