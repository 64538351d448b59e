// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { type Answer, cookieDomain, type Store, type Transport } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);
type TestTab = ReturnType<typeof start>;
const clearLocalStorage = () => {
  for (const key of Object.keys(localStorage)) delete localStorage[key];
};

/** The same store, whose transactions of records wait until `release`. */
const slowStore = (store: Store) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const transact: Store['transact'] = async (...what) => {
    if (what[1]) await held;
    return store.transact(...what);
  };
  return { slow: { ...store, transact }, release };
};

/** A store whose transactions of records wait from `hold` to `release`. */
const holdStore = () => {
  const base = createMemoryStore();
  let held: Promise<void> | undefined;
  let release = () => {};
  const transact: Store['transact'] = async (...what) => {
    if (what[1]) await held;
    return base.transact(...what);
  };
  const hold = () => {
    held = new Promise((resolve) => {
      release = resolve;
    });
  };
  return { slow: { ...base, transact }, hold, release: () => release() };
};

/** Two tabs of one origin, both with Ann. Messages to the first one can be late, as to a frozen page. */
const openTabs = async () => {
  const { freeze, thaw } = connectTabs();
  openPage();
  const first = start({ baseUrl: '/clew' });
  const { store, transport } = first;
  await first.tracker.flush();
  const second = start({ baseUrl: '/clew', store, transport });
  second.tracker.identify('ann');
  await second.tracker.flush();
  await later();
  const refused = await second.tracker.correlationValue();
  const record = () =>
    new Promise<unknown>((resolve) => void store.transact([], 'visitor', (stored) => void resolve(stored)));
  const ids = () => Promise.all([first.tracker.correlationValue(), second.tracker.correlationValue()]);
  return { first, second, store, freeze, thaw, refused, record, ids };
};

const refuseAndConsent = async ({ tracker }: ReturnType<typeof start>, ms = 1000) => {
  tracker.consent(false);
  await later(ms);
  tracker.consent(true);
  await later(ms);
};

describe('a tab that learns of a refusal after the next consent', () => {
  it('erases nothing that another tab has stored since, and has its visitor', async () => {
    const { first, second, store, freeze, thaw, refused, record, ids } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    first.fail();
    second.tracker.identify('bob');
    second.tracker.setProperties({ plan: 'pro' });
    second.tracker.track('since');
    await later();
    await thaw();
    await later();
    expect(await record()).toMatchObject({ keys: { '/clew': ['bob', undefined] } });
    expect((await store.read('/clew')).flatMap(([, texts]) => texts).join()).toContain('since');
    const [id, other] = await ids();
    expect(id).toBe(other);
    expect(id).not.toBe(refused);
    // The tab that has stored the events crashes: its transport ends.
    first.recover();
    first.tracker.track('here');
    await first.tracker.flush();
    expect(first.events('since')).toHaveLength(1);
    expect(first.events('here').map(({ correlationValue }) => correlationValue)).toEqual([id]);
  });

  it('erases nothing even if the visitor has refused and consented twice', async () => {
    const { first, second, freeze, thaw, record, ids } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    await refuseAndConsent(second);
    second.tracker.identify('bob');
    await second.tracker.flush();
    const { thread } = (await record()) as { thread: string };
    await thaw();
    await later();
    expect(await record()).toMatchObject({ thread, keys: { '/clew': ['bob', undefined] } });
    expect(await ids()).toEqual([thread, thread]);
    expect(first.dropped).toEqual([]);
  });

  it('drops its own events, which the refusal has ended', async () => {
    const { first, second, freeze, thaw } = await openTabs();
    first.fail();
    first.tracker.track('before');
    await later();
    freeze();
    await refuseAndConsent(second);
    await thaw();
    await later();
    first.recover();
    await first.tracker.flush();
    await later(20_000);
    expect([first.events('before'), first.dropped]).toEqual([[], [['before', 'consent']]]);
  });
});

