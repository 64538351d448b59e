// @module-tag promise
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type RelayReport, redisSeen } from '../../src/relay.ts';
import { describeWithRedis, useRedis } from '../redis.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event } from './stage.ts';

const redis = useRedis();
const LOAD = 2 ** 41;

describeWithRedis('the books in Redis', () => {
  const open = (prefix: string) => {
    const reports: RelayReport[] = [];
    const seen = redisSeen((args) => redis().command(args), { prefix });
    const { relay } = openInMemory({ seen, onReport: (report) => reports.push(report) });
    const send = (...numbers: number[]) =>
      relay(requestOf({ batch: numbers.map((n) => event('a', { seq: [LOAD, n] })), books: [[LOAD, 40, 39, 'r', []]] }));
    const books = async () => {
      await relay.close();
      return reports.at(-1)?.books;
    };
    return { relay, send, books };
  };

  it('are the same for all relays, and after a restart', async () => {
    const prefix = `${randomUUID()}:`;
    const [one, other] = [open(prefix), open(prefix)];
    // At the same time: the relays change the same page load in turn.
    await Promise.all(Array.from({ length: 15 }, (_, n) => (n % 2 ? one : other).send(n + 1, n + 21)));
    const row = { release: 'r', tracked: 40, delivered: 30, missing: 9, unknown: 1 };
    expect(await one.books()).toMatchObject([row]);
    expect(await other.books()).toMatchObject([row]);
    const later = open(prefix);
    await later.send(16);
    expect(await later.books()).toMatchObject([{ ...row, delivered: 31, missing: 8 }]);
  });

  it('are in no metric before they were read, so a restart shows no zero', async () => {
    const prefix = `${randomUUID()}:`;
    await open(prefix).send(...Array.from({ length: 30 }, (_, n) => n + 1));
    const { relay } = open(prefix);
    expect(relay.metrics()).not.toMatch(/^clew_relay_(missing|book)_events/m);
    await expect.poll(() => relay.metrics()).toContain('\nclew_relay_missing_events 9\n');
  });

  it('call no event missing whose account has ended', async () => {
    const maxAge = 50;
    const prefix = `${randomUUID()}:`;
    const seen = redisSeen((args) => redis().command(args), { prefix, maxAge });
    const { relay } = openInMemory({ seen });
    const since = Date.now();
    const state = (closed: number, batch: readonly object[]) => {
      const books = [[LOAD, 1, closed, 'r', [], since]];
      return relay(requestOf({ batch, books, clock: [Date.now(), 1000] }));
    };
    await state(0, [event('a', { seq: [LOAD, 1] })]);
    await expect.poll(() => redis().command(['EXISTS', `{${prefix}books}:load:${LOAD}`])).toBe(0);
    expect((await state(1, [])).headers.get('clew-books')).toBe('0');
  });

  /** A page load of six events, of which two are lost. The fault comes while the service has the third one. */
  const playFault = async (fault: () => unknown, repair: () => unknown) => {
    const prefix = `${randomUUID()}:`;
    const since = Date.now() - 1000;
    await redis().command(['SET', `${prefix}since`, `${since - 3_600_000}`]);
    let served = 0;
    const reports: RelayReport[] = [];
    const openOne = async () => {
      const seen = redisSeen(await redis().connect(), { prefix });
      const forward = async () => {
        if (++served === 3) await fault();
        return new Response(null, { status: 201 });
      };
      return openInMemory({ seen, forward, timeout: 1500, onReport: (report) => reports.push(report) }).relay;
    };
    const [one, other] = [await openOne(), await openOne()];
    const state = (relay: typeof one, closed: number, ...numbers: number[]) => {
      const books = [[LOAD, 6, closed, 'r', [], since]];
      const batch = numbers.map((n) => event('a', { seq: [LOAD, n] }));
      return relay(requestOf({ batch, books, clock: [Date.now(), Date.now() - since] }));
    };
    const statuses: number[] = [];
    for (const n of [1, 2, 3]) statuses.push((await state(one, 0, n)).status);
    await repair();
    await redis().reconnected();
    statuses.push((await state(other, 0, 4)).status);
    await state(other, 6);
    await one.close();
    expect(statuses).toEqual([201, 201, 201, 201]);
    return reports.at(-1)?.books;
  };

  it('miss exactly what is lost, although Redis is killed between reservation and settling', async () => {
    const books = await playFault(redis().kill, redis().restart);
    expect(books).toMatchObject([{ tracked: 6, delivered: 4, missing: 2, unknown: 0 }]);
  });

  it('miss exactly what is lost, although Redis is silent for longer than the relay waits', async () => {
    const books = await playFault(redis().freeze, redis().thaw);
    expect(books).toMatchObject([{ tracked: 6, delivered: 4, missing: 2, unknown: 0 }]);
  });

  it('miss nothing that an emptied Redis may have known', async () => {
    const books = await playFault(
      () => redis().command(['FLUSHALL']),
      () => {},
    );
    expect(books).toMatchObject([{ delivered: 2, missing: 0, unknown: 0 }]);
  });

  it('are in one slot of a cluster, and end with the memory of events', async () => {
    const prefix = `${randomUUID()}:`;
    await open(prefix).send(1);
    const keys = (await redis().command(['KEYS', `*${prefix}books*`])) as string[];
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(key).toContain(`{${prefix}books}:`);
      const left = Number(await redis().command(['PTTL', key]));
      expect(left).toBeGreaterThan(29 * 86_400_000);
      expect(left).toBeLessThanOrEqual(30 * 86_400_000);
    }
  });
});
