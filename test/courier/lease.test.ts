// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  fail,
  isFailing,
  isProven,
  type Link,
  newLink,
  REQUEST_TIMEOUT,
  release,
  succeed,
  take,
  timeLeft,
} from '../../src/courier/lease.ts';

const NOW = Date.UTC(2026, 0, 31);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LEASE = 22 * SECOND;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

const held = (tab: string, now = NOW): Link => {
  const link = newLink();
  take(link, tab, now);
  return link;
};
/** How long (ms) a link waits after a failure that follows `fails` others. */
const waitAfter = (fails: number, isRefused = false, retryAfter?: number): number => {
  const link = { ...held('a'), fails };
  fail(link, 'a', NOW, isRefused, retryAfter);
  return link.until - NOW;
};
const jitter = (value: number) => vi.spyOn(Math, 'random').mockReturnValue(value);

afterEach(() => vi.restoreAllMocks());

describe('Retry-After of an app', () => {
  it.each<[unknown]>([[Number.NaN], ['soon'], [null], [-1]])('%j counts as none', (retryAfter) => {
    jitter(0.5);
    expect(waitAfter(3, false, retryAfter as number)).toBe(waitAfter(3));
  });
});

describe('the lease', () => {
  it('is held by one tab, and keeps the others waiting', () => {
    const link = held('a');
    expect(timeLeft(link, 'a', NOW)).toBe(0);
    expect(timeLeft(link, 'b', NOW)).toBe(LEASE);
    take(link, 'b', NOW + SECOND);
    expect(link.by).toBe('a');
  });

  it('lasts longer than the request that it is taken for', () => {
    expect(held('a').until - NOW).toBeGreaterThan(REQUEST_TIMEOUT);
  });

  it('is renewed by its tab', () => {
    const link = held('a');
    take(link, 'a', NOW + 5 * SECOND);
    expect(link).toMatchObject({ by: 'a', until: NOW + 5 * SECOND + LEASE });
  });

  it('expires, so a crashed tab delays no other tab for longer', () => {
    const link = held('a');
    take(link, 'b', NOW + LEASE - 1);
    expect(link.by).toBe('a');
    take(link, 'b', NOW + LEASE);
    expect(link.by).toBe('b');
  });

  it('is released by its own tab only', () => {
    const link = held('a');
    release(link, 'b');
    expect(link.by).toBe('a');
    release(link, 'a');
    expect(link).toMatchObject({ by: '', until: 0 });
    expect(timeLeft(link, 'b', NOW)).toBe(0);
  });

  it('cannot be taken by force', () => {
    const link = held('a');
    take(link, 'b', NOW + SECOND, true);
    expect(link.by).toBe('a');
  });

  it.each([
    ['back', -TEN_YEARS],
    ['back a little', -1],
    ['forward', TEN_YEARS],
  ])('is void when the clock has jumped %s', (_way, jump) => {
    const link = held('a');
    expect(timeLeft(link, 'b', NOW + jump)).toBe(0);
    take(link, 'b', NOW + jump);
    expect(link.by).toBe('b');
  });
});

describe('the back-off after a failure', () => {
  it('doubles from 1 s to 5 min and stays there', () => {
    jitter(1);
    const waits = [0, 1, 2, 3, 8, 9, 20, 2000].map((fails) => waitAfter(fails));
    expect(waits).toEqual([1, 2, 4, 8, 256, 300, 300, 300].map((seconds) => seconds * SECOND));
  });

  it('is random over its whole length, so that visitors do not retry together', () => {
    jitter(0);
    expect(waitAfter(5)).toBe(0);
    jitter(0.5);
    expect(waitAfter(5)).toBe(16 * SECOND);
    vi.restoreAllMocks();
    const waits = Array.from({ length: 500 }, () => waitAfter(5));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(32 * SECOND);
    expect(new Set(waits).size).toBeGreaterThan(400);
  });

  it('holds for all tabs, also the tab that failed', () => {
    jitter(1);
    const link = held('a');
    fail(link, 'a', NOW, false);
    for (const tab of ['a', 'b']) {
      expect(timeLeft(link, tab, NOW)).toBe(SECOND);
      take(link, tab, NOW + SECOND - 1);
      expect(link.by).toBe('');
    }
    take(link, 'b', NOW + SECOND);
    expect(link.by).toBe('b');
  });

  it('ends by force', () => {
    jitter(1);
    const link = held('a');
    fail(link, 'a', NOW, false);
    take(link, 'b', NOW, true);
    expect(link.by).toBe('b');
  });

  it('is void when the clock has jumped back', () => {
    jitter(1);
    const link = held('a');
    fail(link, 'a', NOW, false, HOUR);
    expect(timeLeft(link, 'a', NOW - 1)).toBe(0);
  });

  it('grows with failures in a row only: a success resets it', () => {
    jitter(1);
    const link = held('a');
    for (let n = 0; n < 4; n++) {
      take(link, 'a', NOW, true);
      fail(link, 'a', NOW, false);
    }
    expect(link.until - NOW).toBe(8 * SECOND);
    take(link, 'a', NOW, true);
    succeed(link, 'a', NOW);
    fail(link, 'a', NOW, false);
    expect(link.until - NOW).toBe(SECOND);
  });

  it('is not set by a tab that no longer holds the lease', () => {
    const link = held('b');
    fail(link, 'a', NOW, false);
    expect(link).toEqual(held('b'));
  });
});

