import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { createRelay, type RelayOptions, toNodeHandler } from '../src/relay.ts';
import { closeServer, deadUrl, listenOn, useUpstream } from './upstream.ts';

const KEY = 'the-secret-key';
const VISITOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const TIME = new Date().toISOString();
const BATCH = '/clew/api/events/batch/';
const PATHS = ['/api/customers/upsert', '/api/events/batch/', '/events/'];

const upstream = useUpstream();
const servers: Server[] = [];
afterAll(() => Promise.all(servers.map(closeServer)));

const serveRelay = async (options: Partial<RelayOptions>): Promise<string> => {
  const server = createServer(toNodeHandler(createRelay({ baseUrl: upstream.url, apiKey: KEY, ...options })));
  servers.push(server);
  return listenOn(server);
};

interface Reply {
  status: number;
  headers: Headers;
  text: string;
  json: unknown;
}

/** A relay behind a socket. No answer may contain the key. */
const openRelay = async (options: Partial<RelayOptions> = {}) => {
  const url = await serveRelay(options);
  const call = async (path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Reply> => {
    const response = await fetch(url + path, {
      method: 'POST',
      ...init,
      headers: { 'Content-Type': 'application/json', ...init.headers },
    });
    const text = await response.text();
    const { status, headers } = response;
    expect(text + JSON.stringify([...headers])).not.toContain(KEY);
    return {
      status,
      headers,
      text,
      json: text && headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined,
    };
  };
  return {
    url,
    call,
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      call(path, { body: typeof body === 'string' ? body : JSON.stringify(body), headers }),
  };
};

const event = (name: string, more: object = {}) => ({
  uuid: randomUUID(),
  timestamp: TIME,
  event: name,
  source: 'custom',
  correlationKey: '_id',
  correlationValue: VISITOR_ID,
  payload: { name },
  ...more,
});
const bodyFor = (path: string): object => {
  if (path.includes('upsert')) return { primary_key: 'ann', properties: { plan: 'pro' } };
  return path.includes('batch') ? { batch: [event('a')] } : event('a');
};
const nothingForwarded = () => expect(upstream.received).toEqual([]);
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('a forwarded request', () => {
  it.each(['', '/clew', '/clew/', '/a/b/c', '/api/events'])(
    'reaches the same three paths under the prefix %j, with or without a final slash, with the key',
    async (prefix) => {
      const relay = await openRelay({ allowUnsignedUpsert: true });
      for (const path of PATHS) {
        for (const address of [path.replace(/\/$/, ''), `${path.replace(/\/$/, '')}/`]) {
          upstream.received.length = 0;
          const body = bodyFor(path);
          expect((await relay.post(prefix.replace(/\/$/, '') + address, body)).status).toBe(201);
          expect(upstream.received).toMatchObject([
            { method: 'POST', path, headers: { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json' } },
          ]);
        }
      }
    },
  );

  it('is sent to the addresses of the options, joined with one slash', async () => {
    const relay = await openRelay({
      baseUrl: `${upstream.url}/v1/`,
      eventsUrl: `${upstream.url}/v2//`,
      allowUnsignedUpsert: true,
    });
    for (const path of PATHS) await relay.post(`/clew${path}`, bodyFor(path));
    expect(upstream.received.map(({ path }) => path)).toEqual([
      '/v1/api/customers/upsert',
      '/v1/api/events/batch/',
      '/v2/events/',
    ]);
  });

  it('has the events in order, without fields unknown to the contract', async () => {
    const relay = await openRelay({ allowUnsignedIdentify: true });
    const [a, b] = [event('a'), event('$identify', { payload: { distinct_id: 'ann' } })];
    const extra = { admin: true, signature: 'x', __proto__: { inherited: 1 } };
    expect(
      (
        await relay.post(BATCH, {
          batch: [
            { ...a, ...extra },
            { ...extra, ...b },
          ],
          apiKey: 'x',
        })
      ).status,
    ).toBe(201);
    expect(upstream.bodies()).toEqual([{ batch: [a, b] }]);
  });

  it('has none of the visitor’s headers: no cookie, no key', async () => {
    const relay = await openRelay();
    await relay.post(BATCH, { batch: [event('a')] }, { Cookie: 'session=1', Authorization: 'Api-Key mine' });
    expect(upstream.received[0]?.headers).not.toHaveProperty('cookie');
    expect(upstream.received[0]?.headers.authorization).toBe(`Api-Key ${KEY}`);
  });

  it('has no timestamp on the single-event endpoint', async () => {
    const relay = await openRelay();
    const { timestamp, ...rest } = event('now');
    expect((await relay.post('/clew/events/', { ...rest, timestamp, extra: 1 })).status).toBe(201);
    expect(upstream.bodies()).toEqual([rest]);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'text/plain',
    'text/plain;charset=UTF-8',
  ])('may be sent as %s', async (type) => {
    const relay = await openRelay();
    expect((await relay.post(BATCH, { batch: [event('é😀')] }, { 'Content-Type': type })).status).toBe(201);
    expect(upstream.bodies()).toMatchObject([{ batch: [{ event: 'é😀' }] }]);
  });
});

describe('a refused request', () => {
  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'])('with the method %s: 405', async (method) => {
    const relay = await openRelay();
    expect((await relay.call(BATCH, { method })).status).toBe(405);
    nothingForwarded();
  });

  it.each(['/', '/clew', '/clew/api/customers', '/clew/xevents/', '/clew/events/x', '/clew/api/events/batches/'])(
    'to the path %s: 404',
    async (path) => {
      const relay = await openRelay();
      expect((await relay.post(path, { batch: [event('a')] })).status).toBe(404);
      nothingForwarded();
    },
  );

  it.each(['text/html', 'application/x-www-form-urlencoded', 'application/jsonp', 'multipart/form-data; boundary=x'])(
    'with a body of type %s: 415',
    async (type) => {
      const relay = await openRelay();
      const reply = await relay.post(BATCH, { batch: [event('a')] }, { 'Content-Type': type });
      expect(reply.status).toBe(415);
      expect(reply.json).toEqual({ error: expect.stringContaining(type) });
      nothingForwarded();
    },
  );

  it('with a body without a type: 415', async () => {
    const relay = await openRelay();
    const response = await fetch(relay.url + BATCH, { method: 'POST', body: new Uint8Array([123, 125]) });
    expect(response.status).toBe(415);
  });

  it.each([
    ['malformed JSON', BATCH, '{"batch":['],
    ['an empty body', BATCH, ''],
    ['HTML', BATCH, '<html>'],
    ['null', BATCH, 'null'],
    ['a list', BATCH, '[]'],
    ['text', BATCH, '"batch"'],
    ['a number', '/clew/events/', '7'],
    ['no batch', BATCH, '{}'],
    ['a batch that is an object', BATCH, '{"batch":{"0":{}}}'],
    ['a batch that is text', BATCH, '{"batch":"all"}'],
    ['a batch that is inherited', BATCH, '{"__proto__":{"batch":[]}}'],
  ])('with %s: 400 and the reason', async (_what, path, body) => {
    const relay = await openRelay({ allowUnsignedUpsert: true });
    const reply = await relay.post(path, body);
    expect(reply.status).toBe(400);
    expect(reply.json).toEqual({ error: expect.stringMatching(/expected/) });
    nothingForwarded();
  });

  describe('with a body over the limit: 413', () => {
    const bodyOf = (bytes: number) => {
      const empty = JSON.stringify({ batch: [event('a', { payload: '' })] }).length;
      return JSON.stringify({ batch: [event('a', { payload: 'x'.repeat(bytes - empty) })] });
    };
    const chunked = (text: string) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let i = 0; i < text.length; i += 10_000) controller.enqueue(Buffer.from(text.slice(i, i + 10_000)));
          controller.close();
        },
      });

    it('over 102,400 bytes, to the byte', async () => {
      const relay = await openRelay();
      expect((await relay.post(BATCH, bodyOf(102_400))).status).toBe(201);
      expect((await relay.post(BATCH, bodyOf(102_401))).status).toBe(413);
      expect(upstream.received).toHaveLength(1);
    });

    it('also without a Content-Length', async () => {
      const relay = await openRelay();
      const post = (text: string) => relay.call(BATCH, { body: chunked(text), duplex: 'half' });
      expect((await post(bodyOf(102_400))).status).toBe(201);
      expect((await post(bodyOf(102_401))).status).toBe(413);
      expect((await post(bodyOf(2_000_000))).status).toBe(413);
      expect(upstream.received).toHaveLength(1);
    });

    it('over the limit of the options, counted in bytes and not in characters', async () => {
      const body = JSON.stringify({ batch: [event('a', { payload: '😀'.repeat(100) })] });
      const bytes = Buffer.byteLength(body);
      expect((await (await openRelay({ maxBodyBytes: bytes })).post(BATCH, body)).status).toBe(201);
      expect((await (await openRelay({ maxBodyBytes: bytes - 1 })).post(BATCH, body)).status).toBe(413);
    });
  });
});