describe('a tab that knows neither of a refusal nor of the consent after it', () => {
  it.each([
    ['identifies', (tab: TestTab) => tab.tracker.identify('carl')],
    ['resets', (tab: TestTab) => tab.tracker.reset()],
  ])('changes nothing for the others if it %s', async (_what, change) => {
    const { first, second, freeze, thaw, record, ids } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    const fresh = await second.tracker.correlationValue();
    change(first);
    await later(20);
    expect(await second.tracker.correlationValue()).toBe(fresh);
    expect(await record()).toMatchObject({ thread: fresh, keys: {} });
    await thaw();
    await later();
    expect(await ids()).toEqual([fresh, fresh]);
    second.tracker.track('since');
    await second.tracker.flush();
    expect(first.events('since').map(({ correlationValue }) => correlationValue)).toEqual([fresh]);
  });

  it('does not take the refusal for a deletion of the site’s data, however late the message is', async () => {
    const { first, second, freeze, thaw, refused, ids } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    first.tracker.setProperties({ here: 1 });
    first.tracker.identify('ann', undefined, { signature: 'newer' });
    await later(5000);
    const [id, other] = await ids();
    expect([id, id === refused]).toEqual([other, false]);
    await thaw();
    await later();
    expect(await ids()).toEqual([id, id]);
  });

  it('does not write its visitor in place of a record that the site has deleted', async () => {
    const { first, second, store, freeze, thaw, refused, record, ids } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    store.clear('/other', ['visitor']);
    first.tracker.identify('carl');
    await later(20);
    await thaw();
    await later();
    const [id, other] = await ids();
    expect([id, id === refused, await record()]).toEqual([
      other,
      false,
      expect.objectContaining({ thread: id, keys: {} }),
    ]);
  });

  it('leaves a journal from which no page takes the visitor', async () => {
    const { freeze, thaw } = connectTabs();
    const page = openPage();
    const first = start({ baseUrl: '/clew' });
    const { store, transport } = first;
    await first.tracker.flush();
    const refused = await first.tracker.correlationValue();
    openPage();
    const second = start({ baseUrl: '/clew', store, transport });
    await second.tracker.flush();
    freeze();
    await refuseAndConsent(second);
    const fresh = await second.tracker.correlationValue();
    first.tracker.reset();
    page.leave();
    await later(20);
    const third = start({ baseUrl: '/clew', store, transport });
    await third.tracker.flush();
    await later();
    expect([fresh === refused, await third.tracker.correlationValue()]).toEqual([false, fresh]);
    await thaw();
  });

  it('leaves alone the properties that wait under the new consent', async () => {
    const { first, second, freeze, thaw } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    second.tracker.setProperties({ since: 1 });
    await later();
    first.tracker.reset();
    await later(20);
    await thaw();
    await later();
    second.tracker.identify('bob');
    await second.tracker.flush();
    expect(first.upserts().map(({ properties }) => properties)).toEqual([{ since: 1 }]);
  });

  it('brings its visitor to no page that is loading', async () => {
    const { first, second, store, freeze, thaw, refused, record } = await openTabs();
    freeze();
    await refuseAndConsent(second);
    const fresh = await second.tracker.correlationValue();
    const { slow, release } = slowStore(store);
    const third = start({ baseUrl: '/clew', store: slow, transport: first.transport });
    await later(10);
    first.tracker.identify('ann', undefined, { signature: 'newer' });
    await later(10);
    release();
    await later(20);
    await thaw();
    await later();
    expect([fresh === refused, await third.tracker.correlationValue()]).toEqual([false, fresh]);
    expect(await record()).toMatchObject({ thread: fresh, keys: {} });
  });

  it('does not write its visitor into the cookie when an answer arrives', async () => {
    openPage();
    let answer = () => {};
    const shared = () => ({ cookieDomain: cookieDomain('shop.example') });
    const base = start({ baseUrl: '/other' });
    // After the tracker of the transport: `freeze` holds back the messages to the first tab.
    const { freeze, thaw } = connectTabs();
    let held: Promise<void> | undefined;
    const transport: Transport = (request) => {
      const answered = base.transport(request);
      return held ? held.then(() => answered as Promise<Answer>) : answered;
    };
    const first = start({ baseUrl: '/clew', transport, compress: false, ...shared() });
    first.tracker.identify('ann');
    await first.tracker.flush();
    const refused = await first.tracker.correlationValue();
    held = new Promise((resolve) => {
      answer = resolve;
    });
    first.tracker.track('in_flight');
    first.tracker.flush();
    await later();
    const second = start({ baseUrl: '/clew', store: first.store, transport: base.transport, ...shared() });
    await later();
    freeze();
    second.tracker.consent(false);
    second.tracker.consent(true);
    await later(20);
    answer();
    await later(20);
    expect(document.cookie).not.toContain(refused);
    await thaw();
    await later();
    expect(await second.tracker.correlationValue()).not.toBe(refused);
  });
});

