import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../sim/world/random.ts';
import { normaliseOptions } from '../../src/api/options.ts';
import { redactUrls, type Tracker } from '../../src/index.ts';
import { pageViews } from '../../src/page/navigation.ts';
import { type EngagementOptions, engagement } from '../../src/plugins/engagement.ts';
import { createMemoryStore, createTestTracker, createTestTransport } from '../../src/testing.ts';
import { startTracker } from '../../src/tracker.ts';
import { type FakePage, openPage, settle } from './page.ts';
import { IDLE, visit } from './visits.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Left {
  path: string;
  url: string;
  activeTime: number;
  totalTime: number;
  scrollDepth?: number;
  part: number;
}

/** Opens a page with the real tracker, the plugin and, unless `hasViews` is false, page views. */
const open = async (
  options?: EngagementOptions,
  hasViews = true,
  isShown = true,
  querySelector: (selector: string) => object | null = () => null,
) => {
  const page = openPage('/');
  Object.assign(document, { querySelector });
  if (!isShown) page.look(false, false);
  const { tracker, events } = createTestTracker({
    plugins: [engagement(options)],
    pageViews: hasViews ? pageViews() : undefined,
  });
  stops.push(tracker.stop);
  await settle();
  /** Events that have arrived without that any time passes. */
  const left = async () => {
    await settle();
    return events('page_left').map(({ payload }) => payload as Left);
  };
  return { page, tracker, events, left };
};

/** A page that ann has seen for three seconds when bob logs in, in another tab beside it. */
const openBeside = async (options?: EngagementOptions) => {
  const page = openPage('/');
  const store = createMemoryStore();
  const [one, two] = [createTestTracker({ store, plugins: [engagement(options)] }), createTestTracker({ store })];
  stops.push(one.tracker.stop, two.tracker.stop);
  one.tracker.identify('ann');
  await settle();
  page.pass(3000);
  two.tracker.reset();
  two.tracker.identify('bob');
  await settle();
  return { page, store, one, two };
};