describe('invalid events', () => {
  it('are named with their reasons, and the valid ones are forwarded in order', async () => {
    const relay = await openRelay();
    const good = ['a', 'b', 'c'].map((name) => event(name));
    const bad = [
      event('x', { source: 'sdk' }),
      event('y', { correlationValue: VISITOR_ID.toUpperCase() }),
      event('$identify', { payload: { distinct_id: 7 } }),
      event('', {}),
    ];
    const reply = await relay.post(BATCH, { batch: [bad[0], good[0], bad[1], good[1], bad[2], bad[3], good[2]] });
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      rejected: [
        { uuid: bad[0]?.uuid, reason: 'source: expected "custom", got "sdk"' },
        { uuid: bad[1]?.uuid, reason: expect.stringMatching(/^correlationValue: expected a lower-case UUID/) },
        { uuid: bad[2]?.uuid, reason: expect.stringMatching(/^payload.distinct_id: expected a non-empty string/) },
        { uuid: bad[3]?.uuid, reason: expect.stringMatching(/^event: expected a non-empty string/) },
      ],
    });
    expect(upstream.bodies()).toEqual([{ batch: good }]);
  });

  it('alone in a batch are answered without a forwarded request', async () => {
    const relay = await openRelay();
    const bad = event('x', { source: 'sdk' });
    for (const [path, body] of [
      [BATCH, { batch: [bad] }],
      ['/clew/events/', bad],
    ] as const) {
      const reply = await relay.post(path, body);
      expect(reply.status).toBe(200);
      expect(reply.json).toMatchObject({ rejected: [{ uuid: bad.uuid }] });
    }
    nothingForwarded();
  });

  it('that are not objects or have no uuid are named with an empty uuid', async () => {
    const relay = await openRelay();
    const { uuid: _, ...nameless } = event('x', { source: 'sdk' });
    const reply = await relay.post(BATCH, { batch: [null, 'text', [], nameless] });
    expect((reply.json as { rejected: { uuid: string }[] }).rejected.map(({ uuid }) => uuid)).toEqual(['', '', '', '']);
  });

  it('are not named if the service refused the others, since the page retries all of them', async () => {
    const relay = await openRelay();
    upstream.answer(503, {}, 'down');
    const reply = await relay.post(BATCH, { batch: [event('a'), event('x', { source: 'sdk' })] });
    expect(reply).toMatchObject({ status: 503, json: { error: 'the service answered 503', status: 503 } });
  });

  it('an empty batch is answered 200, without a forwarded request', async () => {
    const relay = await openRelay();
    const reply = await relay.post(BATCH, { batch: [] });
    expect(reply).toMatchObject({ status: 200, json: { rejected: [] } });
    nothingForwarded();
  });
});