describe('two refusals in one task', () => {
  it('leave what is stored after the second one', async () => {
    const { first, second, freeze, thaw, record } = await openTabs();
    freeze();
    for (const isGranted of [false, true, false]) second.tracker.consent(isGranted);
    await later();
    second.tracker.consent(true);
    await later();
    second.tracker.identify('bob');
    await second.tracker.flush();
    first.fail();
    second.tracker.track('since');
    await later();
    await thaw();
    await later();
    second.tracker.setProperties({ plan: 'pro' });
    await later();
    first.recover();
    await second.tracker.flush();
    await later(20_000);
    expect([first.events('since').length, second.dropped]).toEqual([1, []]);
    expect([first.upserts().map(({ properties }) => properties), await record()]).toMatchObject([
      [{ plan: 'pro' }],
      { keys: { '/clew': ['bob', undefined] } },
    ]);
  });
});

it('a tab that refuses itself is not started by an older consent of another tab', async () => {
  const { first, second, freeze, thaw } = await openTabs();
  freeze();
  await refuseAndConsent(second);
  first.tracker.consent(false);
  await thaw();
  await later();
  first.tracker.track('after');
  await later();
  expect([first.events('after'), first.dropped]).toEqual([[], [['after', 'consent']]]);
});

describe('after a log-out that has deleted the site’s data, and another page load', () => {
  /** Two tabs from before, and one from after. */
  const logOut = async () => {
    const tabs = await openTabs();
    const { first, store } = tabs;
    clearLocalStorage();
    store.clear('/clew', ['visitor', 'link /clew']);
    const third = start({ baseUrl: '/clew', store, transport: first.transport });
    await third.tracker.flush();
    await later();
    return { ...tabs, third };
  };

  it('a tab from before can identify the next person, and loses no event', async () => {
    const { first, third, record } = await logOut();
    first.tracker.track('before');
    first.tracker.identify('bob', { plan: 'pro' });
    first.tracker.track('after');
    await later();
    await first.tracker.flush();
    expect(first.dropped).toEqual([]);
    expect(first.names()).toEqual(expect.arrayContaining(['before', 'after']));
    expect(first.events('$identify').map(({ payload }) => payload)).toEqual([
      { distinct_id: 'ann' },
      { distinct_id: 'bob' },
    ]);
    expect(first.upserts().map(({ properties }) => properties)).toEqual([{ plan: 'pro' }]);
    expect(await record()).toMatchObject({ keys: { '/clew': ['bob', undefined] } });
    const ids = await Promise.all([first, third].map(({ tracker }) => tracker.correlationValue()));
    expect(new Set(ids).size).toBe(1);
  });

  it('a tab from before keeps its unsent events when the page from after identifies a person', async () => {
    const { first, third } = await logOut();
    first.fail();
    first.tracker.track('unsent');
    await later();
    third.tracker.identify('bob');
    await later();
    first.recover();
    await first.tracker.flush();
    await later(20_000);
    expect([first.events('unsent').length, first.dropped]).toEqual([1, []]);
  });

  it.each([
    ['identifies a person', (tab: TestTab) => tab.tracker.identify('bob')],
    ['resets', (tab: TestTab) => tab.tracker.reset()],
    ['does nothing', () => {}],
  ])('a refusal ends all tabs, although one from before %s at that moment', async (_what, act) => {
    const { first, second, third } = await logOut();
    third.tracker.consent(false);
    act(second);
    await later();
    first.tracker.track('after');
    second.tracker.track('after');
    await later(5000);
    expect([first.events('after'), Object.keys(localStorage)]).toEqual([[], []]);
  });
});

it('a page whose data vanish while it loads is not refused', async () => {
  const { first, store } = await openTabs();
  const { slow, release } = slowStore(store);
  const loading = start({ baseUrl: '/clew', store: slow, transport: first.transport });
  loading.tracker.track('early');
  await later(10);
  clearLocalStorage();
  store.clear('/clew', ['visitor', 'link /clew']);
  release();
  await later();
  loading.tracker.track('after');
  await loading.tracker.flush();
  expect([first.names().slice(-2), loading.dropped]).toEqual([['early', 'after'], []]);
});

it('a refusal that a tab learns of late leaves the customer of another service', async () => {
  const { store, second, freeze, thaw, record } = await openTabs();
  freeze();
  second.tracker.consent(false);
  await later();
  const other = start({ baseUrl: '/other', store });
  other.tracker.identify('zoe');
  await other.tracker.flush();
  await thaw();
  await later();
  expect(await record()).toMatchObject({ keys: { '/other': ['zoe', undefined] } });
});