describe('Retry-After', () => {
  it('is followed up to 1 h', () => {
    expect(waitAfter(0, false, 90 * SECOND)).toBe(90 * SECOND);
    expect(waitAfter(0, false, HOUR)).toBe(HOUR);
    expect(waitAfter(0, false, 25 * HOUR)).toBe(HOUR);
    expect(waitAfter(0, false, Number.POSITIVE_INFINITY)).toBe(HOUR);
  });

  it('is followed by all tabs, even by force', () => {
    jitter(1);
    const link = { ...held('a'), fails: 6 };
    fail(link, 'a', NOW, false, 5 * SECOND);
    for (const tab of ['a', 'b']) {
      expect(timeLeft(link, tab, NOW)).toBe(64 * SECOND);
      expect(timeLeft(link, tab, NOW, true)).toBe(5 * SECOND);
      take(link, tab, NOW + 5 * SECOND - 1, true);
      expect(link.by).toBe('');
    }
    take(link, 'b', NOW + 5 * SECOND, true);
    expect(link.by).toBe('b');
  });

  it('asks for nothing any more after a success, although the clock was set back since', () => {
    const link = held('a');
    fail(link, 'a', NOW, false, MINUTE);
    take(link, 'a', NOW + 2 * MINUTE);
    succeed(link, 'a', NOW + 2 * MINUTE);
    release(link, 'a');
    expect(timeLeft(link, 'b', NOW - MINUTE, true)).toBe(0);
  });

  it('is void after the clock has jumped, also by force', () => {
    const link = held('a');
    fail(link, 'a', NOW, false, HOUR);
    expect(timeLeft(link, 'a', NOW - 1, true)).toBe(0);
  });

  it('never shortens the back-off, even if it is in the past', () => {
    jitter(1);
    expect(waitAfter(6, false, 5 * SECOND)).toBe(64 * SECOND);
    expect(waitAfter(6, false, -TEN_YEARS)).toBe(64 * SECOND);
    expect(waitAfter(0, true, SECOND)).toBe(5 * MINUTE);
  });
});

it('a rejected key or address pauses 5 min, doubling to 1 h, without jitter', () => {
  const waits = [0, 1, 2, 3, 4, 50, 2000].map((fails) => waitAfter(fails, true));
  expect(waits).toEqual([5, 10, 20, 40, 60, 60, 60].map((minutes) => minutes * MINUTE));
});

it('a rejected key or address pauses the tab that sent it despite force, and other tabs without', () => {
  const link = held('a');
  fail(link, 'a', NOW, true);
  expect(timeLeft(link, 'a', NOW, true)).toBe(5 * MINUTE);
  expect(timeLeft(link, 'b', NOW)).toBe(5 * MINUTE);
  expect(timeLeft(link, 'b', NOW, true)).toBe(0);
});

it('a record of version 0.1.0 is read', () => {
  const link: Link = { by: '', until: NOW + SECOND, fails: 1, okAt: 0 };
  expect(timeLeft(link, 'a', NOW)).toBe(SECOND);
  expect(timeLeft(link, 'a', NOW, true)).toBe(0);
});

describe('a link fails', () => {
  it('after a failure, until ten minutes after its back-off', () => {
    jitter(1);
    const link = held('a');
    fail(link, 'a', NOW, false);
    expect(isFailing(link, NOW)).toBe(true);
    expect(isFailing(link, NOW + SECOND + 10 * MINUTE - 1)).toBe(true);
    expect(isFailing(link, NOW + SECOND + 10 * MINUTE)).toBe(false);
  });

  it('only between a failure and the next success', () => {
    const link = held('a');
    expect(isFailing(link, NOW)).toBe(false);
    fail(link, 'a', NOW, false);
    take(link, 'a', NOW, true);
    succeed(link, 'a', NOW);
    expect(isFailing(link, NOW)).toBe(false);
  });
});

describe('a link is confirmed', () => {
  const proven = () => {
    const link = held('a');
    succeed(link, 'a', NOW);
    return link;
  };

  it('not before a first success', () => {
    expect(isProven(newLink(), NOW)).toBe(false);
    expect(isProven(held('a'), NOW)).toBe(false);
  });

  it('for 10 minutes after a success', () => {
    const link = proven();
    expect(link.by).toBe('a');
    expect(isProven(link, NOW)).toBe(true);
    expect(isProven(link, NOW + 10 * MINUTE - 1)).toBe(true);
    expect(isProven(link, NOW + 10 * MINUTE)).toBe(false);
  });

  it('not after a failure or a refusal, until the next success', () => {
    for (const isRefused of [false, true]) {
      const link = proven();
      fail(link, 'a', NOW + 1, isRefused);
      expect(isProven(link, NOW + 1)).toBe(false);
      take(link, 'a', NOW + 1, true);
      succeed(link, 'a', NOW + 2);
      expect(isProven(link, NOW + 2)).toBe(true);
    }
  });

  it('not when the clock has jumped back', () => {
    expect(isProven(proven(), NOW - TEN_YEARS)).toBe(false);
  });
});
