import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Tracker, TrackerOptions } from '../src/index.ts';

const BROWSER = ['window', 'document', 'location', 'navigator', 'localStorage', 'indexedDB', 'BroadcastChannel'];

afterEach(() => vi.unstubAllGlobals());

it('an import uses no browser API', async () => {
  const touched: string[] = [];
  const kept = BROWSER.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const name of BROWSER) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => void touched.push(name),
    });
  }
  await import('../src/index.ts');
  for (const [name, descriptor] of kept) {
    delete (globalThis as Record<string, unknown>)[name];
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
  }
  expect(touched).toEqual([]);
});

describe('on a server, where there is no window', () => {
  const create = async (options: unknown = { baseUrl: '/clew' }): Promise<Tracker> =>
    (await import('../src/index.ts')).createTracker(options as TrackerOptions);

  it('the tracker has every method, and each does nothing', async () => {
    const request = vi.fn();
    vi.stubGlobal('fetch', request);
    const tracker = await create();
    const heard = vi.fn();
    const off = tracker.on('error', heard);
    expect(tracker.track('signup', { plan: 'pro' })).toBeUndefined();
    expect(tracker.track('', 1n)).toBeUndefined();
    await expect(tracker.trackNow('signup')).resolves.toBeUndefined();
    expect(tracker.identify('ann', { plan: 'pro' })).toBeUndefined();
    expect(tracker.setProperties({ plan: 'pro' })).toBeUndefined();
    expect(tracker.page({ title: 'Home' })).toBeUndefined();
    expect(tracker.reset()).toBeUndefined();
    expect(tracker.consent(true)).toBeUndefined();
    expect(tracker.consent(false)).toBeUndefined();
    await expect(tracker.flush()).resolves.toBeUndefined();
    await expect(tracker.correlationValue()).resolves.toBe('');
    expect(tracker.stats()).toEqual({ tracked: 0, delivered: 0, queued: 0, dropped: {} });
    expect(off()).toBeUndefined();
    expect(tracker.stop()).toBeUndefined();
    expect(heard).not.toHaveBeenCalled();
    expect(request).not.toHaveBeenCalled();
  });

  it('the tracker has as many methods as in a browser', async () => {
    expect(Object.keys(await create()).toSorted()).toEqual(
      'consent correlationValue flush identify on page reset setProperties stats stop track trackNow use'.split(' '),
    );
  });

  it('stats() returns a new object for every caller', async () => {
    const tracker = await create();
    tracker.stats().tracked = 99;
    expect((await create()).stats().tracked).toBe(0);
  });

  it.each<[object | null | undefined, string]>([
    [undefined, 'baseUrl: expected a string, not '],
    [null, 'baseUrl: expected a string, not '],
    [{}, 'baseUrl: expected a string, not '],
    [{ baseUrl: '' }, 'baseUrl: expected a string, not '],
    [{ baseUrl: 7 }, 'baseUrl: expected a string, not 7'],
    [{ baseUrl: 'clew' }, 'baseUrl: expected /path or a URL, not clew'],
    [{ baseUrl: '/clew', eventsUrl: 'localhost:3000' }, 'eventsUrl: expected /path or a URL, not localhost:3000'],
    [{ baseUrl: '/clew', flushInterval: 'soon' }, 'flushInterval: expected a number, at least 1, not soon'],
    [{ baseUrl: '/clew', flushInterval: Number.NaN }, 'flushInterval: expected a number, at least 1, not NaN'],
    // A batch of no events would never send one.
    [{ baseUrl: '/clew', maxBatchEvents: 0.3 }, 'maxBatchEvents: expected a number, at least 1, not 0.3'],
  ])('createTracker throws a TypeError for invalid options: %j', async (options, message) => {
    const { createTracker } = await import('../src/index.ts');
    expect(() => createTracker(options as TrackerOptions)).toThrow(new TypeError(`clew: ${message}`));
  });
});
