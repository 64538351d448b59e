import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { eventFault } from '../../src/wire.ts';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, KEY, UPSERT, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url, allowUnsignedUpsert: true }));

it('the relay closes despite a half-sent body, and answers 503', async () => {
  const relay = await openRelay();
  const { port } = new URL(relay.url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const seen = once(relay.server, 'request');
  socket.write(
    `POST ${BATCH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"batch"`,
  );
  await seen;
  const answer = once(socket, 'data');
  await relay.close();
  expect(`${(await answer)[0]}`).toMatch(/^HTTP\/1.1 503 /);
  socket.destroy();
});

it('the relay survives listeners that throw or reject', async () => {
  const relay = await openRelay({
    reportInterval: 1,
    onReport: () => Promise.reject(new Error('the metrics are away')),
    onError: () => {
      throw new Error('so is the log');
    },
    forward: () => Promise.reject(new Error('and the broker')),
  });
  for (const name of ['a', 'b']) expect((await relay.post(BATCH, { batch: [event(name)] })).status).toBe(502);
});

it('the relay refuses a number that JSON would write as null, which deletes the property', async () => {
  const relay = await openRelay();
  for (const number of ['1e400', '-1e400']) {
    const reply = await relay.post(UPSERT, `{"primary_key":"ann","properties":{"seats":${number}}}`);
    expect(reply).toMatchObject({ status: 400, json: { error: expect.stringContaining('seats') } });
  }
  expect(upstream.received).toEqual([]);
});

it('the relay reads no more bytes of gzip than of text, however little they inflate to', async () => {
  const relay = await openRelay();
  const empty = gzipSync('');
  const body = Buffer.concat([...Array.from({ length: 10_000 }, () => empty), gzipSync('{"batch":[]}')]);
  const reply = await relay.send(BATCH, { body, headers: { 'Content-Encoding': 'gzip' } });
  expect(reply.status).toBe(413);
});

it('the relay removes the key from an answer of the service', async () => {
  const relay = await openRelay();
  upstream.answer(400, {}, `no such key: Api-Key ${KEY}`);
  // Every reply is searched for the key.
  expect((await relay.post(BATCH, { batch: [event('a')] })).text).toBe('{"message":"no such key: Api-Key …"}');
});

describe('a timestamp', () => {
  const faultOf = (timestamp: unknown) => eventFault(event('a', { timestamp }));
  it.each([
    '2026-01-31T12:00:00.000Z',
    '2024-02-29T23:59:59Z',
    '2026-01-31T12:00:00+02:00',
    '+010000-01-01T00:00:00.000Z',
  ])('may be %s', (timestamp) => expect(faultOf(timestamp)).toBeUndefined());
  it.each([
    '1',
    '2026-01-31',
    '2026-02-30T00:00:00Z',
    '2026-01-31T25:00:00Z',
    '31.1.2026',
    '',
    7,
    {},
    ['2026-01-31T12:00:00Z'],
  ])('may not be %j', (timestamp) => expect(faultOf(timestamp)).toMatch(/^timestamp: expected an ISO 8601/));
});

it.each([
  [201, 'text/html', '<script>alert(1)</script>'],
  [400, 'text/html', '<h1>Bad Request</h1>'],
  [400, 'application/json', 'no JSON'],
])('an answer of the service (%i, %s, %s) is JSON, and no page of the site', async (status, type, text) => {
  const relay = await openRelay();
  upstream.answer(status, { 'Content-Type': type }, text);
  const reply = await relay.post(BATCH, { batch: [event('a')] });
  expect(reply).toMatchObject({ status, json: { message: text } });
  expect(reply.headers.get('content-type')).toBe('application/json');
});

it('every answer has the header nosniff', async () => {
  const relay = await openRelay({ allowedOrigins: ['https://www.example.com'] });
  upstream.answer(500);
  const replies = [
    await relay.post(BATCH, { batch: [event('a')] }),
    await relay.post('/nowhere', {}),
    await relay.post(BATCH, { batch: [event('a')] }, { Origin: 'https://evil.example' }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([502, 404, 403]);
  for (const { headers } of replies) expect(headers.get('x-content-type-options')).toBe('nosniff');
});
