import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Buckets, redisBuckets, type Take } from '../../src/relay.ts';
import { itWithRedis, useRedis } from '../redis.ts';

const redis = useRedis();
const take = (more: Partial<Take> = {}): Take => ({ key: 'a', rate: 1, burst: 3, cost: 1, isLate: false, ...more });
const open = (prefix = `${randomUUID()}:`): Buckets => redisBuckets(redis().command, { prefix });

itWithRedis('two relays with one Redis share a bucket', async () => {
  const prefix = `${randomUUID()}:`;
  const [one, two] = [open(prefix), open(prefix)];
  const waits = [];
  for (const relay of [one, two, one, two, one]) waits.push(await relay.take([take()]));
  expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
  for (const wait of waits.slice(3)) expect(wait).toBeGreaterThan(0);
  for (const wait of waits.slice(3)) expect(wait).toBeLessThanOrEqual(1000);
});

itWithRedis('tokens come back with time, and never more than the burst', async () => {
  const prefix = `${randomUUID()}:`;
  const buckets = open(prefix);
  expect(await buckets.take([take({ cost: 3 })])).toBe(0);
  const wait = await buckets.take([take({ key: 'a' })]);
  expect(wait).toBeGreaterThan(0);
  // As if an hour had passed.
  const hourAgo = async () => {
    const at = Number(await redis().command(['HGET', `${prefix}a`, 'at']));
    await redis().command(['HSET', `${prefix}a`, 'at', `${at - 3_600_000}`]);
  };
  await hourAgo();
  const other = open(prefix);
  const waits = [];
  for (let n = 0; n < 4; n++) waits.push((await other.take([take()])) > 0);
  expect(waits).toEqual([false, false, false, true]);
});

itWithRedis('the last token pays for a whole request, and the longest wait of several buckets counts', async () => {
  const buckets = open();
  expect(await buckets.take([take({ cost: 3 })])).toBe(0);
  expect(await buckets.take([take({ cost: 7, isLate: true })])).toBe(0);
  const wait = await buckets.take([take(), take({ key: 'b' })]);
  expect(wait).toBeGreaterThan(7000);
  expect(wait).toBeLessThanOrEqual(8000);
  expect(await buckets.take([take({ isLate: true })])).toBeGreaterThan(7000);
});

itWithRedis('a refused request takes no tokens', async () => {
  const buckets = open();
  await buckets.take([take({ cost: 3 })]);
  expect(await buckets.take([take(), take({ key: 'b' }), take({ key: 'c', cost: 3, isLate: true })])).toBeGreaterThan(
    0,
  );
  expect(await buckets.take([take({ key: 'b', cost: 3 })])).toBe(0);
  expect(await buckets.take([take({ key: 'c' })])).toBe(0);
});

it('a request with many visitors is one call', async () => {
  const calls: string[][] = [];
  const buckets = redisBuckets(async (args) => {
    calls.push(args);
    return Array(500).fill(0);
  });
  await buckets.take(Array.from({ length: 500 }, (_, n) => take({ key: `visitor ${n}` })));
  expect(calls).toHaveLength(1);
});

itWithRedis('Redis deletes a bucket when it would be full again', async () => {
  const prefix = `${randomUUID()}:`;
  await open(prefix).take([take({ cost: 2 })]);
  const left = Number(await redis().command(['PTTL', `${prefix}a`]));
  expect(left).toBeGreaterThan(2000);
  expect(left).toBeLessThanOrEqual(3000);
});

it('an empty bucket is refused without a further call to Redis, until it has a token', async () => {
  const calls: string[][] = [];
  const buckets = redisBuckets(async (args) => {
    calls.push(args);
    return [calls.length < 3 ? 30 : 0];
  });
  expect(await buckets.take([take()])).toBe(30);
  expect(await buckets.take([take()])).toBeGreaterThan(0);
  expect(calls).toHaveLength(1);
  expect(calls[0]).toEqual(['EVAL', expect.any(String), '1', '{clew}:limit:a', '1', '3', '1', '1']);
  await pause(40);
  expect(await buckets.take([take()])).toBe(30);
  expect(calls).toHaveLength(2);
});

it('a clock that is set back keeps no bucket empty', async () => {
  let calls = 0;
  const buckets = redisBuckets(async () => [++calls < 2 ? 1 : 0]);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  expect(await buckets.take([take()])).toBe(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(2);
  expect(await buckets.take([take()])).toBe(0);
});
