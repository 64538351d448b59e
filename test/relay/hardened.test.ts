import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ForwardError, signPrimaryKey } from '../../src/relay.ts';
import { eventFault } from '../../src/service/eventFault.ts';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, forwarded, KEY, UPSERT, useRelays } from './stage.ts';

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
  // `post` also checks that no reply contains the key.
  expect((await relay.post(BATCH, { batch: [event('a')] })).text).toBe('{"message":"no such key: Api-Key …"}');
});

describe('a timestamp', () => {
  const faultOf = (timestamp: unknown) => eventFault(event('a', { timestamp }));
  it.each([
    '2026-01-31T12:00:00.000Z',
    '2024-02-29T23:59:59Z',
    '2026-01-31T12:00:00+02:00',
    '9999-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
  ])('may be %s', (timestamp) => expect(faultOf(timestamp)).toBeUndefined());
  it.each([
    '1',
    '2026-01-31',
    '2026-02-30T00:00:00Z',
    '2026-01-31T25:00:00Z',
    '31.1.2026',
    '+010000-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59-01:00',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+01:00',
    '',
    7,
    {},
    ['2026-01-31T12:00:00Z'],
  ])('may not be %j', (timestamp) => expect(faultOf(timestamp)).toMatch(/^timestamp: expected an ISO 8601/));
});

it.each([
  [201, 'text/plain', '<script>alert(1)</script>'],
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

describe('the operator learns of an answer of the service', () => {
  it.each([400, 401, 403, 404, 413, 429, 500, 503])('with %i', async (status) => {
    const errors: unknown[] = [];
    const relay = await openRelay({ onError: (error) => errors.push(error) });
    upstream.answer(status, {}, `at 10.0.0.7, with ${KEY}: ${'x'.repeat(2000)}`);
    await relay.post(BATCH, { batch: [event('a')] });
    expect(errors).toEqual([expect.any(ForwardError)]);
    const [error] = errors as ForwardError[];
    expect(error).toMatchObject({ status, message: `the service answered ${status}` });
    expect(error?.detail).toMatch(/^at 10\.0\.0\.7, with …: x+$/);
    expect(error?.detail).toHaveLength(1000);
  });
});

it('the text of a failed service does not reach the page', async () => {
  const relay = await openRelay();
  for (const status of [500, 502, 503, 504]) {
    upstream.answer(status, {}, 'redis://10.0.0.7:6379 is away');
    const { json } = await relay.post(BATCH, { batch: [event('a')] });
    expect(json).toEqual({ error: `the service answered ${status}`, status });
  }
});

it('the relay removes a key with quotes and backslashes, also as JSON writes it', async () => {
  const apiKey = 'a "quoted" \\ key';
  const relay = await openRelay({ apiKey });
  for (const echo of [apiKey, JSON.stringify({ header: `Api-Key ${apiKey}` })]) {
    upstream.answer(400, {}, echo);
    const { text } = await relay.post(BATCH, { batch: [event('a')] });
    expect(text).toContain('…');
    expect(text).not.toContain('quoted');
  }
});

it('the relay removes the beginning of a key at which a long answer is cut', async () => {
  const relay = await openRelay();
  for (const length of [5, KEY.length - 1]) {
    upstream.answer(400, {}, `${'x'.repeat(65_536 - length)}${KEY}`);
    const { json } = await relay.post(BATCH, { batch: [event('a')] });
    expect((json as { message: string }).message).toMatch(/^x+…$/);
  }
});

it('a body that exceeds the limit only when the relay writes it is answered 413', async () => {
  const relay = await openRelay({ maxBodyBytes: 2000 });
  const { payload: _, ...rest } = event('a');
  // The relay writes 1e20 with 21 characters.
  const body = (count: number) =>
    `{"batch":[${JSON.stringify(rest).slice(0, -1)},"payload":[${Array(count).fill('1e20')}]}]}`;
  expect(body(200).length).toBeLessThan(2000);
  expect(await relay.post(BATCH, body(200))).toMatchObject({
    status: 413,
    json: { error: 'expected events of at most 2000 bytes as the relay writes them' },
  });
  expect(upstream.received).toEqual([]);
  expect((await relay.post(BATCH, body(10))).status).toBe(201);
});

it('bytes that are not UTF-8 are answered 400, and change no later request', async () => {
  const relay = await openRelay();
  const body = Buffer.concat([Buffer.from('{"batch":["'), Buffer.alloc(1000, 0xff), Buffer.from('"]}')]);
  for (const [bytes, headers] of [
    [body, {}],
    [gzipSync(body), { 'Content-Encoding': 'gzip' }],
    // The first half of a character.
    [Buffer.from([0xe2, 0x82]), {}],
  ] as const) {
    expect(await relay.send(BATCH, { body: bytes, headers })).toMatchObject({
      status: 400,
      json: { error: 'expected UTF-8' },
    });
    expect((await relay.post(BATCH, { batch: [event('é')] })).status).toBe(201);
  }
});

it('a signature is for one primary key, and half of a surrogate pair is in none', async () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const relay = await openRelay({ identitySecret: secret });
  const signature = await signPrimaryKey(secret, 'ann\ufffd');
  const identify = (distinct_id: string) => event('$identify', { payload: { distinct_id }, signature });
  expect(await relay.post(BATCH, { batch: [identify('ann\ud800')] })).toMatchObject({
    json: { rejected: [{ reason: expect.stringContaining('expected well-formed Unicode') }] },
  });
  expect((await relay.post(BATCH, { batch: [identify('ann\ufffd')] })).status).toBe(201);
  expect(upstream.received).toHaveLength(1);
});

describe.each<[string, object]>([
  ['Node’s `http`', {}],
  ['`fetch`', { fetch: (...request: Parameters<typeof fetch>) => fetch(...request) }],
])('with %s', (_name, options) => {
  it('the relay reads 64 KiB of an answer and ends its connection', async () => {
    const relay = await openRelay(options);
    let sent = 0;
    const ended = new Promise<void>((resolve) => {
      upstream.react((response) => {
        response.writeHead(201);
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(10_000))) sent += 10_000;
        };
        response.on('drain', more).once('close', resolve);
        more();
      });
    });
    const { status, json } = await relay.post(BATCH, { batch: [event('a')] });
    expect(status).toBe(201);
    expect(json).toEqual({ message: 'x'.repeat(65_536) });
    await ended;
    // The buffers of both ends take more bytes than the relay reads.
    expect(sent).toBeLessThan(20_000_000);
  });
});

