// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { AnyEvents, Tracker } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

type Test = ReturnType<typeof start<AnyEvents>>;

describe('without consent', () => {
  it('nothing is written or sent, also when the page unloads', async () => {
    const page = openPage();
    const store = createMemoryStore();
    const written = vi.spyOn(store, 'transact');
    const { tracker, requests } = start({ consent: 'required', store });
    tracker.identify('ann');
    tracker.track('seen');
    tracker.reset();
    await tracker.flush();
    page.leave();
    await settle();
    expect([written.mock.calls, requests, Object.keys(localStorage)]).toEqual([[], [], []]);
  });

  it('calls are held in order until consent is given', async () => {
    openPage();
    const { tracker, names, upserts } = start({ consent: 'required' });
    tracker.track('a');
    tracker.identify('ann', { plan: 'pro' });
    tracker.track('b');
    let visitor = '';
    tracker.correlationValue().then((value) => {
      visitor = value;
    });
    await settle();
    expect(visitor).toBe('');
    tracker.consent(true);
    await tracker.flush();
    expect(names()).toEqual(['a', '$identify', 'b']);
    expect(upserts()).toMatchObject([{ primary_key: 'ann' }]);
    expect(visitor).toBe(await tracker.correlationValue());
  });
});

describe('the calls before consent', () => {
  it('have at most ten million characters, as the queue', async () => {
    openPage();
    const { tracker, dropped, errors } = start({ consent: 'required' });
    const text = 'x'.repeat(50_000);
    for (let n = 0; n < 250; n++) tracker.track('large', { text });
    expect(tracker.stats()).toMatchObject({ tracked: 250, queued: 200 });
    expect(dropped).toEqual(Array(50).fill(['large', 'full']));
    tracker.setProperties({ text });
    expect(errors).toEqual(['clew: setProperties: full']);
    tracker.consent(true);
    await tracker.flush();
    expect(tracker.stats()).toEqual({ tracked: 250, delivered: 200, queued: 0, dropped: { full: 50 } });
  });

  it('include properties that count, too', () => {
    openPage();
    const { tracker, errors } = start({ consent: 'required', maxQueuedEvents: 10 });
    for (let n = 0; n < 12; n++) tracker.setProperties({ n });
    tracker.track('later');
    expect(errors).toEqual(Array(2).fill('clew: setProperties: full'));
    expect(tracker.stats().dropped).toEqual({ full: 1 });
  });
});

describe('consent that is given twice', () => {
  it('changes neither the visitor id nor the number of the page load', async () => {
    openPage();
    const { tracker, events } = start({ consent: 'required' });
    tracker.consent(true);
    tracker.track('a');
    await tracker.flush();
    tracker.consent(true);
    tracker.track('b');
    await tracker.flush();
    const [load] = events()[0]?.seq ?? [];
    expect(events().map(({ seq }) => seq)).toEqual([
      [load, 1],
      [load, 2],
    ]);
    expect(new Set(events().map(({ correlationValue }) => correlationValue)).size).toBe(1);
  });
});

describe('respectGpc', () => {
  it('has no effect without a navigator', async () => {
    vi.stubGlobal('navigator', undefined);
    const { tracker, names } = start({ respectGpc: true });
    tracker.track('seen');
    await tracker.flush();
    expect(names()).toEqual(['seen']);
  });

  it('is overridden by consent(true)', async () => {
    const page = openPage();
    Object.assign(page.navigator, { globalPrivacyControl: true });
    const { tracker, names, dropped } = start({ respectGpc: true });
    tracker.track('before');
    tracker.consent(true);
    tracker.track('after');
    await tracker.flush();
    expect(dropped).toEqual([['before', 'consent']]);
    expect(names()).toEqual(['after']);
  });

  it('forgets no log-out and no log-in before consent(true)', async () => {
    const store = createMemoryStore();
    const open = () => {
      Object.assign(openPage().navigator, { globalPrivacyControl: true });
      return start({ baseUrl: '/clew', respectGpc: true, store });
    };
    const first = open();
    first.tracker.consent(true);
    first.tracker.identify('ann');
    await first.tracker.flush();
    first.tracker.stop();
    const { tracker, events, upserts, requests } = open();
    tracker.reset();
    tracker.identify('bob', { plan: 'pro' });
    await settle();
    expect(requests).toEqual([]);
    tracker.consent(true);
    tracker.track('seen');
    await tracker.flush();
    const [identify, seen] = events();
    expect([identify?.payload, seen?.event]).toEqual([{ distinct_id: 'bob' }, 'seen']);
    expect(identify?.correlationValue).toBe(seen?.correlationValue);
    expect(seen?.correlationValue).not.toBe(first.events()[0]?.correlationValue);
    expect(upserts()).toMatchObject([{ primary_key: 'bob', properties: { plan: 'pro' } }]);
  });
});

