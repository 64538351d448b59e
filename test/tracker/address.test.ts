// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { TrackerOptions } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const OLD: Partial<TrackerOptions> = { baseUrl: '/old' };
const NEW: Partial<TrackerOptions> = { baseUrl: '/new', storageName: '/old' };
const NEWEST: Partial<TrackerOptions> = { baseUrl: '/newest', storageName: '/old' };

/** Pages of one site, which share a store. */
const createSite = () => {
  connectTabs();
  const store = createMemoryStore();
  return (options: Partial<TrackerOptions>) => {
    const page = openPage();
    return { page, ...start({ store, ...options }) };
  };
};

const BATCH = '/api/events/batch/';

describe('a changed baseUrl with the first one as storageName', () => {
  it.each([
    ['stored', true],
    ['journaled by a page that left early', false],
  ])('delivers to the new address what was %s', async (_what, isStored) => {
    const open = createSite();
    const old = open(OLD);
    old.page.navigator.onLine = false;
    old.fail();
    old.tracker.track('a');
    if (isStored) await old.tracker.flush();
    old.page.leave();
    await settle();

    vi.setSystemTime(Date.now() + 60_000);
    const next = open(NEW);
    await next.tracker.flush();
    expect(next.names()).toEqual(['a']);
    expect(next.requests.map(({ url }) => url)).toEqual([`/new${BATCH}`]);
  });

  it('knows who is identified', async () => {
    const open = createSite();
    const old = open(OLD);
    old.tracker.identify('ann');
    await old.tracker.flush();
    const ann = await old.tracker.correlationValue();
    old.page.leave();
    await settle();

    const next = open(NEW);
    next.tracker.identify('ann');
    await next.tracker.flush();
    expect([await next.tracker.correlationValue(), next.names()]).toEqual([ann, []]);
    next.tracker.identify('bob');
    await next.tracker.flush();
    expect(await next.tracker.correlationValue()).not.toBe(ann);
    expect(next.names()).toEqual(['$identify']);
  });

  it('keeps the first name at a second change', async () => {
    const open = createSite();
    for (const options of [OLD, NEW]) {
      const test = open(options);
      test.page.navigator.onLine = false;
      test.fail();
      test.tracker.track(`to ${options.baseUrl}`);
      await test.tracker.flush();
      test.page.leave();
      vi.setSystemTime(Date.now() + 60_000);
    }
    const last = open(NEWEST);
    await last.tracker.flush();
    expect(last.names()).toEqual(['to /old', 'to /new']);
    expect(last.requests.map(({ url }) => url)).toEqual([`/newest${BATCH}`]);
  });

  it('shares the queue and the visitor with a tab that has the old configuration', async () => {
    const open = createSite();
    const old = open(OLD);
    await old.tracker.flush();
    const next = open(NEW);
    await next.tracker.flush();
    old.tracker.track('of the old tab');
    await settle();
    next.tracker.track('of the new tab');
    await next.tracker.flush();
    await settle();
    expect([...old.names(), ...next.names()].sort()).toEqual(['of the new tab', 'of the old tab']);
    expect([old.delivered, next.delivered]).toEqual([['of the old tab'], ['of the new tab']]);
    old.tracker.reset();
    await settle();
    expect(await next.tracker.correlationValue()).toBe(await old.tracker.correlationValue());
  });

  it('delivers to the new address what a tab queues whose old address is gone', async () => {
    const open = createSite();
    const old = open(OLD);
    old.fail(404);
    old.tracker.track('a');
    await old.tracker.flush();
    const next = open(NEW);
    await next.tracker.flush();
    await settle();
    expect(next.names()).toEqual(['a']);
    expect(old.delivered).toEqual(['a']);
  });
});

it('a changed baseUrl alone begins with an empty queue', async () => {
  const open = createSite();
  const old = open(OLD);
  old.page.navigator.onLine = false;
  old.fail();
  old.tracker.track('a');
  await old.tracker.flush();
  old.page.leave();
  const next = open({ baseUrl: '/new' });
  await next.tracker.flush();
  expect(next.names()).toEqual([]);
});
