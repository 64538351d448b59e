import { once } from 'node:events';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createChanges } from '../../demo/collector/changes.ts';
import { createFaults } from '../../demo/collector/faults.ts';
import { createServiceApp } from '../../demo/collector/service.ts';
import { expectPristine } from '../relay/stage.ts';
import { createVisitor, KEY, serveApp, useCollector } from './running.ts';

const running = useCollector();
const visitor = createVisitor();
const BATCH = '/api/events/batch/';
const ENDPOINTS: [string, () => object][] = [
  [BATCH, () => ({ batch: [visitor.event('e')] })],
  ['/events/', () => visitor.event('e')],
  ['/api/customers/upsert', () => ({ primary_key: 'ada' })],
];
const nothingStored = async () => {
  expect(await running().events()).toEqual([]);
  expect(await running().customers()).toEqual([]);
};
const send = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(running().url + path, {
    method: 'POST',
    body,
    headers: { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json', ...headers },
  });
afterEach(expectPristine);

describe('61 a request without the right key', () => {
  it.each([
    '',
    'Api-Key',
    'Api-Key wrong',
    `Api-Key ${KEY} ${KEY}`,
    `Api-Key  ${KEY}`,
    `Api-Key ${KEY.split('').join(' ')}`,
    `Api-Key\t${KEY}`,
    `Bearer ${KEY}`,
    `Basic ${KEY}`,
    `apikey ${KEY}`,
    `Api-Key __proto__`,
    `Api-Key ' or '1'='1`,
  ])('61 is answered 401, and nothing is stored: %j', async (authorization) => {
    for (const [path, body] of ENDPOINTS) {
      const response = await send(path, JSON.stringify(body()), { authorization });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain(KEY);
    }
    await nothingStored();
  });

  it('61 a key with spaces is accepted only with exactly these spaces', async () => {
    const parts = { database: running().database, faults: createFaults(), changes: createChanges() };
    const { url, server } = await serveApp(createServiceApp({ ...parts, apiKey: 'a key  with spaces' }));
    const statuses = ['a key  with spaces', 'a key with spaces', 'a', 'akeywithspaces'].map(async (key) => {
      const headers = { authorization: `Api-Key ${key}`, 'content-type': 'application/json' };
      const body = JSON.stringify(visitor.event('e'));
      return (await fetch(`${url}/events/`, { method: 'POST', body, headers })).status;
    });
    expect(await Promise.all(statuses)).toEqual([201, 401, 401, 401]);
    const closed = once(server, 'close');
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
    await closed;
  });
});

/** A refusal costs little of the processor, which this process shares with the collector, and the next batch is stored. */
const expectRefusal = async (body: BodyInit, headers: Record<string, string>, status: number) => {
  const start = process.cpuUsage();
  const response = await send(BATCH, body, headers);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ error: expect.any(String) });
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(2_000);
  await nothingStored();
  await running().batch(visitor.event('next'));
};

describe('62 an invalid body', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number]>([
    ['cut JSON', '{"batch":[', {}, 400],
    ['JSON with more behind it', '{"batch":[]}}', {}, 400],
    ['a batch that is no list', '{"batch":{"0":{},"length":1}}', {}, 400],
    ['a batch that is text', '{"batch":"all"}', {}, 400],
    ['10 MB', new Uint8Array(10 * 1024 ** 2).fill(32), {}, 413],
    ['an unknown encoding', '{"batch":[]}', { 'content-encoding': 'br' }, 415],
    ['gzip in gzip', gzipSync(gzipSync('{"batch":[]}')), { 'content-encoding': 'gzip, gzip' }, 415],
    ['cut gzip', gzipSync('{"batch":[]}').subarray(0, -4), { 'content-encoding': 'gzip' }, 400],
    ['no gzip', '{"batch":[]}', { 'content-encoding': 'gzip' }, 400],
    ['nothing in gzip', new Uint8Array(0), { 'content-encoding': 'gzip' }, 400],
  ])('62 is refused, and the next request is accepted: %s', async (_what, body, headers, status) => {
    await expectRefusal(body, headers, status);
  });

  it('62 is not inflated beyond the limit: 100 KB of gzip that hold 100 MB', async () => {
    // No body can inflate to more, because the collector refuses a body over the limit before inflation.
    // Not at once: a server that cannot end an idle connection in time ends it as the next request uses it.
    const bomb = await promisify(gzip)(Buffer.alloc(100 * 1024 ** 2));
    const before = process.memoryUsage().arrayBuffers;
    expect((await send(BATCH, bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
    await expectRefusal(bomb, { 'content-encoding': 'gzip' }, 413);
  });
});

describe('64 a foreign origin', () => {
  it('64 stores nothing without the key, and is accepted with the key', async () => {
    for (const [path, body] of ENDPOINTS) {
      const origin = { origin: 'https://evil.example' };
      expect((await send(path, JSON.stringify(body()), { ...origin, authorization: '' })).status).toBe(401);
      await nothingStored();
      const beacon = { ...origin, authorization: '', 'content-type': 'text/plain' };
      expect((await send(path, JSON.stringify(body()), beacon)).status).toBe(401);
      await nothingStored();
    }
    expect((await send(BATCH, JSON.stringify(ENDPOINTS[0]?.[1]()), { origin: 'https://evil.example' })).status).toBe(
      201,
    );
  });
});

describe('68 hostile text in names', () => {
  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '$1', `'; drop table events; --`])(
    '68 is a name of events, properties and customers like any other, and can be deleted: %s',
    async (name) => {
      await running().journey(name, name);
      const named = JSON.stringify(name);
      const data = `{${named}:{"polluted":1}}`;
      const event = JSON.stringify(visitor.event(name, 'here')).replace('"here"', () => data);
      expect((await send(BATCH, `{"batch":[${event}],${named}:1}`)).status).toBe(201);
      await running().batch(visitor.identify(name));
      expect((await send('/api/customers/upsert', `{"primary_key":${named},"properties":${data}}`)).status).toBe(201);
      const stored = async () => (await running().customers()).map(({ properties }) => JSON.stringify(properties));
      expect(JSON.stringify((await running().events())[0]?.payload)).toBe(data);
      expect((await running().journeys())[0]?.firings).toMatchObject([{ primaryKey: name }]);
      expect(await stored()).toEqual([data]);
      const gone = `{"primary_key":${named},"properties":{${named}:null}}`;
      expect((await send('/api/customers/upsert', gone)).status).toBe(201);
      expect(await stored()).toEqual(['{}']);
    },
  );
});
