// @module-tag promise
import { expect } from 'vitest';
import { itWithRedis as it, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { counted, createBroker, events } from './broker.ts';

const redis = useRedis();
const upstream = useUpstream();
const openBroker = () => createBroker(redis(), upstream);

it('two workers share the entries, and no event is delivered twice', async () => {
  const broker = openBroker();
  const [one, two] = [counted(broker.service), counted(broker.service)];
  await broker.work('one', { forward: one });
  await broker.work('two', { forward: two });
  const batches = Array.from({ length: 60 }, (_, n) => events(2, `${n}-`));
  await Promise.all(batches.map(broker.append));
  await broker.done();
  expect([...broker.taken].sort()).toEqual(
    batches
      .flat()
      .map((event) => event.event)
      .sort(),
  );
  expect(one.counts.requests).toBeGreaterThan(0);
  expect(two.counts.requests).toBeGreaterThan(0);
});

it('a worker that restarts under its name continues with its own entries', async () => {
  const broker = openBroker();
  await broker.append(events(2));
  await redis().command(['XGROUP', 'CREATE', broker.stream, 'workers', '0']);
  await redis().command(['XREADGROUP', 'GROUP', 'workers', 'one', 'STREAMS', broker.stream, '>']);
  await broker.work('one', { takeOverAfter: 60_000 });
  await broker.done();
  expect(broker.taken).toEqual(['0', '1']);
});

it('another worker takes over the entries of a crashed one after the idle time', async () => {
  const broker = openBroker();
  await broker.append(events(2));
  await redis().command(['XGROUP', 'CREATE', broker.stream, 'workers', '0']);
  const diedAt = Date.now();
  await redis().command(['XREADGROUP', 'GROUP', 'workers', 'dead', 'STREAMS', broker.stream, '>']);
  await broker.work('two', { takeOverAfter: 500 });
  await broker.done();
  expect(Date.now() - diedAt).toBeGreaterThanOrEqual(500);
  expect(broker.taken).toEqual(['0', '1']);
});

it('a worker creates its group again when Redis has lost all data', async () => {
  const broker = openBroker();
  await broker.append(events(1, 'a'));
  await broker.work();
  await broker.done();
  await redis().command(['DEL', broker.stream]);
  await broker.append(events(1, 'b'));
  await broker.done();
  expect(broker.taken).toEqual(['a0', 'b0']);
});