describe('a view', () => {
  it('is tracked once, when the next view begins, with its own address', async () => {
    const { page, left, tracker } = await open();
    page.pass(5000);
    page.push('/cart');
    page.pass(5000);
    await tracker.flush();
    expect(await left()).toEqual([
      {
        url: 'https://shop.example/',
        path: '/',
        title: 'Title',
        activeTime: 5100,
        totalTime: 5100,
        scrollDepth: 40,
        part: 1,
      },
    ]);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ path: '/' }, { path: '/cart', activeTime: 4900, part: 1 }]);
  });

  it('in a hidden tab has another event only if the visitor returns to it', async () => {
    const { page, left } = await open();
    page.pass(5000);
    page.look(false, false);
    expect(await left()).toMatchObject([{ activeTime: 5000, totalTime: 5000, part: 1 }]);
    page.pass(60_000);
    page.look(true, true);
    page.pass(2000);
    page.look(false, false);
    page.fire('pagehide', { persisted: false });
    expect((await left()).slice(1)).toMatchObject([{ activeTime: 2000, totalTime: 7000, part: 2 }]);
  });

  it('from the back/forward cache is a new one', async () => {
    const { page, left } = await open();
    page.pass(3000);
    page.fire('pagehide', { persisted: true });
    page.look(false, false);
    page.pass(100_000);
    page.look(true, true);
    page.fire('pageshow', { persisted: true });
    page.pass(2000);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([
      { activeTime: 3000, part: 1 },
      { activeTime: 2000, totalTime: 2000, part: 1 },
    ]);
  });

  it('that is tracked as the page leaves has an event, too', async () => {
    const { page, left } = await open();
    page.pass(3000);
    page.push('/cart');
    page.pass(50);
    page.fire('pagehide', { persisted: false });
    expect((await left()).map(({ path }) => path)).toEqual(['/', '/cart']);
  });

  it('whose page_view came before the plugin ends with the next one', async () => {
    const page = openPage('/');
    const { tracker, events } = createTestTracker({ pageViews: pageViews() });
    stops.push(tracker.stop);
    page.pass(1000);
    tracker.use(engagement());
    page.pass(1000);
    page.push('/cart');
    page.pass(1000);
    await tracker.flush();
    await settle();
    expect(events('page_left').map(({ payload }) => payload)).toMatchObject([{ path: '/', activeTime: 1100 }]);
  });

  it('of an address that redirects as it loads is one view', async () => {
    const { page, left } = await open();
    page.pass(50);
    page.push('/home', 'replace');
    page.pass(3000);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ path: '/home', activeTime: 3050 }]);
  });

  it('of a page that a link in itself has opened is one view', async () => {
    const page = openPage('/', {}, 'https://shop.example/');
    const { tracker, events } = createTestTracker({ plugins: [engagement()], pageViews: pageViews() });
    page.pass(3000);
    tracker.stop();
    await settle();
    expect(events('page_left').map(({ payload }) => payload)).toMatchObject([{ path: '/', activeTime: 3000 }]);
  });

  it('in a tab that is opened in the background begins to count when the visitor sees it', async () => {
    const { page, left } = await open({}, true, false);
    page.pass(50_000);
    page.look(true, true);
    page.pass(2000);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ activeTime: 2000, part: 1 }]);
  });

  it('that ends before its event is tracked does not lose it to the next view', async () => {
    const { tracker, left } = await open({}, false);
    for (const path of ['/a', '/b', '/c']) tracker.page({ path });
    await tracker.flush();
    expect((await left()).map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  it('ends with stop(), and nothing follows', async () => {
    const { page, tracker, left } = await open();
    page.pass(3000);
    tracker.stop();
    page.look(false, false);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ activeTime: 3000 }]);
  });

  it('belongs to the visitor who has seen it', async () => {
    const { page, tracker, events, left } = await open();
    page.pass(3000);
    const ann = await tracker.correlationValue();
    tracker.identify('ann');
    tracker.reset();
    page.pass(1000);
    tracker.stop();
    expect(await left()).toMatchObject([{ activeTime: 3000 }, { activeTime: 1000, totalTime: 1000, part: 1 }]);
    const [first, second] = events('page_left').map(({ correlationValue }) => correlationValue);
    expect(first).toBe(ann);
    expect(second).not.toBe(ann);
  });

  type Act = (tracker: Tracker, page: FakePage) => void;
  it.each<[string, Act, object[]]>([
    [
      'reset, then another address',
      (tracker, page) => {
        tracker.reset();
        page.push('/login');
      },
      [
        { path: '/', isByAnn: true },
        { path: '/login', isByAnn: false },
      ],
    ],
    [
      'another address, then reset',
      (tracker, page) => {
        page.push('/login');
        tracker.reset();
      },
      [
        { path: '/', isByAnn: true },
        { path: '/login', isByAnn: false },
      ],
    ],
    [
      'reset, then another document',
      (tracker, page) => {
        tracker.reset();
        page.fire('pagehide', { persisted: false });
      },
      [{ path: '/', isByAnn: true }],
    ],
    [
      'a refusal, another address, then consent',
      (tracker, page) => {
        tracker.consent(false);
        page.pass(5000);
        page.push('/login');
        page.pass(50);
        tracker.consent(true);
      },
      [{ path: '/login', isByAnn: false }],
    ],
  ])('that the visitor before has left is not reported for the next visitor: %s', async (_case, act, expected) => {
    const { page, tracker, events } = await open();
    tracker.identify('ann');
    const ann = await tracker.correlationValue();
    page.pass(5000);
    act(tracker, page);
    await settle();
    page.pass(3000);
    page.fire('pagehide', { persisted: false });
    await settle();
    const left = events('page_left').map(({ correlationValue, payload }) => ({
      path: (payload as Left).path,
      isByAnn: correlationValue === ann,
    }));
    expect(left).toEqual(expected);
  });

  it.each([
    [200, [3000]],
    [201, [3000, 201]],
  ])('that the next visitor has seen for %i ms has events of %j ms', async (ms, expected) => {
    const { page, tracker, left } = await open();
    page.pass(3000);
    tracker.identify('ann');
    tracker.reset();
    page.pass(ms);
    tracker.stop();
    expect((await left()).map(({ activeTime }) => activeTime)).toEqual(expected);
  });

  it('that is tracked as the next visitor begins is not left by that visitor', async () => {
    const { page, tracker, events } = await open(undefined, false);
    tracker.identify('ann');
    const ann = await tracker.correlationValue();
    tracker.track('page_view', { path: '/' });
    page.pass(3000);
    // A view may have waited for its title.
    tracker.on('change', () => tracker.track('page_view', { path: '/account' }));
    tracker.reset();
    page.pass(150);
    tracker.track('page_view', { path: '/bye' });
    await settle();
    page.pass(3000);
    page.fire('pagehide', { persisted: false });
    await settle();
    const left = events('page_left').map(({ correlationValue, payload }) => [
      (payload as Left).path,
      correlationValue === ann,
    ]);
    expect(left).toEqual([
      ['/', true],
      ['/bye', false],
    ]);
  });

  it('is not that of a visitor whom another tab has begun since', async () => {
    const { one, two } = await openBeside();
    expect(await one.tracker.correlationValue()).toBe(await two.tracker.correlationValue());
    one.tracker.stop();
    await settle();
    expect([...one.events('page_left'), ...two.events('page_left')]).toEqual([]);
  });

  it('of a visitor whose id only the database knows is tracked', async () => {
    const page = openPage('/');
    const store = createMemoryStore();
    const first = createTestTracker({ store });
    first.tracker.track('seen');
    await first.tracker.flush();
    first.tracker.stop();
    await settle();
    for (const key of Object.keys(store.local ?? {})) delete store.local?.[key];
    const { tracker, events } = createTestTracker({ store, plugins: [engagement()] });
    stops.push(tracker.stop);
    await settle();
    page.pass(3000);
    page.look(false, false);
    await settle();
    expect(events('page_left').map(({ correlationValue }) => correlationValue)).toEqual([
      first.events()[0]?.correlationValue,
    ]);
  });

  it('is kept for no other visitor while the tab is hidden, and begins anew', async () => {
    const { page, store, one, two } = await openBeside({ hiddenFor: 5000 });
    page.look(false, false);
    expect(JSON.stringify(store.local)).not.toContain('activeTime');
    await settle();
    page.look(true, true);
    page.push('/other');
    one.tracker.page();
    page.pass(1000);
    one.tracker.stop();
    await settle();
    const bob = await two.tracker.correlationValue();
    expect(one.events('page_left')).toMatchObject([{ correlationValue: bob, payload: { path: '/other' } }]);
  });

  it('of an earlier page, whose page() call is replayed, has no event', async () => {
    const page = openPage('/second');
    page.pass(3000);
    const now = Date.now();
    const service = createTestTransport();
    let at: number | undefined;
    const settings = normaliseOptions({
      baseUrl: '/clew',
      store: createMemoryStore(),
      transport: service.transport,
      compress: false,
    });
    const replayed = () => (at === undefined ? undefined : { at });
    const tracker = startTracker({ ...settings, plugins: [engagement()] }, [], replayed);
    stops.push(tracker.stop);
    at = now - 60_000;
    tracker.page({ url: 'https://shop.example/first', path: '/first' });
    // A call of this page, before the plugin.
    at = now - 2900;
    tracker.page();
    at = undefined;
    await settle();
    page.pass(5000);
    page.fire('pagehide', { persisted: false });
    await tracker.flush();
    await settle();
    expect(service.events().map(({ event, payload }) => [event, (payload as Left).path])).toEqual([
      ['page_view', '/first'],
      ['page_view', '/second'],
      ['page_left', '/second'],
    ]);
  });

  it('without page views is the document', async () => {
    const { page, left } = await open({}, false);
    page.pass(3000);
    page.push('/cart');
    page.pass(3000);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ path: '/', activeTime: 6000 }]);
  });
});

