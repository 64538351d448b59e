import { describe, expect, it } from 'vitest';
import { KEY as COLLECTOR_KEY, useCollector } from '../collector/running.ts';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, expectPristine, forwarded, KEY, SINGLE, UPSERT, useRelays } from './stage.ts';

const upstream = useUpstream();
const collector = useCollector();
const openRelay = useRelays(() => ({
  baseUrl: upstream.url,
  allowUnsignedIdentify: true,
  allowUnsignedUpsert: true,
}));
const openBefore = (options: object = {}) => openRelay({ baseUrl: collector().url, apiKey: COLLECTOR_KEY, ...options });
const requests = () =>
  [
    [BATCH, { batch: [event('a')] }],
    [SINGLE, event('a')],
    [UPSERT, { primary_key: 'ann' }],
  ] as const;

describe('61 the key', () => {
  it.each([
    ['none', {}],
    ['a wrong one', { Authorization: 'Api-Key wrong' }],
    ['a wrong scheme', { Authorization: 'Bearer token' }],
    ['one with spaces', { Authorization: 'Api-Key  a b  c ' }],
  ])('61 is the relay’s own, whatever key the page sends: %s', async (_what, headers) => {
    const relay = await openRelay();
    for (const [path, body] of requests()) expect((await relay.post(path, body, headers)).status).toBe(201);
    expect(upstream.received.map((request) => request.headers.authorization)).toEqual(Array(3).fill(`Api-Key ${KEY}`));
  });

  it('61 may have spaces in it', async () => {
    const relay = await openRelay({ apiKey: 'a key  with spaces' });
    await relay.post(BATCH, { batch: [event('a')] });
    expect(upstream.received[0]?.headers.authorization).toBe('Api-Key a key  with spaces');
  });

  it('61 that is wrong gives the page 401, nothing is stored, and no event counts as confirmed', async () => {
    const wrong = await openBefore({ apiKey: 'wrong' });
    for (const [path, body] of requests()) {
      for (let time = 0; time < 2; time++) {
        const reply = await wrong.post(path, body);
        expect(reply.status).toBe(401);
        expect(reply.text).not.toContain('wrong');
      }
    }
    expect(await collector().events()).toEqual([]);
    expect(await collector().customers()).toEqual([]);
  });
});

describe('64 a foreign origin', () => {
  const ALLOWED = 'https://www.example.com';

  it.each(['https://evil.example', 'null', `${ALLOWED}.evil.example`, `${ALLOWED}, https://evil.example`, '*', 'x'])(
    '64 stores nothing, also as a beacon, which needs no preflight: %s',
    async (origin) => {
      const relay = await openBefore({ allowedOrigins: [ALLOWED] });
      for (const [path, body] of requests()) {
        for (const type of ['application/json', 'text/plain;charset=UTF-8']) {
          const reply = await relay.post(path, body, { Origin: origin, 'Content-Type': type });
          expect(reply.status).toBe(403);
          expect(reply.headers.get('access-control-allow-origin')).toBeNull();
        }
      }
      expect(await collector().events()).toEqual([]);
      expect(await collector().customers()).toEqual([]);
    },
  );

  it('64 that is allowed stores, also after requests of a foreign one', async () => {
    const relay = await openBefore({ allowedOrigins: [ALLOWED] });
    const batch = [event('a')];
    expect((await relay.post(BATCH, { batch }, { Origin: 'https://evil.example' })).status).toBe(403);
    expect((await relay.post(BATCH, { batch }, { Origin: ALLOWED })).status).toBe(201);
    expect(await collector().events()).toHaveLength(1);
  });
});

describe('68 hostile text in strings and names', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
  const SQL = `'); drop table events; --"\\'$1 %s {} ; select pg_sleep(1)`;

  it.each([...NAMES, SQL])('68 arrives unchanged: properties, events and customers named %s', async (name) => {
    const relay = await openBefore();
    const data = `{${JSON.stringify(name)}:{"polluted":1,${JSON.stringify(name)}:null}}`;
    const named = () => JSON.stringify(event(name, { payload: 'here' })).replace('"here"', () => data);
    const identify = JSON.stringify(event('$identify', { payload: { distinct_id: name } }));
    expect((await relay.post(BATCH, `{"batch":[${named()},${identify}]}`)).status).toBe(201);
    expect((await relay.post(SINGLE, named())).status).toBe(201);
    const upsert = `{"primary_key":${JSON.stringify(name)},"properties":${data}}`;
    expect((await relay.post(UPSERT, upsert)).status).toBe(201);
    const stored = await collector().events();
    expect(stored.map((each) => each.event)).toEqual([name, '$identify', name]);
    const customer = (await collector().customers()).find(({ primaryKey }) => primaryKey === name);
    for (const value of [stored[0]?.payload, stored[2]?.payload, customer?.properties]) {
      expect(Object.entries(value as object)).toEqual([[name, expect.anything()]]);
      expect(JSON.stringify(value)).toContain('"polluted":1');
    }
    expectPristine();
  });

  it('68 in any other field is rejected by name, and the other events of the batch arrive', async () => {
    const relay = await openRelay();
    const fields = ['uuid', 'timestamp', 'source', 'correlationKey', 'correlationValue'];
    const bad = fields.flatMap((field) => [...NAMES, SQL].map((text) => event('bad', { [field]: text })));
    const reply = await relay.post(BATCH, { batch: [event('first'), ...bad, event('last')] });
    expect((reply.json as { rejected: unknown[] }).rejected).toHaveLength(bad.length);
    expect(forwarded(upstream)).toEqual([['first', 'last']]);
    expectPristine();
  });
});
