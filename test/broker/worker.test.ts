// @module-tag promise
import { expect, it } from 'vitest';
import { describeWithRedis as describe, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { createBroker, event, events, KEY, sendUntilDone, until } from './broker.ts';

const redis = useRedis();
const upstream = useUpstream();
const openBroker = () => createBroker(redis(), upstream);
const namesOf = (batch: readonly { event: string }[]) => batch.map((one) => one.event);

describe('a worker', () => {
  it('delivers older and newer entries byte for byte, in order, and leaves nothing in the stream', async () => {
    const broker = openBroker();
    const batches = Array.from({ length: 25 }, (_, n) => events(3, `${n}-`));
    for (const batch of batches) expect((await broker.append(batch)).status).toBe(201);
    await broker.work();
    await broker.done();
    expect(upstream.received.map(({ text }) => text)).toEqual(batches.map((batch) => JSON.stringify({ batch })));
    expect(upstream.received[0]?.headers.authorization).toBe(`Api-Key ${KEY}`);
    expect(await redis().command(['XPENDING', broker.stream, 'workers'])).toEqual([0, null, null, null]);
    expect(await redis().command(['EXISTS', `${broker.stream}:progress`, `${broker.stream}:rejected`])).toBe(0);
  });

  it('sends upserts and single events to their own paths, alone and in order', async () => {
    const broker = openBroker();
    const { timestamp: _, ...single } = event('now');
    const upsert = { primary_key: 'ann', properties: { plan: 'pro' } };
    await broker.append([event('a')]);
    await broker.forward({ path: '/api/customers/upsert', body: JSON.stringify(upsert) });
    await broker.forward({ path: '/events/', body: JSON.stringify(single) });
    await broker.append([event('b')]);
    await broker.work();
    await broker.done();
    expect(upstream.received.map(({ path }) => path)).toEqual([
      '/api/events/batch/',
      '/api/customers/upsert',
      '/events/',
      '/api/events/batch/',
    ]);
    expect(upstream.bodies().slice(1, 3)).toEqual([upsert, single]);
  });

  it('adds the time of appending to a single event that is late', async () => {
    const broker = openBroker();
    const { timestamp: _, ...single } = event('then');
    const at = Date.parse('2026-01-31T11:00:00.000Z');
    const fields = ['path', '/events/', 'body', JSON.stringify(single)];
    await redis().command(['XADD', broker.stream, `${at}-0`, ...fields]);
    await broker.work();
    await broker.done();
    expect(upstream.received[0]?.path).toBe('/api/events/batch/');
    expect(upstream.bodies()).toEqual([{ batch: [{ ...single, timestamp: '2026-01-31T11:00:00.000Z' }] }]);
  });

  it('puts aside, with the reason, entries that no relay has appended', async () => {
    const broker = openBroker();
    for (const fields of [
      ['a', 'b'],
      ['path', '/admin', 'body', '{}'],
      ['path', '/events/', 'body', '{'],
      ['path', '/api/events/batch/', 'body', '{"batch":[]}'],
    ]) {
      await redis().command(['XADD', broker.stream, '*', ...fields]);
    }
    await broker.append([event('a')]);
    await broker.work();
    await broker.done();
    expect(broker.taken).toEqual(['a']);
    expect(await broker.rejected()).toMatchObject(Array(4).fill({ reason: 'not appended by a relay' }));
  });

  it('ends after the request in flight is answered, and frees the other entries at once', async () => {
    const broker = openBroker();
    let answer = () => {};
    upstream.react((response) => {
      answer = () => response.writeHead(201).end();
    });
    for (const batch of [events(2, 'a'), events(2, 'b'), events(2, 'c')]) await broker.append(batch);
    const worker = await broker.work('one');
    await until(() => upstream.received.length === 1);
    const stopped = worker.stop();
    broker.answerBy(() => 201);
    answer();
    await stopped;
    expect(await broker.left()).toBe(2);
    expect(upstream.received).toHaveLength(1);
    await broker.work('two', { takeOverAfter: 60_000 });
    await broker.done();
    expect(broker.taken).toEqual(['b0', 'b1', 'c0', 'c1']);
  });
});

describe('an answer', () => {
  it('of 503 pauses all sending for the Retry-After, and the order is kept', async () => {
    const broker = openBroker();
    const times: number[] = [];
    broker.answerBy(() => (times.push(Date.now()) === 1 ? 503 : 201), { 'Retry-After': '1' });
    const batches = [events(2, 'a'), events(2, 'b'), events(2, 'c')];
    for (const batch of batches) await broker.append(batch);
    await broker.work();
    await broker.done();
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1000);
    expect(upstream.received[1]?.text).toBe(upstream.received[0]?.text);
    expect(broker.taken).toEqual(namesOf(batches.flat()));
  });

  it.each([408, 425, 429, 500, 502, 504])('of %i is retried byte for byte', async (status) => {
    const broker = openBroker();
    broker.answerBy(() => (upstream.received.length < 3 ? status : 201));
    const batch = events(5);
    await broker.append(batch);
    await broker.work();
    await broker.done();
    const tries = status === 500 ? 2 : 3;
    expect(new Set(upstream.received.slice(0, tries).map(({ text }) => text)).size).toBe(1);
    expect(broker.taken).toEqual(namesOf(batch));
    expect(await broker.rejected()).toEqual([]);
  });

  it('that does not arrive makes the worker send the same ids again', async () => {
    const broker = openBroker();
    const batch = events(5);
    upstream.react((response) => {
      broker.answerBy(() => 201);
      response.destroy();
    });
    await broker.append(batch);
    await broker.work();
    await broker.done();
    expect(upstream.received.map(({ text }) => text)).toEqual(Array(2).fill(JSON.stringify({ batch })));
  });

  it.each([401, 403, 404, 405, 410])('of %i keeps all entries and pauses', async (status) => {
    const broker = openBroker();
    const times: number[] = [];
    broker.answerBy(() => (times.push(Date.now()) < 3 ? status : 201));
    await broker.append(events(2, 'a'));
    await broker.append(events(2, 'b'));
    const { errors } = await broker.work();
    await broker.done();
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(150);
    expect(third - second).toBeGreaterThanOrEqual(300);
    expect(errors).toEqual(Array(2).fill(`${status} poison`));
    expect(broker.taken).toEqual(['a0', 'a1', 'b0', 'b1']);
    expect(await broker.rejected()).toEqual([]);
  });
});

describe('a poison event', () => {
  it.each([400, 422, 500])(
    'among 50 that is answered %i is put aside with its reason, and the 49 others arrive once',
    async (status) => {
      const broker = openBroker();
      const batch = events(50);
      broker.answerBy((names) => (names.includes('20') ? status : 201));
      await broker.append(batch);
      await broker.work();
      await sendUntilDone(broker, upstream);
      expect(broker.taken.filter((name) => !name.startsWith('more')).sort()).toEqual(
        namesOf(batch)
          .filter((name) => name !== '20')
          .sort(),
      );
      expect(await broker.rejected()).toMatchObject([
        { text: JSON.stringify(batch[20]), path: '/api/events/batch/', reason: `${status} poison` },
      ]);
    },
  );
});