describe('with hiddenFor, a view', () => {
  const hiddenFor = 60_000;

  it('whose tab is shown again has one event', async () => {
    const { page, left } = await open({ hiddenFor });
    page.pass(5000);
    page.look(false, false);
    page.pass(hiddenFor - 1);
    page.look(true, true);
    page.pass(2000);
    expect(await left()).toEqual([]);
    page.look(false, false);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ activeTime: 7000, totalTime: 7000, part: 1 }]);
  });

  it('whose tab stays hidden has its event then', async () => {
    const { page, left, tracker } = await open({ hiddenFor });
    page.pass(5000);
    page.look(false, false);
    page.pass(hiddenFor);
    await tracker.flush();
    expect(await left()).toMatchObject([{ activeTime: 5000, part: 1 }]);
  });

  it.each([30 * 24 * 60 * 60_000, Number.POSITIVE_INFINITY])(
    'goes on in a tab that may be hidden for %s ms',
    async (long) => {
      const { page, left } = await open({ hiddenFor: long });
      page.pass(5000);
      page.look(false, false);
      page.pass(60_000);
      expect(await left()).toEqual([]);
      page.look(true, true);
      page.fire('pagehide', { persisted: false });
      expect(await left()).toMatchObject([{ activeTime: 5000, part: 1 }]);
    },
  );

  it('in a hidden page that ends without an event is tracked once, by a later page', async () => {
    const [baseUrl, store] = ['/clew', createMemoryStore()];
    const openNext = () => {
      const page = openPage('/next');
      const given = { baseUrl, store, plugins: [engagement({ hiddenFor })] };
      const { tracker, events } = createTestTracker(given);
      stops.push(tracker.stop);
      const left = async () => {
        await settle();
        await tracker.flush();
        await settle();
        return events('page_left').map(({ payload }) => payload as Left);
      };
      return { page, left };
    };
    const first = openNext();
    await settle();
    first.page.pass(5000);
    first.page.look(false, false);
    await settle();
    // The browser stops the page's timers.
    const frozen = vi.getTimerCount();
    vi.clearAllTimers();
    expect(frozen).toBeGreaterThan(0);
    vi.setSystemTime(Date.now() + 2 * hiddenFor);
    const late = [{ path: '/next', activeTime: 5000, part: 1, endedAt: expect.any(String) }];
    expect(await openNext().left()).toMatchObject(late);
    expect(await openNext().left()).toEqual([]);
    first.page.fire('pagehide', { persisted: false });
    expect(await first.left()).toEqual([]);
  });

  it('keeps no secret of its address that `beforeSend` removes', async () => {
    const store = createMemoryStore();
    const page = openPage('/reset?token=s3cret');
    const { tracker } = createTestTracker({ store, plugins: [engagement({ hiddenFor })], beforeSend: redactUrls() });
    stops.push(tracker.stop);
    await settle();
    page.pass(5000);
    page.look(false, false);
    await settle();
    expect(JSON.stringify(store.local)).toContain('/reset');
    expect(JSON.stringify(store.local)).not.toContain('s3cret');
  });

  it('that another view replaces in a hidden tab is tracked once', async () => {
    const { page, left, tracker } = await open({ hiddenFor });
    page.pass(5000);
    page.look(false, false);
    page.push('/cart');
    page.pass(100);
    page.fire('pagehide', { persisted: false });
    await tracker.flush();
    expect(await left()).toMatchObject([
      { path: '/', activeTime: 5000 },
      { path: '/cart', activeTime: 0 },
    ]);
  });
});

