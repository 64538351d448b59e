// @module-tag promise
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { createRedisForward, weakSpots, withTimeout } from '../../demo/broker/redis-streams.ts';
import { createRelay, type ForwardError } from '../../src/relay.ts';
import { itWithRedis as it, useRedis } from '../redis.ts';
import { event } from './broker.ts';

const redis = useRedis();

const post = (relay: ReturnType<typeof createRelay>, batch: object[]) =>
  relay(
    new Request('https://www.example.com/clew/api/events/batch/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ batch }),
    }),
  );

it('a confirmed batch is in the stream, in the form that the service expects', async () => {
  const { command } = redis();
  const stream = randomUUID();
  const relay = createRelay({ forward: createRedisForward({ command, stream }) });
  const [good, bad] = [event('a'), { ...event('b'), source: 'sdk' }];
  const reply = await post(relay, [good, bad]);
  expect(reply.status).toBe(201);
  expect(await reply.json()).toMatchObject({ rejected: [{ uuid: bad.uuid }] });
  expect(await command(['XRANGE', stream, '-', '+'])).toMatchObject([
    [expect.any(String), ['path', '/api/events/batch/', 'body', JSON.stringify({ batch: [good] })]],
  ]);
});

it('a full Redis makes the relay answer 503 with Retry-After, and events pass when it has room', async () => {
  const { command } = redis();
  const stream = randomUUID();
  const errors: unknown[] = [];
  const relay = createRelay({
    forward: createRedisForward({ command, stream }),
    onError: (error) => errors.push((error as ForwardError).detail),
  });
  const batch = [event('a')];
  await command(['CONFIG', 'SET', 'maxmemory', '1']);
  const reply = await post(relay, batch);
  await command(['CONFIG', 'SET', 'maxmemory', '0']);
  expect([reply.status, reply.headers.get('Retry-After')]).toEqual([503, '1']);
  expect(errors).toEqual([expect.stringContaining('OOM')]);
  // The relay does not pass on the reason, which may name internal addresses.
  expect(await reply.json()).toEqual({ error: 'the service answered 503', status: 503 });
  expect((await post(relay, batch)).status).toBe(201);
  expect(await command(['XLEN', stream])).toBe(1);
});

it('the relay waits for a Redis that does not answer no longer than the time-out', async () => {
  // Redis blocks all later commands of a connection behind a paused write.
  const [command, pausing] = await Promise.all([redis().connect(), redis().connect()]);
  const forward = createRedisForward({ command: withTimeout(command, 50), stream: randomUUID() });
  await pausing(['CLIENT', 'PAUSE', '60000', 'WRITE']);
  const reply = await forward({ path: '/events/', body: '{}' });
  await pausing(['CLIENT', 'UNPAUSE']);
  expect([reply.status, await reply.text()]).toEqual([503, expect.stringContaining('within 50 ms')]);
});

it('a Redis whose settings may lose entries is reported', async () => {
  const { command } = redis();
  expect(await weakSpots(command)).toEqual([]);
  await command(['CONFIG', 'SET', 'appendfsync', 'everysec']);
  expect(await weakSpots(command)).toEqual(['appendfsync: expected always, got everysec']);
  await command(['CONFIG', 'SET', 'appendfsync', 'always']);
});