describe('an upsert', () => {
  const UPSERT = '/clew/api/customers/upsert';

  it('is refused with 422 without `allowUnsignedUpsert`', async () => {
    for (const options of [{}, { allowUnsignedUpsert: false }]) {
      const relay = await openRelay(options);
      expect((await relay.post(UPSERT, { primary_key: 'ann' })).status).toBe(422);
    }
    nothingForwarded();
  });

  it('is forwarded when it is allowed, without unknown fields, and returns the answer of the service', async () => {
    const relay = await openRelay({ allowUnsignedUpsert: true });
    upstream.answer(201, { 'Content-Type': 'application/json' }, '{"id":"c7"}');
    const properties = { plan: 'pro', old: null };
    const reply = await relay.post(UPSERT, { primary_key: 'ann', properties, uuid: 'x', admin: true });
    expect(reply).toMatchObject({ status: 201, json: { id: 'c7' } });
    await relay.post(UPSERT, { primary_key: 'ben' });
    expect(upstream.bodies()).toEqual([{ primary_key: 'ann', properties }, { primary_key: 'ben' }]);
  });

  it.each<[object]>([
    [{}],
    [{ primary_key: '' }],
    [{ primary_key: 7 }],
    [{ primary_key: { $ne: null } }],
    [{ primary_key: 'ann', properties: [] }],
    [{ primary_key: 'ann', properties: 'pro' }],
    [{ primary_key: 'ann', properties: null }],
  ])('of %j is refused with 400', async (body) => {
    const relay = await openRelay({ allowUnsignedUpsert: true });
    expect((await relay.post(UPSERT, body)).status).toBe(400);
    nothingForwarded();
  });
});

