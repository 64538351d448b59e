import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { serveWithExpress } from '../../demo/mounts/express.ts';
import { serveWithFastify } from '../../demo/mounts/fastify.ts';
import { serveWithHono } from '../../demo/mounts/hono.ts';
import { createRoute } from '../../demo/mounts/next.ts';
import { serveWithNode } from '../../demo/mounts/node.ts';
import { createWorker } from '../../demo/mounts/worker.ts';
import { type RelayOptions, signPrimaryKey } from '../../src/relay.ts';
import { closeServer, useUpstream } from '../upstream.ts';
import { openConnection } from './connection.ts';
import { BATCH, event } from './events.ts';

const HOST = '127.0.0.1';
const KEY = 'the-secret-key';
const SECRET = 'an-identity-secret-of-enough-bytes';
const ORIGIN = 'https://www.example.com';

interface Mount {
  server: object;
  /** Undefined where the platform ends the process by itself. */
  stop?: () => Promise<void>;
}

/** Next.js calls the export of a route file that has the name of the request's method. */
const serveRoute = (options: RelayOptions): Mount => {
  const { POST, OPTIONS, relay } = createRoute(options);
  const app = new Hono();
  app.post('/clew/*', (c) => POST(c.req.raw));
  app.options('/clew/*', (c) => OPTIONS(c.req.raw));
  const server = serve({ fetch: app.fetch, port: 0, hostname: HOST });
  const stop = async () => {
    await relay.close();
    server.close();
  };
  return { server, stop };
};

const serveWorker = (options: RelayOptions): Mount => {
  const worker = createWorker();
  const waitUntil = (promise: Promise<unknown>) => void promise;
  const env = {
    BASE_URL: `${options.baseUrl}`,
    API_KEY: `${options.apiKey}`,
    IDENTITY_SECRET: `${options.identitySecret}`,
    ALLOWED_ORIGINS: `${options.allowedOrigins}`,
    ANOTHER_BINDING: {},
  };
  const fetch = (request: Request) => worker.fetch(request, env, { waitUntil });
  return { server: serve({ fetch, port: 0, hostname: HOST }) };
};

const MOUNTS: [name: string, open: (options: RelayOptions) => Mount | Promise<Mount>][] = [
  ['Node', (options) => serveWithNode(options, 0, HOST)],
  ['Express', (options) => serveWithExpress(options, 0, HOST)],
  ['Fastify', (options) => serveWithFastify(options, 0, HOST)],
  ['Hono', (options) => serveWithHono(options, 0, HOST)],
  ['a Next route', serveRoute],
  ['a worker', serveWorker],
];

const upstream = useUpstream();
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.listening && closeServer(server)));
});

