import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createService, ServiceError, type ServiceOptions } from '../src/service.ts';
import { deadUrl, useUpstream } from './upstream.ts';

const KEY = 'secret-key';
const VISITOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const upstream = useUpstream();
const connect = (options: Partial<ServiceOptions> = {}) =>
  createService({ baseUrl: upstream.url, apiKey: KEY, ...options });
const event = (name: string, payload?: unknown) => ({ event: name, correlationValue: VISITOR_ID, payload });
/** The error of a call that must fail. */
const failureOf = async (call: Promise<unknown>): Promise<ServiceError> => {
  const error = await call.then(
    () => new Error('it did not fail'),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ServiceError);
  return error;
};

describe('upsertCustomer', () => {
  it('posts primary key and properties, and returns the id', async () => {
    upstream.answer(201, { 'Content-Type': 'application/json' }, '{"id":"c7"}');
    expect(await connect().upsertCustomer('ann', { plan: 'pro', old: null })).toEqual({ id: 'c7' });
    expect(upstream.received[0]).toMatchObject({ method: 'POST', path: '/api/customers/upsert' });
    expect(upstream.bodies()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro', old: null } }]);
  });

  it('accepts a key without properties', async () => {
    upstream.answer(201, {}, '{"id":"c7"}');
    await connect().upsertCustomer('ann');
    expect(upstream.bodies()).toEqual([{ primary_key: 'ann' }]);
  });

  it('throws an error with the answer when that is not JSON', async () => {
    upstream.answer(200, { 'Content-Type': 'text/plain' }, '<h1>hello</h1>');
    const error = await failureOf(connect().upsertCustomer('ann'));
    expect(error.url).toBe(`${upstream.url}/api/customers/upsert`);
    expect(error.detail).toContain('<h1>hello</h1>');
    expect(error.status).toBe(200);
  });
});

describe('sendBatch', () => {
  it('posts the events in order, each with the fields of the contract', async () => {
    const timestamp = '2026-01-31T12:00:00.000Z';
    await connect().sendBatch([
      { ...event('$identify', { distinct_id: 'ann' }), timestamp },
      { ...event('signup', { plan: 'pro' }), uuid: VISITOR_ID, correlationKey: 'email' },
    ]);
    expect(upstream.received[0]).toMatchObject({ method: 'POST', path: '/api/events/batch/' });
    expect(upstream.bodies()).toEqual([
      {
        batch: [
          {
            timestamp,
            event: '$identify',
            source: 'custom',
            correlationKey: '_id',
            correlationValue: VISITOR_ID,
            payload: { distinct_id: 'ann' },
          },
          {
            uuid: VISITOR_ID,
            timestamp: expect.stringMatching(ISO),
            event: 'signup',
            source: 'custom',
            correlationKey: 'email',
            correlationValue: VISITOR_ID,
            payload: { plan: 'pro' },
          },
        ],
      },
    ]);
  });

  it('adds the current time', async () => {
    const before = new Date().toISOString();
    await connect().sendBatch([event('a')]);
    const [{ batch }] = upstream.bodies() as [{ batch: [{ timestamp: string }] }];
    expect(batch[0].timestamp >= before).toBe(true);
    expect(batch[0].timestamp <= new Date().toISOString()).toBe(true);
  });

  it('sends `custom` as the source whatever is given, since only that triggers journeys', async () => {
    await connect().sendBatch([{ ...event('a'), ...({ source: 'mine' } as object) }]);
    expect(upstream.bodies()).toMatchObject([{ batch: [{ source: 'custom' }] }]);
  });

  it.each([
    ['nothing', 201, ''],
    ['no content', 204, ''],
    ['any text', 200, '<h1>ok</h1>'],
    ['an empty body of HTML, as of Django, Flask and PHP,', 201, '', 'text/html; charset=utf-8'],
    ['a blank body of HTML', 200, '\n', 'text/html'],
  ])('takes %s as a success', async (_what, status, body, type = 'text/plain') => {
    upstream.answer(status, { 'Content-Type': type }, body);
    await expect(connect().sendBatch([event('a')])).resolves.toBeUndefined();
  });

  it('takes a page of HTML for the answer of another server', async () => {
    upstream.answer(200, { 'Content-Type': 'text/html; charset=utf-8' }, '<!doctype html>');
    const error = await failureOf(connect().sendBatch([event('a')]));
    expect(error).toMatchObject({ status: 200, detail: 'expected an answer of the service, got HTML' });
  });
});

describe('sendEvent', () => {
  it('posts one event without a timestamp', async () => {
    await expect(connect().sendEvent({ ...event('a', [1]), timestamp: undefined })).resolves.toBeUndefined();
    expect(upstream.received[0]).toMatchObject({ method: 'POST', path: '/events/' });
    expect(upstream.bodies()).toEqual([
      { event: 'a', source: 'custom', correlationKey: '_id', correlationValue: VISITOR_ID, payload: [1] },
    ]);
  });
});

describe.each<[string, (response: ServerResponse) => void]>([
  ['breaks off', (response) => void response.write('{"id"', () => setTimeout(() => response.destroy(), 20))],
  ['stalls', (response) => void response.write('{"id"')],
])('a 2xx whose body %s', (_what, end) => {
  const start = (type: string) =>
    upstream.react((response) => end(response.writeHead(201, { 'Content-Type': type, 'Content-Length': '100' })));

  it('counts, so that the caller does not send the events again', async () => {
    start('application/json');
    await expect(connect({ timeout: 300 }).sendBatch([event('a')])).resolves.toBeUndefined();
    await expect(connect({ timeout: 300 }).sendEvent(event('a'))).resolves.toBeUndefined();
  });

  it('has no id: an upsert rejects with the status, so that the caller may ask again', async () => {
    start('application/json');
    const error = await failureOf(connect({ timeout: 300 }).upsertCustomer('ann'));
    expect(error.status).toBe(201);
    expect(error.detail).toMatch(/^expected a whole answer, got (TypeError: terminated: |TimeoutError: )/);
  });

  it('is an error if it is a page of HTML', async () => {
    start('text/html');
    const error = await failureOf(connect({ timeout: 300 }).sendBatch([event('a')]));
    expect(error).toMatchObject({ status: 201, detail: 'expected an answer of the service, got HTML' });
  });
});

it('`timeout` holds over a garbage collection, which ends `AbortSignal.timeout` in Node 20 and 22', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  upstream.react((response) => {
    response.writeHead(201, { 'Content-Length': '100' }).write('{"id"');
    // The first part of the body has to arrive before.
    for (const ms of [50, 150]) setTimeout(collect, ms);
  });
  const service = connect({ timeout: 400 });
  await expect(service.sendBatch([event('a')])).resolves.toBeUndefined();
  for (let call = 0; call < 2; call++) expect((await failureOf(service.upsertCustomer('ann'))).status).toBe(201);
});

