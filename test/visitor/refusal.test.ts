// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { type Answer, cookieDomain, type Store, type TrackerOptions, type Transport } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = () => vi.advanceTimersByTimeAsync(1000);

/** The same store, whose transactions wait from `hold` until `release`. */
const holdable = (store: Store) => {
  let held: Promise<void> | undefined;
  let release = () => {};
  const transact: Store['transact'] = async (...what) => {
    await held;
    return store.transact(...what);
  };
  return {
    store: { ...store, transact },
    hold: () => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
  };
};

const open = (store: Store, options: Partial<TrackerOptions> = {}) => {
  openPage();
  return start({ baseUrl: '/clew', store, ...options });
};

it.each([
  ['that is asking the database', true],
  ['without a channel to other tabs', false],
])('a tab %s does not write the visitor again after a refusal in another tab', async (_what, isConnected) => {
  if (isConnected) connectTabs();
  const shared = createMemoryStore();
  const { store, hold, release } = holdable(shared);
  const asking = open(store);
  await asking.tracker.flush();
  const other = open(shared);
  await other.tracker.flush();
  hold();
  // The other tab’s hint has only the mark of the key, so this tab asks for the key.
  other.tracker.identify('ann');
  asking.tracker.setProperties({ plan: 'pro' });
  await vi.advanceTimersByTimeAsync(0);
  other.tracker.consent(false);
  release();
  await later();
  asking.tracker.track('after');
  await later();
  const found: unknown[] = [];
  await shared.transact([], 'visitor', (stored) => void found.push(stored));
  expect(found).toEqual([undefined]);
  expect(Object.keys(localStorage)).toEqual([]);
  expect(asking.names()).not.toContain('after');
  await expect(asking.tracker.correlationValue()).rejects.toThrow('refused');
});

it('a page that leaves just after a refusal in another tab notices it when restored', async () => {
  const store = createMemoryStore();
  const page = openPage();
  const { tracker, names } = start({ baseUrl: '/clew', store });
  await tracker.flush();
  const other = open(store);
  await other.tracker.flush();
  other.tracker.consent(false);
  tracker.track('leaving');
  page.leave();
  await later();
  page.restore();
  await later();
  tracker.track('back');
  await later();
  expect(Object.keys(localStorage)).toEqual([]);
  expect(names()).not.toContain('back');
  await expect(tracker.correlationValue()).rejects.toThrow('refused');
});

describe('a hint that a page of the site has erased is no refusal', () => {
  const clearLocalStorage = () => {
    for (const key of Object.keys(localStorage)) delete localStorage[key];
  };

  /** The store, which answers nothing while `isBusy`. */
  const busyStore = () => {
    const shared = createMemoryStore();
    const busy = { isBusy: false, store: shared };
    const transact: Store['transact'] = (...what) =>
      busy.isBusy ? Promise.resolve(undefined) : shared.transact(...what);
    busy.store = { ...shared, transact, read: async (...query) => (busy.isBusy ? [] : shared.read(...query)) };
    return busy;
  };

  /** A page comes back from the back/forward cache. The site has cleared localStorage meanwhile, and the database is busy. */
  const comeBack = async () => {
    const busy = busyStore();
    const page = openPage();
    const { tracker, names } = start({ baseUrl: '/clew', store: busy.store });
    await tracker.flush();
    const visitorId = await tracker.correlationValue();
    page.leave();
    clearLocalStorage();
    busy.isBusy = true;
    page.restore();
    return { busy, page, tracker, names, visitorId };
  };

  it('for a page back from the back/forward cache whose database is busy', async () => {
    const { busy, tracker, names, visitorId } = await comeBack();
    tracker.track('later');
    await later();
    busy.isBusy = false;
    await vi.advanceTimersByTimeAsync(5000);
    await tracker.flush();
    expect([names(), await tracker.correlationValue()]).toEqual([['later'], visitorId]);
  });

  it('for a page that leaves again before its database has answered', async () => {
    const { busy, page, tracker, visitorId } = await comeBack();
    page.leave();
    await vi.advanceTimersByTimeAsync(30_000);
    busy.isBusy = false;
    page.restore();
    await later();
    expect(await tracker.correlationValue()).toBe(visitorId);
  });

  it('for a tracker that was stopped: it drops its own calls and nothing else', async () => {
    const store = createMemoryStore();
    const first = open(store);
    await first.tracker.flush();
    const visitorId = await first.tracker.correlationValue();
    first.tracker.stop();
    clearLocalStorage();
    first.tracker.track('logged_out');
    await later();
    expect(first.dropped).toEqual([['logged_out', 'consent']]);
    const next = open(store);
    await next.tracker.flush();
    expect(await next.tracker.correlationValue()).toBe(visitorId);
  });
});