describe('the answer of the service', () => {
  it.each([200, 201, 202, 204, 400, 401, 404, 413, 429])('is returned with its status: %i', async (status) => {
    const relay = await openRelay();
    upstream.answer(status);
    expect(await relay.post(BATCH, { batch: [event('a')] })).toMatchObject({ status, text: '' });
  });

  it('of 204 to a batch with a rejected event is a success that names the event', async () => {
    const relay = await openRelay();
    upstream.answer(204);
    const bad = event('x', { source: 'sdk' });
    const reply = await relay.post(BATCH, { batch: [event('a'), bad] });
    expect(reply.status).toBeLessThan(300);
    expect(reply.json).toMatchObject({ rejected: [{ uuid: bad.uuid }] });
  });

  it('is returned with its body and its Retry-After, and no other header', async () => {
    const relay = await openRelay();
    upstream.answer(429, { 'Retry-After': '17', 'Content-Type': 'application/json', 'X-Inner': '1' }, '{"error":"e"}');
    const reply = await relay.post(BATCH, { batch: [event('a')] });
    expect(reply).toMatchObject({ status: 429, json: { error: 'e' } });
    expect(reply.headers.get('retry-after')).toBe('17');
    expect(reply.headers.has('x-inner')).toBe(false);
  });

  it.each([
    [500, 502],
    [501, 502],
    [502, 502],
    [503, 503],
    [504, 502],
  ])(
    'of %i becomes %i, with the status of the service and a Retry-After, and without its text',
    async (status, passed) => {
      const relay = await openRelay();
      upstream.answer(status, {}, 'out of order');
      const reply = await relay.post(BATCH, { batch: [event('a')] });
      expect(reply).toMatchObject({ status: passed, json: { error: `the service answered ${status}`, status } });
      expect(reply.headers.get('retry-after')).toBe('1');
      upstream.answer(status, { 'Retry-After': '17' });
      expect((await relay.post(BATCH, { batch: [event('b')] })).headers.get('retry-after')).toBe('17');
    },
  );

  it('that is too late becomes 504', async () => {
    const relay = await openRelay({ timeout: 40 });
    upstream.react(() => {});
    const reply = await relay.post(BATCH, { batch: [event('a')] });
    expect(reply).toMatchObject({ status: 504, json: { error: 'the service did not answer within 40 ms' } });
  });

  it.each([201, 400])('whose body is too late keeps its status %i', async (status) => {
    const relay = await openRelay({ timeout: 300 });
    upstream.react((response) => response.writeHead(status).write('a'));
    expect((await relay.post(BATCH, { batch: [event('a')] })).status).toBe(status);
  });

  it('that does not arrive becomes 502: a refused or reset connection, a redirect', async () => {
    const relay = await openRelay({ baseUrl: await deadUrl() });
    expect((await relay.post(BATCH, { batch: [event('a')] })).status).toBe(502);
    const other = await openRelay();
    for (const react of [
      (response) => response.destroy(),
      (response, { path }) => response.writeHead(path === '/portal' ? 200 : 302, { Location: '/portal' }).end(),
    ] satisfies Parameters<typeof upstream.react>[0][]) {
      upstream.react(react);
      expect((await other.post(BATCH, { batch: [event('a')] })).status).toBe(502);
    }
  });
});

