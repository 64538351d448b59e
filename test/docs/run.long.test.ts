import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { event } from '../mounts/events.ts';
import { itWithRedis, useRedis } from '../redis.ts';
import { deadUrl, useUpstream } from '../upstream.ts';
import { root } from './markdown.ts';
import { blockOf, run } from './run.ts';

const upstream = useUpstream();
const redis = useRedis();
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The status of an event's answer, or why there is none. */
const post = (port: string) =>
  fetch(`http://localhost:${port}/clew/api/events/batch/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ batch: [event('signup')] }),
  }).then(({ status }) => status, String);

describe('the relay in the documentation', () => {
  it.each([
    ['README.md', '// relay.mjs'],
    ['docs/relay.md', '// node.ts'],
    ['docs/relay.md', '// express.ts'],
    ['docs/relay.md', '// fastify.ts'],
    ['docs/relay.md', '// hono.ts'],
    ['docs/relay.md', "process.once('SIGTERM'"],
  ])('in %s, %s, forwards with the key', { timeout: 60_000 }, async (page, mark) => {
    const { port } = new URL(await deadUrl());
    const code = blockOf(page, mark).replace(/\b(8080|3000)\b/, port);
    const { end } = run(code, {
      BASE_URL: upstream.url,
      API_KEY: 'the-key',
      IDENTITY_SECRET: 'an-identity-secret-of-enough-bytes',
    });
    ends.push(end);
    await expect.poll(() => post(port), { timeout: 30_000 }).toBe(201);
    const [first] = upstream.received;
    expect(first?.headers.authorization).toBe('Api-Key the-key');
    expect(JSON.parse(first?.text ?? '')).toMatchObject({ batch: [{ event: 'signup' }] });
  });

  it('stops on SIGTERM where the page states it', { timeout: 60_000 }, async () => {
    const { port } = new URL(await deadUrl());
    const code = blockOf('docs/relay.md', "process.once('SIGTERM'").replace('8080', port);
    const { printed } = run(`${code}\nserver.once('listening', () => process.kill(process.pid, 'SIGTERM'));`, {
      BASE_URL: upstream.url,
      API_KEY: 'the-key',
    });
    expect(await printed()).toBe('');
  });
});

itWithRedis('the relay with Redis in the documentation survives a restart of Redis', async () => {
  const { port } = new URL(await deadUrl());
  const serve = `
    const { createServer } = await import('node:http');
    const { toNodeHandler } = await import('clew/relay');
    createServer(toNodeHandler(relay)).listen(${port});`;
  const { end } = run(blockOf('docs/relay.md', 'seen: redisSeen(') + serve, {
    BASE_URL: upstream.url,
    API_KEY: 'the-key',
    REDIS_URL: redis().url,
  });
  ends.push(end);
  await expect.poll(() => post(port), { timeout: 30_000 }).toBe(201);
  await redis().kill();
  await redis().restart();
  // A process that has ended would refuse the connection.
  await expect.poll(() => post(port), { timeout: 30_000 }).toBe(201);
});

it('signPrimaryKey in the documentation makes the documented signature', { timeout: 30_000 }, async () => {
  const [vector] = JSON.parse(readFileSync(join(root, 'docs/signing/vectors.json'), 'utf8'));
  const code = blockOf('docs/relay.md', 'signPrimaryKey(process.env.IDENTITY_SECRET');
  const { printed } = run(`${code}\nconsole.log(await signatureOf({ id: process.env.KEY ?? '' }));`, {
    IDENTITY_SECRET: vector.secret,
    KEY: vector.primaryKey,
  });
  expect((await printed()).trim()).toBe(vector.signature);
});

it('the client for servers in the documentation sends to each of the endpoints', { timeout: 30_000 }, async () => {
  upstream.answer(201, { 'Content-Type': 'application/json' }, '{"id":"c7"}');
  const { printed } = run(blockOf('docs/service.md', 'createService'), { BASE_URL: upstream.url, API_KEY: 'the-key' });
  expect(await printed()).toBe('customer c7\n');
  expect(upstream.received.map(({ path }) => path)).toEqual([
    '/api/customers/upsert',
    '/api/events/batch/',
    '/events/',
  ]);
});

it('the tracker does nothing on a server, and the process ends', { timeout: 30_000 }, async () => {
  expect(await run(blockOf('docs/ssr.md', 'stats()')).printed()).toBe(
    ' { tracked: 0, delivered: 0, queued: 0, dropped: {} }\n',
  );
});