describe('a refusal', () => {
  it('in a listener of `change` counts, also within consent(true)', async () => {
    openPage();
    const { tracker, names, dropped } = start();
    tracker.consent(false);
    tracker.on('change', () => tracker.consent(false));
    tracker.consent(true);
    tracker.track('seen');
    await tracker.flush();
    expect([names(), dropped]).toEqual([[], [['seen', 'consent']]]);
  });

  it('in a listener of `change` counts in the other tabs, too', async () => {
    connectTabs();
    openPage();
    const store = createMemoryStore();
    const [one, two] = [start({ baseUrl: '/clew', store }), start({ baseUrl: '/clew', store })];
    one.tracker.consent(false);
    await settle();
    one.tracker.on('change', () => one.tracker.consent(false));
    one.tracker.consent(true);
    await settle();
    two.tracker.track('seen');
    await two.tracker.flush();
    expect([two.names(), two.dropped]).toEqual([[], [['seen', 'consent']]]);
  });

  it('erases stored rows, records and localStorage', async () => {
    openPage();
    const store = createMemoryStore();
    const { tracker, fail } = start({ baseUrl: '/clew', store });
    fail();
    tracker.identify('ann');
    tracker.track('seen');
    await tracker.flush();
    localStorage['clew.items /clew other'] = '[]';
    localStorage['clew.calls'] = '[]';
    localStorage['clew.settled /clew'] = '[]';
    localStorage['clew.visitor'] = '{}';
    localStorage['clew.tab'] = '"x"';
    localStorage.other = 'kept';
    expect(await store.read('/clew')).not.toEqual([]);
    tracker.consent(false);
    await settle();
    expect(await store.read('/clew')).toEqual([]);
    expect(await store.transact([], 'visitor', (old) => ({ isFound: !!old }))).toEqual({ isFound: false });
    expect(Object.keys(localStorage)).toEqual(['other']);
  });

  it("of one service leaves another service's events and records, and deletes the visitor id", async () => {
    openPage();
    const store = createMemoryStore();
    const [refused, other] = ['/clew', '/other'].map((baseUrl) => start({ baseUrl, store })) as [Test, Test];
    for (const { tracker, fail } of [refused, other]) {
      fail();
      tracker.identify('ann');
      tracker.track('seen');
      await tracker.flush();
    }
    refused.tracker.consent(false);
    await settle();
    expect(await store.read('/clew')).toEqual([]);
    expect(JSON.stringify(await store.read('/other'))).toContain('seen');
    const isFound = (name: string) => store.transact<object>([], name, (old) => (old ? { ...old, isFound: true } : {}));
    for (const name of ['visitor', 'link /clew']) expect(await isFound(name)).toEqual({});
    expect(await isFound('link /other')).toMatchObject({ isFound: true });
    other.recover();
    await other.tracker.flush();
    expect(other.names()).toEqual(['$identify', 'seen']);
  });

  it('drops a view that waits when the visitor consents, which one before the first answer does not', async () => {
    openPage();
    const { tracker, names, dropped } = start({ consent: 'required' });
    let asked = 0;
    tracker.on('change', () => {
      asked++;
      tracker.track('seen');
    });
    tracker.consent(true);
    expect(asked).toBe(0);
    tracker.consent(false);
    tracker.consent(true);
    tracker.consent(true);
    tracker.track('after');
    await tracker.flush();
    expect(asked).toBe(1);
    expect(dropped).toEqual([['seen', 'consent']]);
    expect(names()).toEqual(['after']);
  });

  it('drops the queue and all later events, and writes nothing', async () => {
    const page = openPage();
    const store = createMemoryStore();
    const { tracker, fail, dropped, requests } = start({ store });
    await tracker.flush();
    fail();
    tracker.track('queued');
    await tracker.flush();
    const before = requests.length;
    tracker.consent(false);
    const written = vi.spyOn(store, 'transact');
    tracker.track('later');
    tracker.identify('ann');
    await tracker.flush();
    page.show(true);
    page.leave();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(requests).toHaveLength(before);
    expect(written).not.toHaveBeenCalled();
    expect(dropped).toEqual([
      ['queued', 'consent'],
      ['later', 'consent'],
    ]);
    expect(tracker.stats()).toEqual({ tracked: 2, delivered: 0, queued: 0, dropped: { consent: 2 } });
  });

  it('counts no event as dropped that is already dropped as unserialisable', () => {
    openPage();
    const { tracker } = start();
    tracker.track('odd', { n: 1n });
    tracker.consent(false);
    expect(tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { unserialisable: 1 } });
  });

  it.each<[string, (tracker: Tracker) => void]>([
    ['tracks', (tracker) => tracker.track('again')],
    ['tracks twice', (tracker) => ['again', 'and again'].map((name) => tracker.track(name))],
    ['tracks an invalid name', (tracker) => tracker.track('')],
    ['tracks and flushes', (tracker) => void tracker.trackNow('again')],
  ])('lets a task end although a listener to dropped %s', async (_what, act) => {
    openPage();
    const { tracker } = start();
    let calls = 0;
    const stop = tracker.on('dropped', () => {
      // Without a bound the task would not end.
      if (calls++ > 20_000) stop();
      else act(tracker);
    });
    tracker.consent(false);
    tracker.track('first');
    await settle();
    expect(calls).toBeLessThan(3000);
    stop();
  });

  it.each<[string, (tracker: Tracker) => void]>([
    ['identify', (tracker) => tracker.identify('')],
    ['consent', (tracker) => tracker.consent('yes' as never)],
    ['setProperties', (tracker) => tracker.setProperties('x' as never)],
    ['track', (tracker) => tracker.track('')],
  ])('lets a task end although two listeners to error call %s with a wrong argument', async (_what, act) => {
    openPage();
    const { tracker } = start();
    let calls = 0;
    const listen = () => {
      if (calls++ < 20_000) act(tracker);
    };
    const stops = [tracker.on('error', listen), tracker.on('error', listen)];
    act(tracker);
    await settle();
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThan(3000);
    for (const stop of stops) stop();
  });

  it('can be withdrawn: later events get a new, anonymous visitor id', async () => {
    openPage();
    const { tracker, events } = start();
    tracker.identify('ann');
    const before = await tracker.correlationValue();
    tracker.consent(false);
    tracker.consent(true);
    tracker.track('seen');
    await tracker.flush();
    expect(events('seen')).toHaveLength(1);
    expect(events('seen')[0]?.correlationValue).not.toBe(before);
  });

  it('during a request leaves nothing stored when the answer arrives', async () => {
    openPage();
    const store = createMemoryStore();
    let answer = (_: { outcome: 'delivered' }) => {};
    const { tracker, delivered } = start({
      baseUrl: '/clew',
      store,
      transport: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    tracker.track('seen');
    tracker.flush();
    await settle();
    tracker.consent(false);
    answer({ outcome: 'delivered' });
    await settle();
    expect(delivered).toEqual([]);
    expect(tracker.stats()).toMatchObject({ dropped: { consent: 1 }, queued: 0 });
    expect(await store.read('/clew')).toEqual([]);
    expect(Object.keys(localStorage)).toEqual([]);
  });

  it.each([
    ['answers', false],
    ['is refused meanwhile', true],
  ])('in another tab applies to a page back from the back/forward cache whose store %s', async (_what, isBroken) => {
    const page = openPage();
    const store = createMemoryStore();
    const { tracker, requests, errors } = start({ store });
    await tracker.flush();
    page.leave();
    const before = requests.length;
    // The other tab erases everything.
    store.clear('/clew', ['visitor', 'link /clew']);
    for (const key of Object.keys(localStorage)) delete localStorage[key];
    if (isBroken) Object.assign(store, { transact: async () => undefined, read: async () => [] });
    page.restore();
    tracker.track('later');
    // A store that is only busy would have answered by then.
    await vi.advanceTimersByTimeAsync(20_000);
    expect(requests).toHaveLength(before);
    expect(tracker.stats()).toMatchObject({ dropped: { consent: 1 } });
    expect(Object.keys(localStorage)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
