// @module-tag promise
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closeServer, deadUrl, listenOn, useUpstream } from '../upstream.ts';
import { BATCH, event, forwarded, holdAnswers, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url }));
const BEACON = { 'Content-Type': 'text/plain;charset=UTF-8' };

const breaks: [string, (response: ServerResponse) => void][] = [
  ['resets when it has read the request', (response) => response.destroy()],
  ['resets in the middle of its headers', (response) => response.socket?.end('HTTP/1.1 201 Cre')],
  [
    'resets in the middle of the body of a 502',
    (response) => {
      response.writeHead(502, { 'Content-Length': 100 });
      response.write('half', () => response.destroy());
    },
  ],
  ['answers what is no HTTP', (response) => response.socket?.end('220 mail ready\r\n\r\n')],
  ['answers 500', (response) => response.writeHead(500).end()],
  ['answers 502 with a page of HTML', (response) => response.writeHead(502).end('<html>'.repeat(10_000))],
];

describe('66 the service', () => {
  it.each(breaks)('66 that %s: 502, no event counts as confirmed, and the retry delivers', async (_what, react) => {
    const relay = await openRelay();
    const batch = [event('a')];
    upstream.react(react);
    for (let time = 1; time <= 3; time++) {
      const reply = await relay.post(BATCH, { batch });
      expect(reply.status).toBe(502);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(upstream.received).toHaveLength(time);
    }
    upstream.answer(201);
    expect((await relay.post(BATCH, { batch })).status).toBe(201);
  });

  it('66 that is down: 502, and the retry delivers when it is up again', async () => {
    const address = await deadUrl();
    const relay = await openRelay({ baseUrl: address });
    const batch = [event('a')];
    expect((await relay.post(BATCH, { batch })).status).toBe(502);
    const come: (string | undefined)[] = [];
    const service = createServer((request, response) => {
      come.push(request.url);
      request.resume().on('end', () => response.writeHead(201).end());
    });
    await listenOn(service, Number(new URL(address).port));
    expect((await relay.post(BATCH, { batch })).status).toBe(201);
    expect(come).toEqual(['/api/events/batch/']);
    await closeServer(service);
  });

  it('66 that is slow: 504 after `timeout`, and other requests do not wait', async () => {
    const relay = await openRelay({ timeout: 300 });
    upstream.react((response, { text }) => {
      if (!text.includes('slow')) response.writeHead(201).end();
    });
    const slow = relay.post(BATCH, { batch: [event('slow')] });
    const order: string[] = [];
    const noted = slow.finally(() => order.push('slow'));
    await relay.post(BATCH, { batch: [event('quick')] }).finally(() => order.push('quick'));
    expect((await noted).status).toBe(504);
    expect(order).toEqual(['quick', 'slow']);
  });
});

describe('66 a beacon, whose answer no page reads', () => {
  const passing = breaks.filter(([what]) => what !== 'answers 500');
  it.each(passing)('66 is sent again to a service that %s', async (_what, react) => {
    const relay = await openRelay();
    upstream.react((response) => {
      upstream.answer(201);
      react(response);
    });
    expect((await relay.post(BATCH, { batch: [event('a')] }, BEACON)).status).toBe(201);
    expect(forwarded(upstream)).toEqual([['a'], ['a']]);
  });

  it('66 is given up after three tries, and the page may retry', async () => {
    const relay = await openRelay();
    const batch = [event('a')];
    upstream.answer(502);
    expect((await relay.post(BATCH, { batch }, BEACON)).status).toBe(502);
    expect(upstream.received).toHaveLength(3);
    upstream.answer(201);
    expect((await relay.post(BATCH, { batch })).status).toBe(201);
  });

  it.each<[string, number, Record<string, string>]>([
    ['500, which the service answers after it has stored a part of the batch', 500, {}],
    ['503 with Retry-After', 503, { 'Retry-After': '60' }],
    ['501', 501, {}],
  ])('66 is not sent again after %s', async (_what, status, headers) => {
    const relay = await openRelay();
    upstream.answer(status, headers);
    expect((await relay.post(BATCH, { batch: [event('a')] }, BEACON)).status).toBe(status === 503 ? 503 : 502);
    expect(upstream.received).toHaveLength(1);
  });

  it.each([502, 503, 504])('66 is sent again after %i', async (status) => {
    const relay = await openRelay();
    upstream.react((response) => {
      upstream.answer(201);
      response.writeHead(status).end();
    });
    expect((await relay.post(BATCH, { batch: [event('a')] }, BEACON)).status).toBe(201);
    expect(upstream.received).toHaveLength(2);
  });

  it.each([400, 401, 413, 429])('66 is not sent again after %i, which would not change', async (status) => {
    const relay = await openRelay();
    upstream.answer(status);
    expect((await relay.post(BATCH, { batch: [event('a')] }, BEACON)).status).toBe(status);
    expect(upstream.received).toHaveLength(1);
  });
});

describe('66 a relay that is closing', () => {
  it('66 answers requests in flight, refuses new ones, and then closes', async () => {
    const relay = await openRelay();
    const held = holdAnswers(upstream);
    const replies = Array.from({ length: 20 }, (_, n) => relay.post(BATCH, { batch: [event(`e${n}`)] }));
    const services = await Promise.all(replies.map(held.next));
    const order: string[] = [];
    const closed = relay.close().then(() => order.push('closed'));
    const late = await relay.post(BATCH, { batch: [event('late')] });
    expect(late).toMatchObject({ status: 503, json: { error: 'this relay is closing' } });
    expect(late.headers.get('retry-after')).toBe('1');
    order.push('answered');
    for (const service of services) service.writeHead(201).end();
    for (const { status } of await Promise.all(replies)) expect(status).toBe(201);
    await closed;
    expect(order).toEqual(['answered', 'closed']);
    expect(forwarded(upstream).flat()).not.toContain('late');
  });

  it('66 does not retry a failed beacon, and answers that it failed', async () => {
    const relay = await openRelay();
    const held = holdAnswers(upstream);
    const reply = relay.post(BATCH, { batch: [event('a')] }, BEACON);
    const service = await held.next();
    const closed = relay.close();
    service.writeHead(502).end();
    expect((await reply).status).toBe(502);
    await closed;
    expect(upstream.received).toHaveLength(1);
  });
});