describe('the relay refuses, by name, what the service behind a broker would refuse:', () => {
  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  it.each<[string, object]>([
    ['timestamp: expected an ISO 8601 date and time, got "+010000', { timestamp: '+010000-01-01T00:00:00.000Z' }],
    ['payload.a: expected at most 200 levels of nesting', { payload: { a: nested(200) } }],
    [
      'payload.distinct_id: expected at most 500 characters, got 501',
      { event: '$identify', payload: { distinct_id: 'x'.repeat(501) } },
    ],
  ])('%s', async (reason, fields) => {
    const relay = await openRelay({ allowUnsignedIdentify: true });
    const { json } = await relay.post(BATCH, { batch: [event('a', fields), event('good')] });
    expect(json).toMatchObject({ rejected: [{ reason: expect.stringContaining(reason) }] });
    expect(forwarded(upstream)).toEqual([['good']]);
  });

  it('payload.a: expected a finite number', async () => {
    const relay = await openRelay();
    const { payload: _, ...rest } = event('a');
    const endless = `${JSON.stringify(rest).slice(0, -1)},"payload":{"a":[1e999]}}`;
    expect((await relay.post(BATCH, `{"batch":[${endless}]}`)).json).toMatchObject({
      rejected: [{ reason: 'payload.a: expected a finite number' }],
    });
  });
});
