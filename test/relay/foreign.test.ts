import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRelay, memorySeen, type RelayOptions, toService } from '../../src/relay.ts';
import { useUpstream } from '../upstream.ts';
import { openInMemory, requestOf } from './requests.ts';
import { BATCH, event, KEY, useRelays } from './stage.ts';

/** Tests of the relay with functions of an app that break their contract. */

const upstream = useUpstream();
const openRelay = useRelays(() => ({}));
const batch = () => ({ batch: [event('a')] });
const post = async (options: object) => {
  const errors: unknown[] = [];
  const { relay } = openInMemory({ ...options, onError: (error: unknown) => errors.push(error) } as RelayOptions);
  const response = await relay(requestOf(batch()));
  return { status: response.status, json: await response.json(), errors };
};
const answerOf = (more: object) => ({ ok: true, status: 201, headers: new Headers(), text: async () => '', ...more });

describe('a `forward` whose answer is no answer means 502, so that the page keeps its events:', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['`Response.error()`', Response.error()],
    ['a body that breaks off', answerOf({ text: () => Promise.reject(new TypeError('terminated')) })],
    ['a status that is no number', answerOf({ status: '201' })],
    ['a status below 200', answerOf({ status: 101 })],
    ['no headers', answerOf({ headers: undefined })],
  ])('%s', async (_what, answer) => {
    const { status, json, errors } = await post({ forward: async () => answer });
    expect([status, json]).toEqual([502, { error: 'the relay could not forward the request' }]);
    expect(errors).toEqual([expect.any(Error)]);
  });
});

it.each([200, 201])(
  '%i that is HTML confirms nothing: the page gets 502, and its retry is forwarded',
  async (status) => {
    const errors: unknown[] = [];
    const relay = await openRelay({ baseUrl: upstream.url, onError: (error) => errors.push(error) });
    const body = batch();
    upstream.answer(status, { 'Content-Type': 'text/html; charset=utf-8' }, '<h1>We will be back soon</h1>');
    const reply = await relay.post(BATCH, body);
    expect([reply.status, reply.json]).toEqual([502, { error: 'the relay could not forward the request' }]);
    expect(errors).toEqual([new TypeError(`forward: expected an answer of the service, got ${status} with HTML`)]);
    upstream.answer(201);
    expect((await relay.post(BATCH, body)).status).toBe(201);
    expect(upstream.received).toHaveLength(2);
  },
);

it.each(['', '\n'])('201 that is HTML without a page confirms, as from Django, Flask and PHP: %j', async (text) => {
  const relay = await openRelay({ baseUrl: upstream.url });
  upstream.answer(201, { 'Content-Type': 'text/html; charset=utf-8' }, text);
  const body = batch();
  expect((await relay.post(BATCH, body, { 'Content-Type': 'text/plain' })).status).toBe(201);
  expect((await relay.post(BATCH, body)).status).toBe(200);
  expect(upstream.received).toHaveLength(1);
});

it('a `forward` that resolves to nothing means 502, and the error names what was expected', async () => {
  const { status, errors } = await post({ forward: (async () => {}) as never });
  expect(status).toBe(502);
  expect(errors).toEqual([new TypeError('forward: expected a status of at least 200, got undefined')]);
});

it.each(['in 5 min – later', 'two\nlines', '\0', `Api-Key ${KEY}`, '-1'])(
  'a `Retry-After` that is neither seconds nor a date is left out: %j',
  async (retryAfter) => {
    const forward = async () => answerOf({ ok: false, status: 503, headers: { get: () => retryAfter } });
    const relay = await openRelay({ forward: forward as never });
    const reply = await relay.post(BATCH, batch());
    expect([reply.status, reply.headers.get('Retry-After')]).toEqual([503, '1']);
  },
);

it.each([204, 205])('%i of the service is a success, also with rejected events', async (status) => {
  const relay = await openRelay({ baseUrl: upstream.url });
  upstream.answer(status);
  expect((await relay.post(BATCH, batch())).status).toBe(status);
  const { json } = await relay.post(BATCH, { batch: [event('b'), {}] });
  expect(json).toMatchObject({ rejected: [{ uuid: '' }] });
});

it.each<[string, unknown]>([
  ['undefined', undefined],
  ['too few states', []],
  ['a text', 'x'],
  ['no state', [undefined]],
  ['another state', ['OK']],
])('`seen.reserve` that resolves to %s means 503', async (_what, states) => {
  const { status, errors } = await post({ seen: { ...memorySeen(), reserve: async () => states } });
  expect(status).toBe(503);
  expect(errors).toEqual([new TypeError('seen.reserve: expected a state for each event')]);
});

it('an event with a field that is nested too deeply to be shown is rejected alone', async () => {
  const relay = await openRelay({ baseUrl: upstream.url });
  const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
  const good = JSON.stringify(event('b'));
  const reply = await relay.post(BATCH, `{"batch":[{"event":"a","source":${deep}},${good}]}`);
  expect(reply.status).toBe(201);
  expect(reply.json).toMatchObject({ rejected: [{ reason: 'source: expected "custom", got an object' }] });
});

it('`toService` removes its key from answers, also as a `forward`', async () => {
  const forward = toService({ baseUrl: upstream.url, eventsUrl: upstream.url, apiKey: KEY, timeout: 5000 });
  const relay = await openRelay({ forward, apiKey: undefined });
  upstream.answer(400, {}, `Authorization: Api-Key ${KEY}`);
  // `post` also checks that no reply contains the key.
  expect((await relay.post(BATCH, batch())).json).toEqual({ message: 'Authorization: Api-Key …' });
});

describe('a call that is never answered ends after `timeout`, and `close` resolves:', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const never = () => new Promise<never>(() => {});

  it.each<[string, Partial<RelayOptions>, number]>([
    ['`forward`', { forward: never }, 504],
    ['the body of its answer', { forward: async () => answerOf({ text: never }) }, 504],
    ['`fetch` that ignores its signal', { baseUrl: 'https://service.example', apiKey: KEY, fetch: never }, 504],
    ['`accept`', { accept: never, forward: async () => answerOf({}) }, 500],
  ])('%s', async (_what, options, status) => {
    const relay = createRelay({ timeout: 300, ...options });
    const reply = relay(requestOf(batch()));
    await vi.advanceTimersByTimeAsync(0);
    const closed = relay.close();
    await vi.advanceTimersByTimeAsync(300);
    expect((await reply).status).toBe(status);
    await closed;
  });
});

describe('an error without a text changes no answer:', () => {
  const errors: [string, () => unknown][] = [
    ['a message that is no text', () => Object.assign(new Error('x'), { message: { toString: null } })],
    ['an object without `toString`', () => Object.create(null)],
    ['a getter that throws', () => Object.defineProperty({}, 'status', { get: () => JSON.parse('') })],
  ];
  it.each(errors)('%s', async (_what, make) => {
    const fail = () => Promise.reject(make());
    const statusOf = async (options: object) => (await openInMemory(options).relay(requestOf(batch()))).status;
    expect(await statusOf({ forward: fail })).toBe(502);
    expect(await statusOf({ seen: { ...memorySeen(), reserve: fail } })).toBe(503);
    expect(await statusOf({ seen: { ...memorySeen(), confirm: fail } })).toBe(201);
    expect(await statusOf({ limits: { buckets: { take: fail } } })).toBe(201);
  });
});
