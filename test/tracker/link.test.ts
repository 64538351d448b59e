// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMemoryStore, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

afterEach(() => vi.clearAllTimers());

const SECOND = 1000;

/** A store in which other code has replaced the record that tabs share about the link. */
const storeWithLink = async (link: object) => {
  const store = createMemoryStore();
  await store.transact([['link /clew', link]]);
  return store;
};

describe('a corrupt link record', () => {
  const corrupt: [string, object][] = [
    ['is empty', {}],
    ['has a lease without an end', { by: 'somebody', until: 'never', fails: 0, okAt: 0 }],
    ['has a lease that ends before time began', { by: 'somebody', until: -1, fails: 0, okAt: 0 }],
    ['counts failures that are no number', { by: '', until: 0, fails: 'many', okAt: 0 }],
    ['counts fewer failures than none', { by: '', until: 0, fails: -1000, okAt: 0 }],
    ['is a list', []],
  ];

  it.each(corrupt)('delays no events if it %s', async (_what, link) => {
    const { tracker, names } = start({ baseUrl: '/clew', store: await storeWithLink(link) });
    tracker.track('seen');
    await tracker.flush();
    expect(names()).toEqual(['seen']);
  });

  it.each(corrupt)('does not end the back-off after a failure if it %s', async (_what, link) => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const test = start({ baseUrl: '/clew', store: await storeWithLink(link), flushInterval: 60 * SECOND });
    test.fail(503);
    test.tracker.track('seen');
    await vi.advanceTimersByTimeAsync(SECOND - 1);
    expect(test.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(test.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(2 * SECOND - 1);
    expect(test.requests).toHaveLength(2);
    test.recover();
    await vi.advanceTimersByTimeAsync(1);
    expect(test.names()).toEqual(['seen']);
  });
});

describe('a lease that another tab holds', () => {
  const lease = () => ({ by: 'another tab', until: Date.now() + 10 * SECOND, fails: 0, okAt: Date.now() });

  it('delays all requests until it expires, also those of flush()', async () => {
    const { tracker, requests, names } = start({ baseUrl: '/clew', store: await storeWithLink(lease()) });
    tracker.track('seen');
    await tracker.flush();
    await vi.advanceTimersByTimeAsync(10 * SECOND - 1);
    expect(requests).toEqual([]);
    await vi.advanceTimersByTimeAsync(3 * SECOND);
    expect(names()).toEqual(['seen']);
  });

  it('delays nothing if it expires later than a lease can, as after a clock change', async () => {
    const store = await storeWithLink({ ...lease(), until: Date.now() + 23 * SECOND });
    const { tracker, names } = start({ baseUrl: '/clew', store });
    tracker.track('seen');
    await tracker.flush();
    expect(names()).toEqual(['seen']);
  });
});

describe('a service that refuses the key', () => {
  it('gets the same events again after 5 min and no sooner', async () => {
    const { tracker, requests, errors, names, fail, recover } = start();
    await tracker.flush();
    fail(401);
    tracker.track('seen');
    await tracker.flush();
    recover();
    await tracker.flush();
    await vi.advanceTimersByTimeAsync(300 * SECOND - 1);
    expect(requests).toHaveLength(1);
    expect(errors).toEqual(['clew: 401']);
    await vi.advanceTimersByTimeAsync(1);
    expect(names()).toEqual(['seen']);
  });
});

describe('the flush interval', () => {
  it('is the wait of an event after a confirmed request', async () => {
    const { tracker, names } = start({ flushInterval: 500 });
    tracker.track('first');
    await tracker.flush();
    tracker.track('second');
    await vi.advanceTimersByTimeAsync(499);
    expect(names()).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(1);
    expect(names()).toEqual(['first', 'second']);
  });

  it('does not delay trackNow(), whose event has a request of its own', async () => {
    const { tracker, requests, names } = start({ baseUrl: '/clew', flushInterval: 500 });
    tracker.track('first');
    await tracker.flush();
    tracker.track('second');
    await tracker.trackNow('now');
    expect(names()).toEqual(['first', 'second', 'now']);
    expect(requests.map(({ url }) => url)).toEqual([
      '/clew/api/events/batch/',
      '/clew/api/events/batch/',
      '/clew/events/',
    ]);
  });
});