describe.each(MOUNTS)('mounted in %s, the relay', (name, openMount) => {
  /** @hono/node-server closes a connection half a second after only a part of the body was read. */
  const cuts = !['Node', 'Express', 'Fastify'].includes(name);
  const open = async () => {
    const options = { baseUrl: upstream.url, apiKey: KEY, identitySecret: SECRET, allowedOrigins: [ORIGIN] };
    const mount = await openMount(options);
    const server = mount.server as Server;
    servers.push(server);
    if (!server.listening) await once(server, 'listening');
    const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
    const post = (path: string, body: unknown, type = 'application/json') =>
      fetch(url + path, { method: 'POST', headers: { 'Content-Type': type }, body: JSON.stringify(body) });
    return { ...mount, server, url, post };
  };

  it('forwards a batch, a single event and a signed upsert, with the key', async () => {
    const { post } = await open();
    const [a, b] = [event('a'), event('b')];
    const { timestamp: _, ...single } = event('c');
    const signature = await signPrimaryKey(SECRET, 'ann');
    upstream.answer(201, { 'Content-Type': 'application/json' }, '{"id":"c7"}');
    expect((await post(BATCH, { batch: [a, b] })).status).toBe(201);
    expect((await post('/clew/events/', single)).status).toBe(201);
    const upsert = await post('/clew/api/customers/upsert', { primary_key: 'ann', signature });
    expect(await upsert.json()).toEqual({ id: 'c7' });
    expect(upstream.bodies()).toEqual([{ batch: [a, b] }, single, { primary_key: 'ann' }]);
    for (const { headers } of upstream.received) expect(headers.authorization).toBe(`Api-Key ${KEY}`);
  });

  it('rejects an upsert and an identify that are not signed', async () => {
    const { post } = await open();
    expect((await post('/clew/api/customers/upsert', { primary_key: 'ann' })).status).toBe(422);
    const forged = event('$identify', { payload: { distinct_id: 'ann' } });
    expect(await (await post(BATCH, { batch: [forged] })).json()).toMatchObject({ rejected: [{ uuid: forged.uuid }] });
    expect(upstream.received).toEqual([]);
  });

  it('accepts a beacon as text from a page of another origin', async () => {
    const { url } = await open();
    const a = event('a');
    const headers = { 'Content-Type': 'text/plain;charset=UTF-8', Origin: ORIGIN };
    const reply = await fetch(url + BATCH, { method: 'POST', headers, body: JSON.stringify({ batch: [a] }) });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(upstream.bodies()).toEqual([{ batch: [a] }]);
  });

  it('inflates gzip', async () => {
    const { url } = await open();
    const a = event('é😀');
    const reply = await fetch(url + BATCH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ batch: [a] })),
    });
    expect(reply.status).toBe(201);
    expect(upstream.bodies()).toEqual([{ batch: [a] }]);
  });

  it.each([
    [ORIGIN, 204, ORIGIN],
    ['https://evil.example', 403, null],
  ])('answers a preflight from %s with %i', async (origin, status, allowed) => {
    const { url } = await open();
    const headers = {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'content-type,content-encoding',
    };
    const reply = await fetch(url + BATCH, { method: 'OPTIONS', headers });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('access-control-allow-origin')).toBe(allowed);
  });

  const large = JSON.stringify({ batch: [event('large', { payload: 'x'.repeat(1_000_000) })] });

  const servesAfterCut = async () => {
    const { url, post } = await open();
    const connection = await openConnection(url);
    connection.post(BATCH, large);
    expect((await connection.reply()).status).toBe(413);
    await connection.closed();
    expect((await post(BATCH, { batch: [event('good')] })).status).toBe(201);
  };

  const servesOnSameConnection = async () => {
    const { url } = await open();
    const connection = await openConnection(url);
    connection.post(BATCH, large);
    connection.post(BATCH, gzipSync(large), { 'Content-Encoding': 'gzip' });
    const good = event('good');
    connection.post(BATCH, JSON.stringify({ batch: [good] }));
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await connection.reply()).status);
    expect(statuses).toEqual([413, 413, 201]);
    expect(upstream.bodies()).toEqual([{ batch: [good] }]);
    connection.socket.destroy();
  };

  if (cuts) it('answers 413 to a megabyte, and the server closes only that connection', servesAfterCut);
  else it('answers 413 to a megabyte, and the next request of its connection succeeds', servesOnSameConnection);

  it('answers 404 to other paths under its prefix, and leaves all others to the app', async () => {
    const { post } = await open();
    for (const path of ['/clew', '/clew/api/other', '/elsewhere']) {
      expect((await post(path, { batch: [event('a')] })).status).toBe(404);
    }
    expect(upstream.received).toEqual([]);
  });

  if (name === 'Express' || name === 'Fastify')
    it('does not affect the body parsers of the app', async () => {
      const { post } = await open();
      expect(await (await post('/echo', { a: [1] })).json()).toEqual({ a: [1] });
    });

  it('forwards the Retry-After of the service', async () => {
    const { post } = await open();
    upstream.answer(429, { 'Retry-After': '17' });
    const busy = await post(BATCH, { batch: [event('a')] });
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '17']);
    upstream.answer(503, { 'Retry-After': '18' }, 'down');
    const down = await post(BATCH, { batch: [event('b')] });
    expect([down.status, down.headers.get('retry-after')]).toEqual([503, '18']);
    expect(await down.json()).toMatchObject({ error: 'the service answered 503', status: 503 });
  });

  const answersBeforeClosing = async () => {
    const { url, post, server, stop } = await open();
    const closed = once(server, 'close');
    const connection = await openConnection(url);
    const arrived = new Promise<ServerResponse>((resolve) => upstream.react(resolve));
    connection.post(BATCH, JSON.stringify({ batch: [event('a')] }));
    const answer = await arrived;
    const stopped = stop?.();
    const late = await post(BATCH, { batch: [event('late')] });
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
    expect(server.listening).toBe(true);
    answer.writeHead(201).end();
    expect((await connection.reply()).status).toBe(201);
    await connection.closed();
    await stopped;
    await closed;
    expect(upstream.received).toHaveLength(1);
  };

  // A worker's platform ends it by itself.
  if (name !== 'a worker') it('answers the requests in flight before its server closes', answersBeforeClosing);
});
