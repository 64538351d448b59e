// @module-tag promise
import { expect, vi } from 'vitest';
import { signPrimaryKey } from '../../src/relay.ts';
import type { WireEvent } from '../../src/wire.ts';
import { itWithRedis as it, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { event, events, repeatsIn, until } from './broker.ts';
import { createPages, openBroker, SECRET, uuidsOf } from './running.ts';

// Each test starts several processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const redis = useRedis();
const upstream = useUpstream();

/** Ids of the events that have arrived at the service, in order. */
const arrived = (): string[] => upstream.received.flatMap(({ text }) => uuidsOf(JSON.parse(text).batch));

/** Expects each event at the service, and twice only if its answer was lost. */
const expectNoLoss = (batches: readonly WireEvent[][], unconfirmed: ReadonlySet<string>) => {
  const uuids = arrived();
  expect(new Set(uuids)).toEqual(new Set(uuidsOf(batches.flat())));
  expect(repeatsIn(uuids).filter((uuid) => !unconfirmed.has(uuid))).toEqual([]);
};

const manyBatches = () => Array.from({ length: 40 }, (_, n) => events(5, `${n}-`));

it('events travel from page over relay, stream and worker to the service, and both processes end on SIGTERM', async () => {
  const broker = openBroker(redis(), upstream);
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
  const broker = openBroker(redis(), upstream);
  const [first] = await Promise.all([broker.startRelay(), broker.startWorker()]);
  let url = first.ready;
  const pages = createPages(() => url);
  const batches = manyBatches();
  const posted = pages.postAll(batches);
  await pages.haveConfirmed(10);
  // Redis delays all writes, so each request from now on is open when the relay dies.
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
  const broker = openBroker(redis(), upstream);
  const batches = Array.from({ length: 12 }, (_, n) => events(5, `${n}-`));
  for (const batch of batches) await broker.append(batch);
  // The service takes the third batch and never answers.
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
  const broker = openBroker(redis(), upstream);
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
