// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  clicks,
  cookieDomain,
  createTracker,
  fetchTransport,
  pageViews,
  type TrackerOptions,
  type Transport,
} from '../../src/index.ts';
import { createTestTransport } from '../../src/testing.ts';
import type { WireEvent } from '../../src/wire.ts';
import { createMemoryStore, openPage, settle } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

/** How long (ms) a browser that has `fetchLater` keeps a batch before it gets the next one. */
const DEFER_INTERVAL = 100;
/** How long (ms) an address has to stand before it is a page view. */
const SETTLING = 100;

interface Sent {
  url: string;
  init: RequestInit & { body: string };
}

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  vi.clearAllTimers();
});

/** A page in a browser, and a tracker as an app creates it. `fetch` answers 200. */
const open = (options: Partial<TrackerOptions> = {}) => {
  const page = openPage();
  const sent: Sent[] = [];
  const beacons: string[] = [];
  const later: Sent[] = [];
  vi.stubGlobal('window', page.window);
  vi.stubGlobal('fetch', async (url: string, init: Sent['init']) => {
    sent.push({ url, init });
    return new Response('{}', { headers: { 'clew-relay': '1' } });
  });
  vi.stubGlobal('fetchLater', (url: string, init: Sent['init']) => {
    const request = { url, init };
    later.push(request);
    init.signal?.addEventListener('abort', () => later.splice(later.indexOf(request), 1));
  });
  Object.assign(page.navigator, {
    sendBeacon(_url: string, body: string) {
      beacons.push(body);
      return true;
    },
  });
  const tracker = createTracker({ baseUrl: '/clew', compress: false, store: createMemoryStore(), ...options });
  stops.push(async () => {
    await tracker.flush();
    tracker.stop();
  });
  const eventsIn = (bodies: string[]): WireEvent[] => bodies.flatMap((body) => JSON.parse(body).batch ?? []);
  return { page, tracker, sent, beacons, later, eventsIn, arrived: () => eventsIn(sent.map(({ init }) => init.body)) };
};

describe('createTracker, in a browser', () => {
  it('sends with fetch: keep-alive, without cookies or redirects, and with a time-out of 20 s', async () => {
    const { page, tracker, sent } = open();
    // A global variable of the site.
    vi.stubGlobal('origin', 'https://other.example');
    tracker.track('seen');
    await tracker.flush();
    expect(sent).toMatchObject([
      {
        url: `${page.location.origin}/clew/api/events/batch/`,
        init: {
          method: 'POST',
          keepalive: true,
          credentials: 'omit',
          redirect: 'error',
          headers: { 'Content-Type': 'application/json' },
        },
      },
    ]);
    expect(sent[0]?.init.signal).toBeInstanceOf(AbortSignal);
  });

  it("sends without keep-alive if the request exceeds the browser's limit", async () => {
    const { tracker, sent } = open({ maxBatchBytes: 200_000 });
    tracker.track('large', 'x'.repeat(60_000));
    await tracker.flush();
    tracker.track('small');
    await tracker.flush();
    expect(sent.map(({ init }) => init.keepalive)).toEqual([false, true]);
  });

  it('hands over with a beacon when the page unloads', async () => {
    const { page, tracker, sent, beacons, eventsIn } = open();
    await tracker.flush();
    tracker.track('seen');
    page.leave();
    expect(eventsIn(beacons)).toMatchObject([{ event: 'seen' }]);
    expect(JSON.parse(beacons[0] ?? '').clock).toEqual([Date.now(), expect.any(Number)]);
    expect(sent).toEqual([]);
  });

  it('leaves the next batch with the browser (fetchLater), and aborts it when the batch is sent', async () => {
    const { tracker, later, eventsIn } = open();
    tracker.track('first');
    await tracker.flush();
    tracker.track('seen');
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(eventsIn(later.map(({ init }) => init.body))).toMatchObject([{ event: 'seen' }]);
    expect(later[0]?.init.body).not.toContain('clock');
    await tracker.flush();
    expect(later).toEqual([]);
  });

  it('takes back what it left with the browser when the visitor refuses, and leaves nothing more with it', async () => {
    const { tracker, later, eventsIn } = open();
    tracker.track('first');
    await tracker.flush();
    tracker.track('seen');
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(eventsIn(later.map(({ init }) => init.body))).toMatchObject([{ event: 'seen' }]);
    tracker.track('just before');
    tracker.consent(false);
    expect(later).toEqual([]);
    await vi.advanceTimersByTimeAsync(10 * DEFER_INTERVAL);
    expect(later).toEqual([]);
  });

  it('sends from memory when the browser refuses storage, and reports that once', async () => {
    const { tracker, arrived } = open({ store: undefined as never });
    const errors: string[] = [];
    tracker.on('error', ({ message }) => errors.push(message));
    tracker.track('a');
    tracker.track('b');
    await tracker.flush();
    expect(arrived().map(({ event }) => event)).toEqual(['a', 'b']);
    expect(errors).toEqual([expect.stringContaining('no storage')]);
  });

  it('logs signals to the console with debug', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { tracker } = open({ debug: true });
    tracker.track('seen');
    await tracker.flush();
    expect(log.mock.calls).toEqual([['clew:', 'delivered', { events: [expect.objectContaining({ event: 'seen' })] }]]);
  });
});

