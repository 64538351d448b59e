import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createChanges } from '../../demo/collector/changes.ts';
import { createFaults } from '../../demo/collector/faults.ts';
import { createServiceApp } from '../../demo/collector/service.ts';
import { listen } from './listen.ts';
import { createVisitor, KEY, serveApp, startCollector, useCollector } from './running.ts';

const running = useCollector();
const visitor = createVisitor();
const fault = async (body: unknown) => {
  const response = await running().request('PUT', '/inspect/faults', body);
  return { status: response.status, body: await response.json() };
};
const state = async () => (await running().request('GET', '/inspect/faults')).json();
const post = (signal?: AbortSignal) =>
  fetch(`${running().url}/api/events/batch/`, {
    method: 'POST',
    headers: { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ batch: [visitor.event('e')] }),
    ...(signal && { signal }),
  });
const stored = async () => (await running().events()).length;

describe('faults on demand', () => {
  it('answer a status and store nothing until they are switched off', async () => {
    expect(await fault({ mode: 'status', status: 503 })).toEqual({
      status: 200,
      body: { mode: 'status', status: 503 },
    });
    for (let n = 0; n < 3; n++) {
      const response = await post();
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBeNull();
      expect(await response.json()).toEqual({ error: 'a 503 on demand' });
    }
    await fault({ mode: 'none' });
    expect((await post()).status).toBe(201);
    expect(await stored()).toBe(1);
  });

  it('answer 429 with Retry-After, readable across origins', async () => {
    await fault({ mode: 'status', status: 429, retryAfter: '7' });
    const response = await post();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After');
  });

  it('fail the given number of requests, then none', async () => {
    await fault({ mode: 'status', status: 500, count: 2 });
    expect((await post()).status).toBe(500);
    expect(await state()).toEqual({ mode: 'status', status: 500, count: 1 });
    expect((await post()).status).toBe(500);
    expect(await state()).toEqual({ mode: 'none' });
    expect((await post()).status).toBe(201);
  });

  it('last as long as asked, with the rest of that time in the state', async () => {
    await fault({ mode: 'status', status: 503, duration: 600_000 });
    expect((await post()).status).toBe(503);
    expect((await state()).duration).toBeLessThanOrEqual(600_000);
    await fault({ mode: 'status', status: 503, duration: 100 });
    await expect.poll(state).toEqual({ mode: 'none' });
    expect((await post()).status).toBe(201);
  });

  it('have their own time, whatever was left of the one before', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const faults = createFaults();
    faults.set({ mode: 'hang', duration: 20 });
    faults.set({ mode: 'close' });
    vi.advanceTimersByTime(40);
    expect(faults.state()).toEqual({ mode: 'close' });
  });

  it('fail all three endpoints', async () => {
    await fault({ mode: 'status', status: 500 });
    for (const path of ['/api/customers/upsert', '/api/events/batch/', '/events/']) {
      expect((await running().request('POST', path, {})).status).toBe(500);
    }
  });

  it('count no preflights, no requests without the key and no other paths', async () => {
    await fault({ mode: 'status', status: 500, count: 1 });
    const url = `${running().url}/api/events/batch/`;
    expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204);
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    expect((await running().request('POST', '/api/nothing')).status).toBe(404);
    expect(await state()).toMatchObject({ count: 1 });
  });

  it('delay the request, which then succeeds', async () => {
    await fault({ mode: 'slow', delay: 150, count: 1 });
    const before = performance.now();
    expect((await post()).status).toBe(201);
    expect(performance.now() - before).toBeGreaterThanOrEqual(145);
    expect(await stored()).toBe(1);
  });

  it('store and then close: the sender sees an error for stored events', async () => {
    await fault({ mode: 'close', count: 1 });
    await expect(post()).rejects.toThrow('fetch failed');
    expect(await stored()).toBe(1);
    expect((await post()).status).toBe(201);
  });

  it('close before storing', async () => {
    await fault({ mode: 'close-before', count: 1 });
    await expect(post()).rejects.toThrow('fetch failed');
    expect(await stored()).toBe(0);
  });

  it('send not one byte before closing', async () => {
    for (const mode of ['close', 'close-before']) {
      await fault({ mode, count: 1 });
      const body = JSON.stringify({ batch: [visitor.event('e')] });
      const socket = connect(Number(new URL(running().url).port), '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.write(
        `POST /api/events/batch/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key ${KEY}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket, 'close');
      expect(received).toBe('');
    }
  });

  it('hang until the client gives up, and store nothing', async () => {
    await fault({ mode: 'hang', count: 1 });
    const leave = new AbortController();
    const answer = expect(post(leave.signal)).rejects.toThrow('aborted');
    // The fault has run out, so the collector is holding the request.
    await expect.poll(async () => (await state()).mode).toBe('none');
    leave.abort();
    await answer;
    expect(await stored()).toBe(0);
    expect((await post()).status).toBe(201);
  });

  it('release a hanging request when its client disconnects, however much it has sent', async () => {
    const faults = createFaults();
    faults.set({ mode: 'hang' });
    const { database } = running();
    const app = createServiceApp({ database, apiKey: KEY, faults, changes: createChanges() });
    const { server, url } = await serveApp(app);
    const arrived = once(server, 'request');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      `POST /events/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key ${KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n${'x'.repeat(4_000_000)}`,
    );
    await arrived;
    const closed = once(server, 'close');
    server.close();
    socket.destroy();
    await closed;
  });

  it('let a server close that holds hanging requests, slow ones and streams', { tags: 'long' }, async () => {
    const other = await startCollector();
    const stream = await listen(other.url);
    await stream.next();
    const answers: Promise<string>[] = [];
    for (const fault of [{ mode: 'hang' }, { mode: 'slow', delay: 60_000 }]) {
      await other.request('PUT', '/inspect/faults', { ...fault, count: 1 });
      answers.push(
        other.request('POST', '/events/', visitor.event('e')).then(
          () => 'answered',
          () => 'broken off',
        ),
      );
      // The fault has run out, so the collector is holding the request.
      await expect.poll(async () => (await (await other.request('GET', '/inspect/faults')).json()).mode).toBe('none');
    }
    await other.stop();
    expect(await Promise.all(answers)).toEqual(['broken off', 'broken off']);
    let last = await stream.next();
    while (last !== undefined) last = await stream.next();
  });
});

describe('an invalid fault', () => {
  it.each<[unknown, string]>([
    [{}, 'mode: expected one of none, status, slow, hang, close, close-before, received nothing'],
    [{ mode: 'explode' }, 'mode: expected one of none, status, slow, hang, close, close-before, received "explode"'],
    [{ mode: 'status' }, 'status: expected a whole number from 400 to 599, received nothing'],
    [{ mode: 'status', status: 200 }, 'status: expected a whole number from 400 to 599, received 200'],
    [{ mode: 'status', status: '500' }, 'status: expected a whole number from 400 to 599, received "500"'],
    [{ mode: 'status', status: 500, count: 0 }, 'count: expected a whole number from 1 to 1000000, received 0'],
    [{ mode: 'hang', duration: 0 }, 'duration: expected a whole number from 1 to 600000, received 0'],
    [{ mode: 'hang', count: 1.5 }, 'count: expected a whole number from 1 to 1000000, received 1.5'],
    [
      { mode: 'status', status: 500, retryAfter: 7 },
      'retryAfter: expected a number of seconds or an HTTP date, as a string, received 7',
    ],
    [
      { mode: 'status', status: 500, retryAfter: '1\r\nX: y' },
      'retryAfter: expected a number of seconds or an HTTP date, as a string, received "1\\r\\nX: y"',
    ],
    [{ mode: 'slow' }, 'delay: expected a whole number from 0 to 600000, received nothing'],
    [{ mode: 'slow', delay: -1 }, 'delay: expected a whole number from 0 to 600000, received -1'],
    [null, 'body: expected an object, received null'],
  ])('%j is refused, and the current fault stays', async (body, error) => {
    await fault({ mode: 'hang', count: 3 });
    expect(await fault(body)).toEqual({ status: 400, body: { error } });
    expect(await state()).toEqual({ mode: 'hang', count: 3 });
  });
});