it('a request that cannot be forwarded is answered 502 with Retry-After, so that the page retries', async () => {
  const errors: unknown[] = [];
  const relay = await openRelay({
    forward: () => Promise.reject(new Error('the broker at 10.0.0.7 is away')),
    onError: (error) => errors.push(`${error}`),
  });
  const reply = await relay.post(BATCH, { batch: [event('a')] });
  expect(reply).toMatchObject({ status: 502, json: { error: 'the relay could not forward the request' } });
  expect(errors).toEqual(['Error: the broker at 10.0.0.7 is away']);
  expect(reply.headers.get('retry-after')).toBe('1');
});

it('a failure of the service is reported to `onError`, and not to the page', async () => {
  const errors: unknown[] = [];
  const relay = await openRelay({ baseUrl: 'http://127.0.0.1:1', onError: (error) => errors.push(`${error}`) });
  const reply = await relay.post(BATCH, { batch: [event('a')] });
  expect(reply).toMatchObject({ status: 502, json: { error: 'the service did not answer' } });
  expect(errors).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

describe('the header clew-relay', () => {
  it.each([
    [201, 201],
    [200, 200],
    [400, 400],
    [401, 401],
    [429, 429],
    [503, 503],
    [500, 502],
  ])('is on the answer that passes on %i of the service', async (status, passed) => {
    const relay = await openRelay();
    upstream.answer(status);
    const reply = await relay.post(BATCH, { batch: [event('a')] });
    expect(reply.status).toBe(passed);
    expect(reply.headers.has('clew-relay')).toBe(true);
  });

  it('is on each answer of the relay’s own', async () => {
    const relay = await openRelay({ allowedOrigins: [] });
    const replies = await Promise.all([
      relay.post('/unknown', {}),
      relay.post(BATCH, {}),
      relay.post(BATCH, { batch: [] }),
      relay.post(BATCH, { batch: [event('a')] }, { Origin: 'https://stranger.example' }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([404, 400, 200, 403]);
    expect(replies.map(({ headers }) => headers.has('clew-relay'))).toEqual([true, true, true, true]);
  });
});

describe('other origins', () => {
  const ALLOWED = 'https://www.example.com';
  const PREFLIGHT = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' };
  const openToOne = () => openRelay({ allowedOrigins: ['https://app.example.com', ALLOWED] });
  const corsOf = ({ headers }: Reply) => headers.get('access-control-allow-origin');

  it('that are allowed may call and read the answer with its Retry-After and clew-relay', async () => {
    const relay = await openToOne();
    upstream.answer(429, { 'Retry-After': '7' });
    const reply = await relay.post(BATCH, { batch: [event('a')] }, { Origin: ALLOWED });
    expect(reply.status).toBe(429);
    expect(corsOf(reply)).toBe(ALLOWED);
    expect(reply.headers.get('access-control-expose-headers')).toBe('Retry-After, clew-relay, clew-handovers');
    expect(reply.headers.get('vary')).toBe('Origin');
    expect(reply.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('that are allowed can read errors', async () => {
    const relay = await openToOne();
    for (const body of ['{', '{}']) expect(corsOf(await relay.post(BATCH, body, { Origin: ALLOWED }))).toBe(ALLOWED);
  });

  it('that are allowed get a preflight with a max-age', async () => {
    const relay = await openToOne();
    const reply = await relay.call(BATCH, { method: 'OPTIONS', headers: { Origin: ALLOWED, ...PREFLIGHT } });
    expect(reply.status).toBe(204);
    expect(corsOf(reply)).toBe(ALLOWED);
    expect(reply.headers.get('access-control-allow-methods')).toContain('POST');
    expect(reply.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('content-type');
    expect(Number(reply.headers.get('access-control-max-age'))).toBeGreaterThan(0);
    nothingForwarded();
  });

  it.each([
    'https://evil.example',
    'https://www.example.com.evil.example',
    'http://www.example.com',
    'null',
    `${ALLOWED}:8443`,
  ])('that are not allowed get 403: %s', async (origin) => {
    const relay = await openToOne();
    for (const method of ['POST', 'OPTIONS']) {
      const body = method === 'POST' ? { body: JSON.stringify({ batch: [event('a')] }) } : {};
      const reply = await relay.call(BATCH, { method, ...body, headers: { Origin: origin, ...PREFLIGHT } });
      expect(reply.status).toBe(403);
      expect(corsOf(reply)).toBeNull();
    }
    nothingForwarded();
  });

  it('are not checked without an Origin header, as from servers and the same origin', async () => {
    const relay = await openToOne();
    const reply = await relay.post(BATCH, { batch: [event('a')] });
    expect(reply.status).toBe(201);
    expect(corsOf(reply)).toBeNull();
  });

  it('get no CORS headers and no 403 without `allowedOrigins`', async () => {
    const relay = await openRelay();
    const reply = await relay.post(BATCH, { batch: [event('a')] }, { Origin: ALLOWED });
    expect(reply.status).toBe(201);
    expect(corsOf(reply)).toBeNull();
    const preflight = await relay.call(BATCH, { method: 'OPTIONS', headers: { Origin: ALLOWED, ...PREFLIGHT } });
    expect(corsOf(preflight)).toBeNull();
  });
});

describe('hostile input', () => {
  const pristine = () => {
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  };
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

  it.each(NAMES)('is forwarded as plain data: a key named %s', async (name) => {
    const relay = await openRelay({ allowUnsignedUpsert: true });
    const data = `{"${name}":{"polluted":true}}`;
    const withPayload = () => JSON.stringify(event(name)).replace(/"payload":\{.*?\}/, `"payload":${data}`);
    expect((await relay.post(BATCH, `{"batch":[${withPayload()}]}`)).status).toBe(201);
    expect((await relay.post('/clew/events/', withPayload())).status).toBe(201);
    const upsert = `{"primary_key":"${name}","properties":${data}}`;
    expect((await relay.post('/clew/api/customers/upsert', upsert)).status).toBe(201);
    expect(upstream.received.map(({ text }) => text.includes(data))).toEqual([true, true, true]);
    expect(upstream.received[2]?.text).toBe(upsert);
    pristine();
  });

  it.each(NAMES)('changes no top-level field: a body and an event with a field named %s', async (name) => {
    const relay = await openRelay({ allowUnsignedUpsert: true });
    const field = `"${name}":{"polluted":true,"event":"e"}`;
    for (const path of PATHS) {
      for (const body of [`{${field}}`, `{"batch":[{${field}}],${field}}`, `{"primary_key":{${field}},${field}}`]) {
        expect((await relay.post(`/clew${path}`, body)).status).toBeLessThan(500);
      }
    }
    nothingForwarded();
    pristine();
  });

  it.each(['uuid', 'timestamp', 'event', 'source', 'correlationKey', 'correlationValue', 'payload', 'other'])(
    'causes no 500: 20,000 levels in an event’s %s',
    async (field) => {
      const relay = await openRelay();
      const deep = JSON.stringify(event('a', { [field]: 'DEEP' })).replace('"DEEP"', nested(20_000));
      for (const [path, body] of [
        [BATCH, `{"batch":[${deep}]}`],
        ['/clew/events/', deep],
      ] as const) {
        expect((await relay.post(path, body)).status).toBeLessThan(500);
      }
    },
  );

  it('causes no 500: 20,000 levels in a body, a batch, a customer', async () => {
    const relay = await openRelay({ allowUnsignedUpsert: true });
    const deep = nested(20_000);
    const object = '{"a":'.repeat(15_000) + 1 + '}'.repeat(15_000);
    for (const path of PATHS) {
      for (const body of [
        deep,
        `{"batch":${deep}}`,
        object,
        `{"primary_key":${deep}}`,
        `{"primary_key":"a","properties":${object}}`,
      ]) {
        expect((await relay.post(`/clew${path}`, body)).status).toBeLessThan(500);
      }
    }
  });

  it('causes no 500: an id that cannot be written as text', async () => {
    const relay = await openRelay();
    for (const uuid of [{ toString: 1, valueOf: 1 }, { toString: null }, [[{ toString: 7 }]]]) {
      expect((await relay.post(BATCH, { batch: [event('a', { uuid })] })).status).toBeLessThan(500);
    }
  });
});

describe('a duplicate', () => {
  const names = () =>
    upstream.bodies().flatMap((body) => (body as { batch: { event: string }[] }).batch.map((e) => e.event));

  it('is forwarded once, on whichever endpoint, and answered as a success', async () => {
    const relay = await openRelay();
    const [a, b, c] = [event('a'), event('b'), event('c')];
    expect((await relay.post(BATCH, { batch: [a, b] })).status).toBe(201);
    expect((await relay.post(BATCH, { batch: [b, c] })).status).toBe(201);
    expect(names()).toEqual(['a', 'b', 'c']);
    for (const path of [BATCH, '/clew/events/']) {
      expect((await relay.post(path, path === BATCH ? { batch: [a, c] } : a)).status).toBe(200);
    }
    expect(upstream.received).toHaveLength(2);
  });

  it('is forwarded again if the service has not confirmed it', async () => {
    const relay = await openRelay();
    const a = event('a');
    upstream.answer(500);
    expect((await relay.post(BATCH, { batch: [a] })).status).toBe(502);
    upstream.answer(201);
    expect((await relay.post(BATCH, { batch: [a] })).status).toBe(201);
    expect(names()).toEqual(['a', 'a']);
  });
});

describe('a missing or wrong option throws a TypeError that names it', () => {
  it.each([
    ['baseUrl', undefined],
    ['baseUrl', ''],
    ['apiKey', undefined],
    ['apiKey', ''],
    ['apiKey', 7],
    ['eventsUrl', ''],
    ['identitySecret', ''],
    ['forward', {}],
    ['seen', {}],
    ['onReport', true],
    ['timeout', 0],
    ['maxBodyBytes', '1'],
    ['maxBatchEvents', 0],
    ['bodyTimeout', '1'],
    ['reportInterval', Number.NaN],
    ['allowedOrigins', 'https://www.example.com'],
    ['visitorCookie', true],
    ['visitorCookie', {}],
    ['visitorCookie', { domain: 'a; HttpOnly' }],
    ['fetch', 'fetch'],
  ])('%s: %j', (name, value) => {
    const options = { baseUrl: 'https://service.example', apiKey: KEY, [name]: value } as unknown as RelayOptions;
    expect(() => createRelay(options)).toThrow(TypeError);
    expect(() => createRelay(options)).toThrow(`createRelay: ${name}`);
  });
});