describe('a transport of the app', () => {
  it('sends all requests instead of fetch, and turns fetchLater off', async () => {
    const service = createTestTransport();
    const { page, tracker, sent, beacons, later } = open({ transport: service.transport });
    tracker.track('first');
    await tracker.flush();
    tracker.track('seen');
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(later).toEqual([]);
    page.leave();
    await settle();
    expect(service.events().map(({ event }) => event)).toEqual(['first', 'seen']);
    expect([sent, beacons]).toEqual([[], []]);
  });

  it('may wrap the default transport', async () => {
    const transport: Transport = (request) =>
      fetchTransport({ ...request, headers: { ...request.headers, 'X-App-Version': '1.4.2' } });
    const { tracker, sent } = open({ transport });
    tracker.track('seen');
    await tracker.flush();
    expect(sent).toMatchObject([
      { init: { headers: { 'Content-Type': 'application/json', 'X-App-Version': '1.4.2' } } },
    ]);
  });

  it.each<[string, Transport]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('that %s loses no event', async (_what, broken) => {
    const service = createTestTransport();
    let isBroken = true;
    const { tracker } = open({ transport: (request) => (isBroken ? broken : service.transport)(request) });
    tracker.track('seen');
    await tracker.flush();
    expect(tracker.stats()).toMatchObject({ queued: 1, delivered: 0 });
    isBroken = false;
    await tracker.flush();
    expect(service.events()).toMatchObject([{ event: 'seen' }]);
  });
});

describe('a store of the app', () => {
  it('keeps events and the visitor id in place of IndexedDB', async () => {
    const store = createMemoryStore();
    const opened = vi.fn();
    vi.stubGlobal('indexedDB', { open: opened });
    const service = createTestTransport();
    service.fail();
    const { tracker } = open({ store, transport: service.transport });
    tracker.track('seen');
    await tracker.flush();
    const rows = await store.read('/clew');
    expect(rows.flatMap(([, items]) => items).map((text) => JSON.parse(text ?? ''))).toMatchObject([
      { event: 'seen', correlationValue: await tracker.correlationValue() },
    ]);
    expect(opened).not.toHaveBeenCalled();
  });
});

describe('context, in a browser', () => {
  it('adds its properties to every event, after those of the event', async () => {
    let route = '/yarns';
    const { tracker, arrived } = open({ context: () => ({ route, plan: 'free' }) });
    tracker.track('seen', { plan: 'pro' });
    route = '/wool';
    tracker.track('seen');
    await tracker.flush();
    expect(arrived().map(({ payload }) => payload)).toEqual([
      { route: '/yarns', plan: 'pro' },
      { route: '/wool', plan: 'free' },
    ]);
  });
});

describe('page()', () => {
  it('tracks a page view with address, title and referrer, and the given properties', async () => {
    const { tracker, arrived } = open();
    tracker.page({ title: 'Wool', tab: 'reviews' });
    await tracker.flush();
    expect(arrived()).toMatchObject([
      {
        event: 'page_view',
        payload: { url: 'https://www.shop.example/yarns', path: '/yarns', title: 'Wool', referrer: '', tab: 'reviews' },
      },
    ]);
  });

  it('tracks a page view even if the given properties cannot be read', async () => {
    const { tracker, arrived } = open();
    const errors: string[] = [];
    tracker.on('error', ({ message }) => errors.push(message));
    tracker.page({
      get tab(): string {
        throw new Error('unreadable');
      },
    });
    await tracker.flush();
    expect(arrived()).toMatchObject([{ event: 'page_view', payload: { path: '/yarns' } }]);
    expect(errors).toEqual(['clew: unreadable']);
  });
});