describe('the scroll depth', () => {
  it('is the deepest point of the view', async () => {
    const { page, left } = await open();
    page.pass(2000);
    page.scroll(700);
    page.scroll(100);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ scrollDepth: 75 }]);
  });

  it('does not count the next view, whose address is there before its event', async () => {
    const { page, left } = await open();
    page.pass(2000);
    page.push('/short');
    page.scrolling.scrollHeight = 800;
    page.scroll(0);
    page.pass(2000);
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ scrollDepth: 40 }, { scrollDepth: 100 }]);
  });

  it.each(['/list', '/#/list', '/#!/list'])('counts after a change of the query of %s', async (path) => {
    const page = openPage(path);
    const { tracker, events } = createTestTracker({ plugins: [engagement()], pageViews: pageViews({ hash: true }) });
    stops.push(tracker.stop);
    await settle();
    page.pass(500);
    page.push(`${path}?page=2`, 'replace');
    page.scroll(700);
    page.fire('pagehide', { persisted: false });
    await settle();
    expect(events('page_left').map(({ payload }) => payload)).toMatchObject([{ scrollDepth: 75 }]);
  });

  it('is that of the element that an app names', async () => {
    const main = { scrollTop: 200, clientHeight: 400, scrollHeight: 1000 };
    const { page, left } = await open({ scroller: 'main' }, true, true, (selector) =>
      selector === 'main' ? main : null,
    );
    page.fire('scroll');
    page.fire('pagehide', { persisted: false });
    expect(await left()).toMatchObject([{ scrollDepth: 60 }]);
  });
});