it('a tab that learns of a refusal late and leaves meanwhile hands over and journals nothing', async () => {
  // A frozen tab runs no timers. With this back-off, its next attempt comes after it has left.
  vi.spyOn(Math, 'random').mockReturnValue(0.9);
  const { freeze } = connectTabs();
  const page = openPage();
  const first = start({ baseUrl: '/clew' });
  const { store, transport } = first;
  await later();
  openPage();
  const second = start({ baseUrl: '/clew', store, transport });
  await later();
  first.fail();
  first.tracker.track('before');
  await later();
  freeze();
  await refuseAndConsent(second, 5);
  first.recover();
  page.leave();
  const left = JSON.stringify({ ...localStorage });
  await later();
  const third = start({ baseUrl: '/clew', store, transport });
  await later(20_000);
  await third.tracker.flush();
  expect([first.names(), left.includes('before'), first.dropped]).toEqual([[], false, [['before', 'consent']]]);
});

it('a tab that learns of a refusal late and leaves while it asks the database journals no identify()', async () => {
  const { freeze } = connectTabs();
  const page = openPage();
  const { slow, hold, release } = holdStore();
  const first = start({ baseUrl: '/clew', store: slow });
  const { store, transport } = first;
  await later();
  const refused = await first.tracker.correlationValue();
  openPage();
  const second = start({ baseUrl: '/clew', store, transport });
  await later();
  freeze();
  await refuseAndConsent(second, 5);
  hold();
  first.tracker.identify('bob');
  await settle();
  page.leave();
  release();
  await later();
  openPage();
  start({ baseUrl: '/clew', store, transport });
  await later(20_000);
  expect(first.events().filter(({ correlationValue }) => correlationValue === refused)).toEqual([]);
});

it('flush() settles in a tab that learns of a refusal while it waits to ask the database again', async () => {
  const { first, second, store, freeze, thaw } = await openTabs();
  freeze();
  second.tracker.consent(false);
  await later();
  // A page that does not know of the refusal makes another epoch.
  start({ baseUrl: '/clew', store, transport: first.transport });
  await later();
  first.tracker.identify('bob');
  await later(10);
  await thaw();
  let isSettled = false;
  first.tracker.flush().then(() => {
    isSettled = true;
  });
  await later();
  expect(isSettled).toBe(true);
});

it('a tab that waits for consent erases nothing at a refusal in another tab', async () => {
  const { freeze, thaw } = connectTabs();
  openPage();
  const waiting = start({ baseUrl: '/clew', consent: 'required' });
  const { store, transport } = waiting;
  const second = start({ baseUrl: '/clew', store, transport });
  await second.tracker.flush();
  freeze();
  await refuseAndConsent(second);
  const fresh = await second.tracker.correlationValue();
  await thaw();
  await later();
  expect(await waiting.tracker.correlationValue()).toBe(fresh);
  expect(await second.tracker.correlationValue()).toBe(fresh);
});

it('a refusal in a tab that began after the site’s data were deleted also ends an older tab', async () => {
  const { first, second, store } = await openTabs();
  second.tracker.stop();
  store.clear('/clew', ['visitor']);
  clearLocalStorage();
  const { transport } = first;
  const third = start({ baseUrl: '/clew', store, transport });
  third.tracker.consent(false);
  await later();
  first.tracker.track('after');
  await later();
  expect(first.dropped).toEqual([['after', 'consent']]);
  expect(Object.keys(localStorage)).toEqual([]);
});

it('a refusal that another version of clew passes ends a tab, whatever its epoch', async () => {
  const { first, record } = await openTabs();
  new BroadcastChannel('clew /clew').postMessage(false);
  await later();
  first.tracker.track('after');
  await later();
  expect([first.dropped, await record()]).toEqual([[['after', 'consent']], undefined]);
});

