import { describe, expect, it } from 'vitest';
import { outcomeOf, WAITS, waitAfter } from '../../demo/broker/answer.ts';

const failure = { before: 0, isRefused: false, retryAfter: 0 };
const least = () => 0;
const most = () => 1;

describe('the back-off', () => {
  it('after a failure doubles from 1 s to 5 min, with full jitter', () => {
    const waits = Array.from({ length: 12 }, (_, before) => waitAfter({ ...failure, before }, WAITS, most) / 1000);
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
    expect(waitAfter({ ...failure, before: 12 }, WAITS, least)).toBe(0);
  });

  it('after a rejected key or address doubles from 5 to 60 min', () => {
    const refused = { ...failure, isRefused: true };
    const waits = Array.from({ length: 6 }, (_, before) => waitAfter({ ...refused, before }, WAITS, least) / 60_000);
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    expect(waitAfter({ ...refused, before: 5000 }, WAITS)).toBe(3_600_000);
  });

  it('is at least Retry-After and at most an hour', () => {
    expect(waitAfter({ ...failure, retryAfter: 17_000 }, WAITS, most)).toBe(17_000);
    expect(waitAfter({ ...failure, before: 9, retryAfter: 17_000 }, WAITS, most)).toBe(300_000);
    expect(waitAfter({ ...failure, retryAfter: 86_400_000 }, WAITS, most)).toBe(3_600_000);
  });
});

it.each([
  ['delivered', [200, 201, 202, 204]],
  ['rejected', [400, 413, 415, 422]],
  ['refused', [401, 403, 404, 405, 410, 418]],
  ['failed', [408, 425, 429, 500, 502, 503, 504, 599]],
] as const)('%s: %j', (outcome, statuses) => {
  expect(statuses.map((status) => outcomeOf(status))).toEqual(statuses.map(() => outcome));
});

it('a 2xx with a page of HTML has failed, because it comes from another server than the service', () => {
  const html = 'text/html; charset=utf-8';
  expect([200, 201].map((status) => outcomeOf(status, html, '<h1>Log in</h1>'))).toEqual(['failed', 'failed']);
  expect([200, 201].map((status) => outcomeOf(status, html, ''))).toEqual(['delivered', 'delivered']);
  expect(outcomeOf(200, 'application/json', '{}')).toBe('delivered');
  expect(outcomeOf(400, 'text/html')).toBe('rejected');
});