it('a selector that is none is an error at once, and later events are tracked', async () => {
  openPage('/');
  const querySelector = () => {
    throw new DOMException("'main[' is not a valid selector", 'SyntaxError');
  };
  Object.assign(document, { querySelector });
  const errors: string[] = [];
  const { tracker, events } = createTestTracker();
  stops.push(tracker.stop);
  tracker.on('error', ({ message }) => errors.push(message));
  tracker.use(engagement({ scroller: 'main[' }));
  tracker.track('next');
  await settle();
  expect(errors.join()).toContain("'main[' is not a valid selector");
  expect(events().map(({ event }) => event)).toEqual(['next']);
});

/** All of them take half a minute. */
const VISITS = process.env.TEST_ALL ? 1000 : 150;

it(`of ${VISITS} visits with a departure at any moment is within 2 % of the truth, and nothing is lost`, async () => {
  const sum = { views: 0, tracked: 0, truth: 0, worst: 0 };
  for (let seed = 0; seed < VISITS; seed++) {
    const { page, events, tracker, left } = await open({ idleAfter: IDLE });
    const truth = await visit(page, createRandom(seed));
    const found = new Map<string, number>();
    for (const { path, activeTime } of await left()) found.set(path, (found.get(path) ?? 0) + activeTime);
    const paths = new Set(events('page_view').map(({ payload }) => (payload as Left).path));
    expect(
      [...paths].filter((path) => !found.has(path)),
      `views without an event in visit ${seed}`,
    ).toEqual([]);
    for (const path of new Set([...truth.keys(), ...found.keys()])) {
      const [tracked, real] = [found.get(path) ?? 0, truth.get(path) ?? 0];
      sum.views++;
      sum.tracked += tracked;
      sum.truth += real;
      sum.worst = Math.max(sum.worst, Math.abs(tracked - real));
    }
    tracker.stop();
    stops.length = 0;
  }
  console.log(`engagement of ${VISITS} visits, in ms:`, sum);
  expect(sum.views).toBeGreaterThan(2 * VISITS);
  expect(Math.abs(sum.tracked / sum.truth - 1)).toBeLessThan(0.02);
  // A view counts once its address has stood for 100 ms.
  expect(sum.worst).toBeLessThanOrEqual(100);
});