describe('every request', () => {
  const callAll = async (service: ReturnType<typeof createService>) => {
    await service.upsertCustomer('ann');
    await service.sendBatch([event('a')]);
    await service.sendEvent(event('a'));
  };

  it('has the key and the content type', async () => {
    upstream.answer(201, {}, '{"id":"c7"}');
    await callAll(connect());
    expect(upstream.received).toHaveLength(3);
    for (const { headers } of upstream.received) {
      expect(headers).toMatchObject({ authorization: `Api-Key ${KEY}`, 'content-type': 'application/json' });
    }
  });

  it.each([
    ['', ''],
    ['/', '/'],
    ['/v1', '/v2/'],
    ['/v1//', '/v2//'],
  ])('joins its address with one slash: base %j, events %j', async (base, events) => {
    upstream.answer(201, {}, '{"id":"c7"}');
    await callAll(connect({ baseUrl: upstream.url + base, eventsUrl: upstream.url + events }));
    const [prefix, eventsPrefix] = [base, events].map((text) => text.replace(/\/+$/, ''));
    expect(upstream.received.map(({ path }) => path)).toEqual([
      `${prefix}/api/customers/upsert`,
      `${prefix}/api/events/batch/`,
      `${eventsPrefix}/events/`,
    ]);
  });

  it('uses the `fetch` of the options', async () => {
    const urls: unknown[] = [];
    const counted: typeof fetch = (url, init) => {
      urls.push(url);
      return fetch(url, init);
    };
    await connect({ fetch: counted }).sendEvent(event('a'));
    expect(urls).toEqual([`${upstream.url}/events/`]);
    expect(upstream.received).toHaveLength(1);
  });
});