describe('pageViews(), from npm', () => {
  const views = (events: WireEvent[]) =>
    events.map(({ event, payload }) => [event, (payload as { path: string }).path]);

  it('tracks the first view, and one for each path that stays', async () => {
    const { tracker, arrived } = open({ pageViews: pageViews() });
    history.pushState(null, '', '/wool');
    await vi.advanceTimersByTimeAsync(SETTLING);
    history.replaceState(null, '', '/wool?page=2');
    history.pushState(null, '', '/redirected');
    history.replaceState(null, '', '/cotton');
    await vi.advanceTimersByTimeAsync(SETTLING);
    await tracker.flush();
    expect(views(arrived())).toEqual([
      ['page_view', '/yarns'],
      ['page_view', '/wool'],
      ['page_view', '/cotton'],
    ]);
    expect(arrived().map(({ payload }) => (payload as { referrer: string }).referrer)).toEqual([
      '',
      'https://www.shop.example/yarns',
      'https://www.shop.example/wool',
    ]);
  });

  it('tracks a pending view when the page unloads', async () => {
    const { page, tracker, beacons, eventsIn } = open({ pageViews: pageViews() });
    await vi.advanceTimersByTimeAsync(SETTLING);
    await tracker.flush();
    history.pushState(null, '', '/wool');
    page.leave();
    await settle();
    expect(views(eventsIn(beacons))).toEqual([['page_view', '/wool']]);
  });

  it('tracks a view again when the page returns from the back/forward cache', async () => {
    const { page, tracker, arrived } = open({ pageViews: pageViews() });
    await vi.advanceTimersByTimeAsync(SETTLING);
    await tracker.flush();
    page.leave();
    page.restore();
    await tracker.flush();
    expect(views(arrived())).toEqual([
      ['page_view', '/yarns'],
      ['page_view', '/yarns'],
    ]);
  });

  it('restores history when the tracker is stopped', async () => {
    const page = openPage();
    const { pushState } = history;
    const { tracker } = open({ pageViews: pageViews() });
    expect(history.pushState).not.toBe(pushState);
    tracker.stop();
    history.pushState(null, '', '/later');
    expect(page.location.pathname).toBe('/yarns');
    expect(vi.isMockFunction(history.pushState)).toBe(true);
  });
});

describe('clicks(), from npm', () => {
  /** A form whose `dataset` is in its prototype, as in a browser. */
  class HTMLFormElement {}
  const startClicking = (options = {}) => {
    vi.stubGlobal('ShadowRoot', class {});
    vi.stubGlobal('HTMLFormElement', HTMLFormElement);
    const test = open({ clicks: clicks(options) });
    // A link without an address. A URL has the same parts.
    Object.assign(test.page.document, { createElement: () => new URL('about:blank') });
    const click = (element: object, type = 'click', button = 0) =>
      test.page.fire(type, { button, composedPath: () => [element, window] });
    return { ...test, click };
  };
  const element = (localName: string, dataset: Record<string, string>, more = {}) => {
    const prototype = localName === 'form' ? HTMLFormElement.prototype : Object.prototype;
    return Object.assign(Object.create(Object.create(prototype, { dataset: { value: dataset } })), {
      localName,
      ...more,
    });
  };

  it('tracks clicks of marked elements with their other marks', async () => {
    const { tracker, click, arrived } = startClicking();
    click(element('button', { clewEvent: 'signup_clicked', clewPlanName: 'pro', other: 'x' }));
    click(element('button', {}));
    await tracker.flush();
    expect(arrived()).toMatchObject([{ event: 'signup_clicked', payload: { planName: 'pro' } }]);
    expect(arrived()[0]?.payload).toEqual({ planName: 'pro' });
  });

  it('tracks submitted forms and changed fields', async () => {
    const { tracker, click, arrived } = startClicking();
    const [form, field] = [
      element('form', { clewEvent: 'ordered' }),
      element('select', { clewEvent: 'sorted' }, { type: 'select-one' }),
    ];
    for (const type of ['click', 'submit', 'change']) {
      click(form, type);
      click(field, type);
    }
    await tracker.flush();
    expect(arrived().map(({ event }) => event)).toEqual(['ordered', 'sorted']);
  });

  it('tracks links to other hosts and files with the options', async () => {
    const { tracker, click, arrived } = startClicking({ outbound: true, downloads: true });
    const link = (href: string) => {
      const { host, pathname } = new URL(href);
      return element('a', {}, { href, host, pathname, hasAttribute: () => false });
    };
    click(link('https://other.example/'));
    click(link('https://www.shop.example/wool'));
    click(link('https://www.shop.example/prices.pdf'));
    await tracker.flush();
    expect(arrived().map(({ event, payload }) => [event, (payload as { url: string }).url])).toEqual([
      ['outbound_clicked', 'https://other.example/'],
      ['file_downloaded', 'https://www.shop.example/prices.pdf'],
    ]);
  });

  it('tracks nothing after the tracker is stopped', async () => {
    const { tracker, click, beacons } = startClicking();
    await tracker.flush();
    tracker.stop();
    click(element('button', { clewEvent: 'signup_clicked' }));
    await settle();
    expect(beacons).toEqual([]);
    expect(tracker.stats().tracked).toBe(0);
  });
});

describe('cookieDomain(), from npm', () => {
  it('makes the browser send the cookie to a relay of the same origin', async () => {
    const { page, tracker, sent } = open({ cookieDomain: cookieDomain('auto') });
    tracker.track('seen');
    await tracker.flush();
    expect(sent).toMatchObject([{ init: { credentials: 'same-origin' } }]);
    expect(page.document.cookie).toBe(`clew=${await tracker.correlationValue()}.0.`);
  });
});
