// @module-tag promise
import { expect } from 'vitest';
import { itWithRedis as it, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { counted, createBroker, events, until } from './broker.ts';

const redis = useRedis();
const upstream = useUpstream();
const openBroker = () => createBroker(redis(), upstream);

it('a worker that waits for the service keeps its entries', async () => {
  const broker = openBroker();
  broker.answerBy(() => (upstream.received.length === 1 ? 503 : 201), { 'Retry-After': '7' });
  const [one, two] = [counted(broker.service), counted(broker.service)];
  for (const batch of [events(2, 'a'), events(2, 'b')]) await broker.append(batch);
  // Shorter than the wait for the service, and longer than a busy machine delays the first worker.
  const takeOverAfter = 4000;
  await broker.work('one', { forward: one, takeOverAfter });
  await until(() => upstream.received.length === 1);
  await broker.work('two', { forward: two, takeOverAfter });
  await broker.done();
  expect(broker.taken).toEqual(['a0', 'a1', 'b0', 'b1']);
  expect(one.counts.requests).toBe(3);
  expect(two.counts.requests).toBe(0);
});