describe('an error', () => {
  it.each([400, 401, 404, 413, 429, 500, 503])(
    'names method, URL, status and the answer of the service: %i',
    async (status) => {
      upstream.answer(status, { 'Content-Type': 'application/json' }, '{"error":"too much"}');
      const url = `${upstream.url}/api/events/batch/`;
      const error = await failureOf(connect().sendBatch([event('a')]));
      expect(error).toMatchObject({
        name: 'ServiceError',
        method: 'POST',
        url,
        status,
        detail: '{"error":"too much"}',
      });
      expect(error.message).toBe(`POST ${url}: ${status}: {"error":"too much"}`);
    },
  );

  it('names the status in words when the answer is empty', async () => {
    upstream.answer(503);
    expect((await failureOf(connect().sendEvent(event('a')))).detail).toBe('Service Unavailable');
  });

  it.each<[string, RegExp, Parameters<typeof upstream.react>[0]]>([
    [
      'a cut connection',
      /^TypeError: fetch failed: (UND_ERR_SOCKET: other side closed|.*ECONNRESET)/,
      (to) => to.destroy(),
    ],
  ])('names the cause why there was no answer: %s', async (_what, detail, react) => {
    upstream.react(react);
    const error = await failureOf(connect().sendBatch([event('a')]));
    expect(error).toMatchObject({ status: undefined, detail: expect.stringMatching(detail) });
    expect(error.message).toBe(`POST ${error.url}: no answer: ${error.detail}`);
  });

  it.each([
    [302, { Location: 'https://service.example/a' }, ' to https://service.example/a'],
    [308, {}, ''],
  ])('names a redirect, and does not follow it: %s', async (status, headers, to) => {
    upstream.react((answer) => answer.writeHead(status, headers).end());
    const error = await failureOf(connect().sendBatch([event('a')]));
    expect(error).toMatchObject({ status, detail: `expected an answer of the service, got a redirect${to}` });
  });

  it('names a redirect of which `fetch` shows neither status nor target', async () => {
    const redirect = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
    const error = await failureOf(connect({ fetch: async () => redirect }).sendBatch([event('a')]));
    expect(error.message).toBe(`POST ${error.url}: no answer: expected an answer of the service, got a redirect`);
  });

  it('names the cause why there was no answer: a refused connection', async () => {
    const url = await deadUrl();
    const error = await failureOf(connect({ baseUrl: url }).sendBatch([]));
    expect(error.detail).toBe(`TypeError: fetch failed: connect ECONNREFUSED ${new URL(url).host}`);
    expect(error.cause).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it.each([
    [new TypeError('x', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) }), 'TypeError: x: ENOTFOUND'],
    [new TypeError('x', { cause: `a text` }), 'TypeError: x'],
    [new Error(KEY, { cause: new Error(`with ${KEY}`) }), 'Error: …: with …'],
    ['a text', 'a text'],
  ])('has no key, and no empty part, of a failed `fetch`: %s', async (thrown, detail) => {
    const fetch = () => Promise.reject(thrown);
    expect(await failureOf(connect({ fetch }).sendEvent(event('a')))).toMatchObject({ detail, cause: thrown });
  });

  it('states that there was no answer and the cause: a time-out', async () => {
    upstream.react(() => {});
    const error = await failureOf(connect({ timeout: 30 }).sendEvent(event('a')));
    expect(error).toMatchObject({ status: undefined, cause: { name: 'TimeoutError' } });
    expect(error.detail).toContain('TimeoutError');
  });

  it('names the status of an answer that breaks off', async () => {
    upstream.react((response) => {
      response.writeHead(400, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const error = await failureOf(connect().sendBatch([event('a')]));
    expect(error).toMatchObject({
      status: 400,
      detail: expect.stringContaining('terminated'),
      cause: expect.any(Error),
    });
    expect(error.message).toBe(`POST ${error.url}: 400: ${error.detail}`);
  });

  it('results from a redirect, which would turn a POST into a GET', async () => {
    upstream.answer(302, { Location: '/elsewhere' });
    await failureOf(connect().sendEvent(event('a')));
    expect(upstream.received).toHaveLength(1);
  });

  it('never contains the key', async () => {
    upstream.answer(401, {}, 'no');
    const error = await failureOf(connect().sendEvent(event('a')));
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(KEY);
  });
});

describe('a missing or wrong option throws a TypeError that names it', () => {
  it.each([
    ['baseUrl', undefined],
    ['baseUrl', ''],
    ['baseUrl', 7],
    ['apiKey', undefined],
    ['apiKey', ''],
    ['apiKey', null],
    ['eventsUrl', ''],
    ['eventsUrl', 7],
    ['fetch', 1],
    ['fetch', null],
  ])('%s: %j', (name, value) => {
    const options = { baseUrl: 'https://service.example', apiKey: KEY, [name]: value } as unknown as ServiceOptions;
    expect(() => createService(options)).toThrow(TypeError);
    expect(() => createService(options)).toThrow(`createService: ${name}`);
  });
});

it('an option of an unknown name throws a TypeError, because a misspelt one would have no effect', () => {
  expect(() => connect({ tiemout: 1 } as object)).toThrow(
    new TypeError(
      'createService: tiemout: expected one of baseUrl, eventsUrl, apiKey, timeout, fetch, got another name',
    ),
  );
});

it.each([undefined, null, 'https://service.example'])('options that are no object throw a TypeError: %j', (options) => {
  expect(() => createService(options as never)).toThrow(/^createService: options: expected an object, got /);
});

it('a time-out may be a fraction', async () => {
  await connect({ timeout: 20_000 / 3 }).sendEvent(event('a'));
  expect(upstream.received).toHaveLength(1);
});

it('optional options that are undefined have their defaults', async () => {
  await connect({ eventsUrl: undefined, timeout: undefined, fetch: undefined }).sendEvent(event('a'));
  expect(upstream.received).toHaveLength(1);
});