describe('a refusal of one service on another page', () => {
  /** A page with trackers of two services is in the back/forward cache, and the visitor refuses the first one. */
  const comeBack = async (...services: string[]) => {
    const store = createMemoryStore();
    const page = openPage();
    const trackers = services.map((baseUrl) => start({ baseUrl, store }));
    for (const { tracker } of trackers) await tracker.flush();
    const ids = await Promise.all(trackers.map(({ tracker }) => tracker.correlationValue()));
    page.leave();
    const other = open(store);
    await other.tracker.flush();
    other.tracker.consent(false);
    await later();
    page.restore();
    for (const { tracker } of trackers) tracker.track('back');
    await later();
    const [refused, kept] = ['/clew', '/other'].map((one) => services.indexOf(one)) as [number, number];
    return { store, page, refused: trackers[refused], kept: trackers[kept], keptId: ids[kept] };
  };

  it.each([
    ['first', ['/clew', '/other']],
    ['last', ['/other', '/clew']],
  ])('refuses only its own tracker of a cached page, which began %s', async (_place, services) => {
    const { store, page, refused, kept, keptId } = await comeBack(...services);
    expect([refused?.names(), refused?.dropped]).toEqual([[], [['back', 'consent']]]);
    expect([kept?.names(), kept?.dropped]).toEqual([['back'], []]);
    expect(await kept?.tracker.correlationValue()).toBe(keptId);
    page.leave();
    const marks = Object.keys(localStorage).filter((key) => key.startsWith('clew.used'));
    expect([await store.read('/clew'), marks]).toEqual([[], ['clew.used /other']]);
  });
});

describe('a late answer of a tracker that was stopped', () => {
  const stopped = async (options: Partial<TrackerOptions>) => {
    connectTabs();
    const store = createMemoryStore();
    const answers: ((answer: Answer) => void)[] = [];
    const transport: Transport = ({ leaving }) => !leaving && new Promise((resolve) => void answers.push(resolve));
    const first = open(store, { ...options, transport });
    await first.tracker.correlationValue();
    for (const name of ['a', 'b', 'c']) first.tracker.track(name);
    await vi.advanceTimersByTimeAsync(0);
    for (const name of ['d', 'e', 'f']) first.tracker.track(name);
    first.tracker.flush();
    await later();
    first.tracker.stop();
    const second = start({ baseUrl: '/clew', store, ...options });
    await second.tracker.correlationValue();
    second.tracker.consent(false);
    await later();
    for (const answer of answers) answer({ outcome: 'delivered', status: 200 });
    await later();
    expect(answers.length).toBeGreaterThan(0);
    return store;
  };

  it('stores nothing after a refusal', async () => {
    const store = await stopped({ maxBatchEvents: 4 });
    expect([await store.read('/clew'), Object.keys(localStorage)]).toEqual([[], []]);
  });

  it('writes no cookie after a refusal', async () => {
    await stopped({ cookieDomain: cookieDomain('shop.example') });
    expect(document.cookie).toBe('');
  });
});

it('a page that leaves before its database has answered leaves the cookie of cookieDomain as it is', async () => {
  const options = () => ({ cookieDomain: cookieDomain('shop.example') });
  const first = open(createMemoryStore(), options());
  await first.tracker.flush();
  first.tracker.stop();
  const { cookie } = document;
  expect(cookie).not.toBe('');
  const page = openPage();
  const { tracker } = start({ baseUrl: '/clew', ...options() });
  tracker.track('clicked');
  page.leave();
  // A beacon is answered in a microtask.
  await vi.advanceTimersByTimeAsync(0);
  expect(document.cookie).toBe(cookie);
});

it('correlationValue() rejects if the tracker is stopped before it knows whether the visitor has refused', async () => {
  const page = openPage();
  const { tracker } = start({ baseUrl: '/clew' });
  await tracker.flush();
  page.leave();
  // A refusal on another page deletes these keys.
  for (const key of Object.keys(localStorage)) delete localStorage[key];
  page.restore();
  const asked = tracker.correlationValue();
  tracker.stop();
  await expect(asked).rejects.toThrow('stopped');
});
