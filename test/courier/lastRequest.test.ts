// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLastRequest } from '../../src/courier/lastRequest.ts';
import type { Answer } from '../../src/courier/transport.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1000 });
  vi.stubGlobal('navigator', { onLine: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const REJECTED: Answer = { outcome: 'failed', message: 'Failed to fetch' };

/** A request that ended `ago` ms before the page leaves. */
const ended = (answer: Answer, isKeptAlive = true, ago = 0) => {
  const request = createLastRequest();
  request.begin('id', ['a'])(answer, isKeptAlive);
  vi.advanceTimersByTime(ago);
  return request;
};

it('gives the request that has no answer yet, once', () => {
  const request = createLastRequest();
  expect(request.take()).toBeUndefined();
  request.begin('id', ['a', 'b']);
  expect([request.take(), request.take()]).toEqual([{ id: 'id', ids: ['a', 'b'] }, undefined]);
});

it.each<[string, Answer]>([
  ['delivered', { outcome: 'delivered', status: 200 }],
  ['a 503', { outcome: 'failed', status: 503 }],
  ['a broken contract', { outcome: 'failed', status: 0 }],
])('gives none after an answer: %s', (_what, answer) => {
  expect(ended(answer).take(true)).toBeUndefined();
});

it('gives a kept-alive request that has failed just before an unload', () => {
  expect(ended(REJECTED, true, 99).take(true)).toEqual({ id: 'id', ids: ['a'], rejectedAt: 1000 });
});

it.each<[string, boolean, number, boolean]>([
  ['the page does not unload', true, 0, false],
  ['it was not kept alive', false, 0, true],
  ['it has failed earlier', true, 100, true],
])('gives no failed request if %s', (_what, isKeptAlive, ago, isUnloading) => {
  expect(ended(REJECTED, isKeptAlive, ago).take(isUnloading)).toBeUndefined();
});

it('gives no failed request while offline', () => {
  vi.stubGlobal('navigator', { onLine: false });
  expect(ended(REJECTED).take(true)).toBeUndefined();
});

it('is not ended by the late answer to an earlier request', () => {
  const request = createLastRequest();
  const end = request.begin('first', ['a']);
  request.begin('second', ['b']);
  end({ outcome: 'delivered', status: 200 }, true);
  expect(request.take()?.id).toBe('second');
});
