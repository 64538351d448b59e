import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createService, ServiceError } from '../src/service.ts';

const VISITOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const EVENT = { event: 'a', correlationValue: VISITOR_ID };
/** A service whose requests the test sees and answers. */
const open = (answer: (init: RequestInit) => Promise<Response>, options: object = {}) => {
  const requests: { url: unknown; init: RequestInit }[] = [];
  const service = createService({
    baseUrl: 'https://service.example/v1',
    apiKey: 'secret-key',
    fetch: (url, init = {}) => {
      requests.push({ url, init });
      return answer(init);
    },
    ...options,
  });
  return { service, requests };
};
const taken = async () => new Response('{"id":"c7"}', { status: 201 });
/** Also ignores its signal, as a `fetch` of a library may. */
const never = () => new Promise<Response>(() => {});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each([
  ['without `timeout`, after 20 s', {}, 20_000],
  ['after `timeout`', { timeout: 70 }, 70],
])('a call fails %s without an answer', async (_when, options, ms) => {
  const { service, requests } = open(never, options);
  let error: unknown;
  service.sendBatch([EVENT]).catch((thrown) => {
    error = thrown;
  });
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ status: undefined, cause: { name: 'TimeoutError' } });
  expect(requests[0]?.init.signal?.aborted).toBe(true);
});

it('a call leaves no timer behind once it has an answer', async () => {
  const { service } = open(taken);
  await service.sendBatch([EVENT]);
  expect(vi.getTimerCount()).toBe(0);
});

it('without `eventsUrl` single events go to `baseUrl`', async () => {
  const { service, requests } = open(taken);
  await service.sendEvent(EVENT);
  expect(requests.map(({ url }) => url)).toEqual(['https://service.example/v1/events/']);
});

it('without `fetch` requests use the global one, looked up for each request', async () => {
  const service = createService({ baseUrl: 'https://service.example', apiKey: 'secret-key' });
  const global = vi.fn(taken);
  vi.stubGlobal('fetch', global);
  await service.sendEvent(EVENT);
  expect(global).toHaveBeenCalledTimes(1);
});

it('every request is sent without cookies and follows no redirect', async () => {
  const { service, requests } = open(taken);
  await service.upsertCustomer('ann');
  await service.sendBatch([EVENT]);
  await service.sendEvent(EVENT);
  expect(requests).toHaveLength(3);
  for (const { init } of requests)
    expect(init).toMatchObject({ method: 'POST', credentials: 'omit', redirect: 'manual' });
});

it('without `correlationKey` and `timestamp` events get `_id` and the current time', async () => {
  vi.setSystemTime('2026-01-31T12:00:00.000Z');
  const { service, requests } = open(taken);
  await service.sendBatch([EVENT, { ...EVENT, correlationKey: 'email', timestamp: '2026-01-01T00:00:00.000Z' }]);
  expect(JSON.parse(`${requests[0]?.init.body}`)).toEqual({
    batch: [
      { ...EVENT, source: 'custom', correlationKey: '_id', timestamp: '2026-01-31T12:00:00.000Z' },
      { ...EVENT, source: 'custom', correlationKey: 'email', timestamp: '2026-01-01T00:00:00.000Z' },
    ],
  });
});

it('an error holds at most 1,000 characters of the answer', async () => {
  const { service } = open(async () => new Response('x'.repeat(5000), { status: 500 }));
  const error = await service.sendEvent(EVENT).catch((thrown) => thrown);
  expect(error.detail).toBe('x'.repeat(1000));
});

it('an error about an id that is not JSON holds at most 200 characters of the answer', async () => {
  const { service } = open(async () => new Response('x'.repeat(5000), { status: 201 }));
  const error = await service.upsertCustomer('ann').catch((thrown) => thrown);
  expect(error.detail).toBe(`expected JSON, got ${'x'.repeat(200)}`);
});
