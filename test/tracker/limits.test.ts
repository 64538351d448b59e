// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectTabs, createMemoryStore, openPage, settle, start } from './page.ts';

afterEach(() => void vi.useRealTimers());

describe('maxQueuedEvents', () => {
  it('drops further events as full while nothing is delivered, and queues new ones once there is room', async () => {
    const { tracker, dropped, fail, recover, names } = start({ maxQueuedEvents: 3 });
    await tracker.flush();
    fail();
    for (const name of ['a', 'b', 'c', 'd', 'e']) tracker.track(name);
    await tracker.flush();
    expect(dropped).toEqual([
      ['d', 'full'],
      ['e', 'full'],
    ]);
    expect(tracker.stats()).toEqual({ tracked: 5, delivered: 0, queued: 3, dropped: { full: 2 } });
    recover();
    await tracker.flush();
    tracker.track('f');
    await tracker.flush();
    expect(names()).toEqual(['a', 'b', 'c', 'f']);
  });
});

describe('ten million characters', () => {
  it('are the limit of the queue, however few events it has', async () => {
    const { tracker, dropped, fail } = start({ maxBatchBytes: 3_000_000 });
    await tracker.flush();
    fail();
    const tracked = [];
    // Each event has some two hundred characters beside its payload.
    for (let millions = 0; millions < 12; millions += 2) {
      tracker.track(`after ${millions}`, 'x'.repeat(2_000_000));
      tracked.push(tracker.stats().queued);
    }
    await tracker.flush();
    tracker.track('small');
    await tracker.flush();
    expect(tracked.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
    expect(dropped).toEqual([
      ['after 10', 'full'],
      ['small', 'full'],
    ]);
    expect(tracker.stats().queued).toBe(5);
  });
});

describe('maxBatchBytes', () => {
  const limit = 1000;
  /** Bytes of an event in a batch of its own, without the characters of its payload. */
  const rest = async (fill: string) => {
    const { tracker, requests } = start();
    tracker.track('sized', { fill });
    await tracker.flush();
    // The largest event has no room for an id of its request, and for the page's clock.
    const { handover, clock, ...body } = JSON.parse(requests[0]?.body as string);
    expect([typeof handover, clock]).toEqual(['string', [expect.any(Number), expect.any(Number)]]);
    return Buffer.byteLength(JSON.stringify(body)) - Buffer.byteLength(fill);
  };

  it.each([
    ['one byte each', 'x', 1],
    ['three bytes each', '€', 3],
  ])('is the size of the largest event that is sent, with characters of %s', async (_what, character, bytes) => {
    const room = limit - (await rest(character));
    const fits = character.repeat(Math.floor(room / bytes)) + 'x'.repeat(room % bytes);
    const { tracker, dropped, requests } = start({ maxBatchBytes: limit });
    tracker.track('sized', { fill: fits });
    tracker.track('sized', { fill: `${fits}x` });
    await tracker.flush();
    expect(dropped).toEqual([['sized', 'too-large']]);
    expect(requests.map(({ body }) => Buffer.byteLength(body as string))).toEqual([limit]);
    expect(tracker.stats()).toEqual({ tracked: 2, delivered: 1, queued: 0, dropped: { 'too-large': 1 } });
  });

  it('drops an event above it as too large rather than as full', async () => {
    const { tracker, dropped, fail } = start({ maxBatchBytes: limit, maxQueuedEvents: 1 });
    await tracker.flush();
    fail();
    tracker.track('queued');
    tracker.track('large', 'x'.repeat(limit));
    await tracker.flush();
    expect(dropped).toEqual([['large', 'too-large']]);
  });
});

describe('stats()', () => {
  it('returns a copy: changing it does not change the counts', async () => {
    const { tracker } = start();
    tracker.track('seen');
    const stats = tracker.stats();
    stats.tracked = 7;
    stats.dropped.full = 7;
    tracker.track('seen');
    await tracker.flush();
    expect(tracker.stats()).toEqual({ tracked: 2, delivered: 2, queued: 0, dropped: {} });
    expect(stats).toEqual({ tracked: 7, delivered: 0, queued: 1, dropped: { full: 7 } });
  });
});

describe('events stored beyond what memory keeps', () => {
  it('arrive in order, are reported as delivered with their payloads, and count as delivered', async () => {
    const { tracker, events, fail, recover } = start();
    const delivered: unknown[] = [];
    tracker.on('delivered', (confirmed) => delivered.push(...confirmed.events.map(({ payload }) => payload)));
    await tracker.flush();
    fail();
    for (let n = 0; n < 1000; n++) {
      tracker.track('offline', { n, text: 'x'.repeat(300) });
      if (n % 20 === 0) await tracker.correlationValue();
    }
    await tracker.flush();
    expect(tracker.stats().queued).toBe(1000);
    recover();
    await tracker.flush();
    expect(events().map(({ payload }) => (payload as { n: number }).n)).toEqual([...Array(1000).keys()]);
    expect(delivered).toEqual(events().map(({ payload }) => payload));
    expect(tracker.stats()).toEqual({ tracked: 1000, delivered: 1000, queued: 0, dropped: {} });
  });

  it('do not count as delivered before they arrive, if memory stores them during a read', async () => {
    const { tracker, fail } = start();
    fail();
    for (let n = 0; n < 200; n++) {
      tracker.track('offline', { text: 'x'.repeat(1000) });
      if (n % 20 === 0) await tracker.correlationValue();
    }
    await tracker.flush();
    expect(tracker.stats()).toEqual({ tracked: 200, delivered: 0, queued: 200, dropped: {} });
  });

  it('are dropped at a refusal', async () => {
    const { tracker, fail } = start();
    await tracker.flush();
    fail();
    for (let n = 0; n < 1000; n++) tracker.track('offline', { n, text: 'x'.repeat(300) });
    await tracker.flush();
    tracker.consent(false);
    expect(tracker.stats()).toEqual({ tracked: 1000, delivered: 0, queued: 0, dropped: { consent: 1000 } });
  });

  it('do not count as delivered after a refusal and a new consent', async () => {
    const { tracker, names, fail, recover } = start();
    fail();
    for (let n = 0; n < 200; n++) {
      tracker.track('before', { text: 'x'.repeat(1000) });
      if (n % 20 === 0) await tracker.correlationValue();
    }
    await tracker.flush();
    tracker.consent(false);
    tracker.consent(true);
    for (let n = 0; n < 200; n++) tracker.track('after', { text: 'x'.repeat(1000) });
    recover();
    await tracker.flush();
    expect(names()).toEqual(Array(200).fill('after'));
    expect(tracker.stats()).toEqual({ tracked: 400, delivered: 200, queued: 0, dropped: { consent: 200 } });
  });
});

it('a page makes room for the others as it delivers events of a page that has crashed', async () => {
  connectTabs();
  openPage();
  const store = createMemoryStore();
  const bound = { baseUrl: '/clew', store, maxQueuedEvents: 20, maxBatchEvents: 10 };
  const crashed = start(bound);
  crashed.fail();
  await crashed.tracker.flush();
  const idle = start(bound);
  await idle.tracker.flush();
  for (let n = 0; n < 20; n++) crashed.tracker.track('before');
  await crashed.tracker.flush();
  await new Promise((resolve) => setTimeout(resolve));
  // Events of another page, which has none of its own.
  const next = start(bound);
  await next.tracker.flush();
  await next.tracker.flush();
  expect(next.names()).toHaveLength(20);
  await new Promise((resolve) => setTimeout(resolve));
  idle.tracker.track('after');
  await idle.tracker.flush();
  expect([idle.names(), idle.dropped]).toEqual([['after'], []]);
});

it('a tab that wrongly counts the store as full counts anew after a dropped event', async () => {
  vi.useFakeTimers();
  connectTabs();
  openPage();
  const { tracker, dropped, names } = start({ baseUrl: '/clew', maxQueuedEvents: 20 });
  await tracker.flush();
  new BroadcastChannel('clew /clew').postMessage(20);
  await settle();
  tracker.track('a');
  await vi.advanceTimersByTimeAsync(10_000);
  tracker.track('b');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([dropped, names()]).toEqual([[['a', 'full']], ['b']]);
});

it('maxQueuedEvents is the bound of all pages together', async () => {
  const first = start({ baseUrl: '/bound', maxQueuedEvents: 3 });
  await first.tracker.flush();
  first.fail();
  for (const name of ['a', 'b']) first.tracker.track(name);
  await first.tracker.flush();
  const second = start({ baseUrl: '/bound', maxQueuedEvents: 3, store: first.store });
  second.fail();
  await second.tracker.correlationValue();
  for (const name of ['c', 'd']) second.tracker.track(name);
  await second.tracker.flush();
  expect(second.dropped).toEqual([['d', 'full']]);
});
