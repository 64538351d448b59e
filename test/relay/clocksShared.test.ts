// @module-tag promise
import { expect, it } from 'vitest';
import { redisSeen } from '../../src/relay.ts';
import { describeWithRedis, useRedis } from '../redis.ts';
import { openInMemory, requestOf, uuids } from './requests.ts';
import { event } from './stage.ts';

const redis = useRedis();
const HOUR = 3_600_000;

describeWithRedis('the clock of a page load in Redis', () => {
  it('is known to another relay, and after a restart', async () => {
    const create = () => openInMemory({ seen: redisSeen((args) => redis().command(args)) });
    const [correlationValue] = uuids(1);
    const tracked = () =>
      event('a', { correlationValue, seq: [1, 1], timestamp: new Date(Date.now() + HOUR).toISOString() });
    await create().relay(requestOf({ clock: [Date.now() + HOUR, 1000], batch: [tracked()] }));
    const { relay, received } = create();
    await relay(requestOf({ batch: [tracked()] }));
    const [{ timestamp }] = JSON.parse(received[0]?.body ?? '').batch;
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(5000);
  });

  it('has no offset that Redis does not know', async () => {
    const seen = redisSeen((args) => redis().command(args));
    await seen.setOffset?.('load:1', -5);
    expect(await seen.offsets?.(['load:2', 'load:1'])).toEqual([undefined, -5]);
  });

  it('keeps its first offset', async () => {
    const seen = redisSeen((args) => redis().command(args));
    expect([await seen.setOffset?.('load:3', -5), await seen.setOffset?.('load:3', 7)]).toEqual([-5, -5]);
    expect(await seen.offsets?.(['load:3'])).toEqual([-5]);
  });
});