it('a hint from before a refusal, which a crash brings back, counts less than the record', async () => {
  openPage();
  const first = start({ baseUrl: '/clew' });
  const { store, transport } = first;
  first.tracker.identify('ann');
  await first.tracker.flush();
  const refused = await first.tracker.correlationValue();
  const before = { ...localStorage };
  await refuseAndConsent(first);
  const fresh = await first.tracker.correlationValue();
  clearLocalStorage();
  Object.assign(localStorage, before);
  openPage();
  const second = start({ baseUrl: '/clew', store, transport });
  second.tracker.track('since');
  await settle();
  await second.tracker.flush();
  expect(first.events('since').map(({ correlationValue }) => correlationValue)).toEqual([fresh]);
  expect([fresh === refused, second.dropped, Object.values(localStorage).join().includes(refused)]).toEqual([
    false,
    [],
    false,
  ]);
});

it('with cookieDomain, identify() while a tab asks the database again sends its $identify', async () => {
  connectTabs();
  openPage();
  const { slow, hold, release } = holdStore();
  const shared = { cookieDomain: cookieDomain('shop.example') };
  const { tracker, events } = start({ baseUrl: '/clew', store: slow, ...shared });
  await tracker.flush();
  hold();
  // Another tab has begun with another first visitor id.
  const thread = '0f5cbf3e-7d0b-4c52-9d4c-3c8f9a3c1c11';
  new BroadcastChannel('clew /clew').postMessage({ thread, turn: 0, keys: {}, pages: 1 });
  await settle();
  tracker.identify('bob');
  await settle();
  release();
  await tracker.flush();
  expect(events('$identify').map(({ payload }) => payload)).toEqual([{ distinct_id: 'bob' }]);
});

describe('while another tab loads', () => {
  /** A tab with this store loads beside an open one, where Ann is identified. */
  const loadBeside = async () => {
    const tabs = await openTabs();
    const { slow, release } = slowStore(tabs.store);
    const loading = start({ baseUrl: '/clew', store: slow, transport: tabs.first.transport });
    await later(10);
    return { ...tabs, loading, release };
  };

  it('its properties go to the person whom an open tab has just identified', async () => {
    const { first, second, loading, release } = await loadBeside();
    second.tracker.identify('bob');
    await later(5);
    loading.tracker.setProperties({ plan: 'pro' });
    release();
    await later();
    await second.tracker.flush();
    expect(first.upserts()).toMatchObject([{ primary_key: 'bob', properties: { plan: 'pro' } }]);
  });

  it('its events do not go to a person who has just logged out, also after localStorage.clear()', async () => {
    const { first, second, store } = await openTabs();
    clearLocalStorage();
    const { slow, release } = slowStore(store);
    const loading = start({ baseUrl: '/clew', store: slow, transport: first.transport });
    await later(10);
    const before = await second.tracker.correlationValue();
    second.tracker.reset();
    await later(5);
    loading.tracker.track('after');
    release();
    await later();
    await loading.tracker.flush();
    expect(first.events('after').map(({ correlationValue }) => correlationValue)).not.toContain(before);
  });
});

it('another tab’s consent starts a tab, although the clock was set back since the refusal', async () => {
  const { first, second } = await openTabs();
  second.tracker.consent(false);
  await later();
  vi.setSystemTime(Date.now() - 60_000);
  second.tracker.consent(true);
  await later();
  expect(await first.tracker.correlationValue()).toBe(await second.tracker.correlationValue());
});

it('a tab is not refused if the site deletes its data twice', async () => {
  const { first, store } = await openTabs();
  const clearAll = () => {
    clearLocalStorage();
    store.clear('/clew', ['visitor', 'link /clew']);
  };
  clearAll();
  await later(60);
  const next = start({ baseUrl: '/clew', store, transport: first.transport });
  await later(10);
  clearAll();
  await later();
  first.tracker.identify('bob');
  await later();
  await next.tracker.flush();
  await first.tracker.flush();
  expect(first.dropped).toEqual([]);
  expect(first.events('$identify').map(({ payload }) => payload)).toContainEqual({ distinct_id: 'bob' });
});

it('a page that has missed a refusal and tracks an event does not write the refused cookie again', async () => {
  const page = openPage('https://www.shop.example/');
  const shared = () => ({ baseUrl: '/clew', cookieDomain: cookieDomain('shop.example'), compress: false });
  const first = start(shared());
  const { store, transport } = first;
  const refused = await first.tracker.correlationValue();
  const second = start({ ...shared(), store, transport });
  await second.tracker.correlationValue();
  second.tracker.consent(false);
  first.tracker.track('after');
  await later(5000);
  expect([page.document.cookie, first.names()]).toEqual(['', []]);
  second.tracker.consent(true);
  expect(await second.tracker.correlationValue()).not.toBe(refused);
});
