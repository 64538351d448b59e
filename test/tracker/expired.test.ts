// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { connectTabs, createMemoryStore, openPage, start } from './page.ts';

const NOW = 1_770_000_000_000;
vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const DAY = 86_400_000;

/** A visit at this time, of a browser with this store. */
const visit = (at: number, store = createMemoryStore(), options = {}) => {
  vi.setSystemTime(at);
  openPage();
  return start({ baseUrl: '/clew', store, ...options });
};
/** A visit at this time whose events stay in the store. */
const visitOffline = async (at: number, store: ReturnType<typeof createMemoryStore>, ...names: string[]) => {
  const { tracker, fail } = visit(at, store);
  fail();
  for (const name of names) tracker.track(name);
  await tracker.flush();
  tracker.stop();
};

describe('maxAge', () => {
  it('drops an event of an earlier page as expired after 30 days, on the account of this page', async () => {
    const store = createMemoryStore();
    await visitOffline(NOW, store, 'old', 'just as old');
    await visitOffline(NOW + 2 * DAY, store, 'newer');
    const { tracker, names, dropped, delivered } = visit(NOW + 30 * DAY + 1, store);
    tracker.track('new');
    await tracker.flush();
    await tracker.flush();
    expect(names()).toEqual(['newer', 'new']);
    expect(dropped).toEqual([
      ['old', 'expired'],
      ['just as old', 'expired'],
    ]);
    expect(delivered).toEqual(['new']);
    expect(tracker.stats()).toEqual({ tracked: 3, delivered: 1, queued: 0, dropped: { expired: 2 } });
    expect(await store.read('/clew')).toEqual([]);
  });

  it('keeps an event that is exactly as old', async () => {
    const store = createMemoryStore();
    await visitOffline(NOW, store, 'old');
    const { tracker, names, dropped } = visit(NOW + 30 * DAY, store);
    await tracker.flush();
    expect([names(), dropped]).toEqual([['old'], []]);
  });

  it('keeps an event of the page itself: if it seems that old, the clock has jumped', async () => {
    const { tracker, names, dropped, fail, recover } = visit(NOW, createMemoryStore(), { maxAge: 1000 });
    fail();
    tracker.track('waiting');
    await tracker.flush();
    recover();
    vi.setSystemTime(NOW + 10 * 365 * DAY);
    await tracker.flush();
    expect([names(), dropped]).toEqual([['waiting'], []]);
  });

  it('keeps an event from the future, as of a clock that was wrong', async () => {
    const store = createMemoryStore();
    await visitOffline(NOW + 4000 * DAY, store, 'ahead');
    const { tracker, names, dropped } = visit(NOW, store);
    await tracker.flush();
    expect([names(), dropped]).toEqual([['ahead'], []]);
  });

  it("keeps a customer's properties, which have no time", async () => {
    const store = createMemoryStore();
    const { tracker, fail } = visit(NOW, store);
    fail();
    tracker.identify('ann', { joined: 2001 });
    await tracker.flush();
    tracker.stop();
    const next = visit(NOW + 100 * DAY, store);
    await next.tracker.flush();
    await next.tracker.flush();
    expect(next.names()).toEqual([]);
    expect(next.upserts()).toEqual([{ primary_key: 'ann', properties: { joined: 2001 } }]);
    expect(next.dropped).toEqual([['$identify', 'expired']]);
  });

  it('is reported as expired by the tab that tracked the event, whichever tab sends', async () => {
    connectTabs();
    const store = createMemoryStore();
    const first = visit(NOW, store);
    first.fail();
    first.tracker.track('old');
    await first.tracker.flush();
    const second = visit(NOW + 31 * DAY, store);
    await second.tracker.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(first.dropped).toEqual([['old', 'expired']]);
    expect(first.tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { expired: 1 } });
    expect([...first.names(), ...second.names()]).toEqual([]);
  });
});
