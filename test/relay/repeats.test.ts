// @module-tag promise
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, forwarded, holdAnswers, SINGLE, useRelays, watchSeen } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url }));
/** The service holds the first request until the test answers. `isWaitedFor` resolves once another request waits for it. */
const open = async () => {
  const { seen, isWaitedFor } = watchSeen();
  return { relay: await openRelay({ seen }), held: holdAnswers(upstream), isWaitedFor };
};
const statuses = async (replies: Promise<{ status: number }>[]) =>
  (await Promise.all(replies)).map(({ status }) => status);

describe('65 duplicates of a batch at once', () => {
  it('65 of two requests one is forwarded, and the other is answered after it', async () => {
    const { relay, held, isWaitedFor } = await open();
    const batch = [event('a'), event('b')];
    const first = relay.post(BATCH, { batch });
    const service = await held.next();
    const order: string[] = [];
    const second = relay.post(BATCH, { batch }).finally(() => order.push('the second is answered'));
    await isWaitedFor();
    order.push('the service answers');
    service.writeHead(201).end();
    expect(await statuses([first, second])).toEqual([201, 200]);
    expect(order).toEqual(['the service answers', 'the second is answered']);
    expect(forwarded(upstream)).toEqual([['a', 'b']]);
  });

  it('65 of ten requests one is forwarded, and all ten get a success', async () => {
    const { relay, held } = await open();
    const batch = [event('a'), event('b')];
    const replies = Array.from({ length: 10 }, () => relay.post(BATCH, { batch }));
    for (let come = 0; come < 10; come++) await once(relay.server, 'request');
    await held.answer(201);
    expect((await statuses(replies)).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(forwarded(upstream)).toEqual([['a', 'b']]);
  });

  it.each([500, 503, 400, 429])('65 if the first request gets %i, a waiting one is forwarded', async (status) => {
    const { relay, held, isWaitedFor } = await open();
    const batch = [event('a')];
    const first = relay.post(BATCH, { batch });
    const service = await held.next();
    const others = [relay.post(BATCH, { batch }), relay.post(BATCH, { batch })];
    await isWaitedFor();
    service.writeHead(status).end();
    expect((await first).status).toBe(status === 500 ? 502 : status);
    await held.answer(201);
    expect((await statuses(others)).sort()).toEqual([200, 201]);
    expect(forwarded(upstream)).toEqual([['a'], ['a']]);
  });

  it('65 if the first request is reset, the waiting one is forwarded', async () => {
    const { relay, held, isWaitedFor } = await open();
    const batch = [event('a')];
    const first = relay.post(BATCH, { batch });
    const service = await held.next();
    const second = relay.post(BATCH, { batch });
    await isWaitedFor();
    service.destroy();
    await held.answer(201);
    expect(await statuses([first, second])).toEqual([502, 201]);
  });
});

describe('65 overlapping batches', () => {
  it('65 at once: each event is forwarded once, and both requests get a success', async () => {
    const { relay, held, isWaitedFor } = await open();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => event(name));
    const first = relay.post(BATCH, { batch: [a, b] });
    const service = await held.next();
    const others = [[b, c], [b], [d, a]].map((batch) => relay.post(BATCH, { batch }));
    await isWaitedFor();
    service.writeHead(201).end();
    await held.answer(201);
    await held.answer(201);
    expect(await statuses([first, ...others])).toEqual([201, 201, 200, 201]);
    expect(forwarded(upstream).flat().sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('65 in opposite orders, of which the first fails, do not deadlock', async () => {
    const { relay, held, isWaitedFor } = await open();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => event(name));
    const first = relay.post(BATCH, { batch: [a, b] });
    const service = await held.next();
    const second = relay.post(BATCH, { batch: [b, c] });
    await isWaitedFor();
    const third = relay.post(BATCH, { batch: [c, b] });
    await isWaitedFor();
    service.writeHead(500).end();
    await held.answer(201);
    expect((await first).status).toBe(502);
    expect((await statuses([second, third])).sort()).toEqual([200, 201]);
    expect(forwarded(upstream).flat().sort()).toEqual(['a', 'b', 'b', 'c']);
  });

  it('65 on the single-event endpoint and in a batch are recognised', async () => {
    const { relay, held, isWaitedFor } = await open();
    const [a, b] = [event('a'), event('b')];
    const single = relay.post(SINGLE, a);
    const service = await held.next();
    const batch = relay.post(BATCH, { batch: [a, b] });
    await isWaitedFor();
    service.writeHead(201).end();
    await held.answer(201);
    expect(await statuses([single, batch])).toEqual([201, 201]);
    expect(forwarded(upstream)).toEqual([['a'], ['b']]);
  });

  it('65 with the same event twice are forwarded once and do not wait for themselves', async () => {
    const relay = await openRelay();
    const twice = event('twice');
    expect((await relay.post(BATCH, { batch: [twice, event('between'), twice] })).status).toBe(201);
    expect(forwarded(upstream)).toEqual([['twice', 'between']]);
  });

  it('65 in 60 requests with 40 events: each event is forwarded once', async () => {
    const relay = await openRelay();
    const events = Array.from({ length: 40 }, (_, n) => event(`e${n}`));
    const replies = Array.from({ length: 60 }, (_, n) =>
      relay.post(BATCH, { batch: events.slice((n * 13) % 36, ((n * 13) % 36) + 5) }),
    );
    for (const status of await statuses(replies)) expect([200, 201]).toContain(status);
    const names = forwarded(upstream).flat();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength(40);
  });
});
