// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Tracker } from '../../src/api/types.ts';
import { type PageViewOptions, pageViews } from '../../src/page/navigation.ts';
import { createTools } from '../../src/page/plugins.ts';

/**
 * A page whose address changes as `pageViews` sees it. The order in which browsers dispatch events of the Navigation API,
 * and prerendering, are in e2e/page-views.spec.ts and e2e/engines.
 */
const ORIGIN = 'https://shop.example';
const REFERRER = 'https://search.example/';

class FakeHistory {
  length = 1;
  pushState(_state: unknown, _title: string, url: string) {
    this.length++;
    moveTo(url);
  }
  replaceState(_state: unknown, _title: string, url: string) {
    moveTo(url);
  }
}
const moveTo = (path: string) => vi.stubGlobal('location', { href: new URL(path, ORIGIN).href });

let window: EventTarget & { navigation?: EventTarget };
let allow: (visitorId?: string) => void;
let refuse: () => void;
let visitorId: string | undefined;
const [ANN, BOB] = ['01234567-89ab-4cde-8f01-23456789abcd', '76543210-89ab-4cde-8f01-23456789abcd'];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  window = new EventTarget();
  vi.stubGlobal('window', window);
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('document', { referrer: REFERRER, removeEventListener: () => {} });
  vi.stubGlobal('history', new FakeHistory());
  vi.stubGlobal('sessionStorage', {});
  visitorId = ANN;
  moveTo('/');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Emits a signal of the tracker. */
let emit: (signal: string, value?: object) => void;
const start = (options?: PageViewOptions) => {
  const listeners = new Map<string, (value?: object) => void>();
  emit = (signal, value) => listeners.get(signal)?.(value);
  const on = (signal: string, listener: () => void) => {
    listeners.set(signal, listener);
    return () => listeners.delete(signal);
  };
  const page = vi.fn();
  const allowed = new Promise<string>((resolve, reject) => {
    allow = (id = ANN) => resolve(id);
    refuse = reject;
  });
  const tracker = { page, on, correlationValue: () => allowed } as unknown as Tracker;
  const visitor = { id: () => visitorId, isCustomer: () => false, mayStore: () => visitorId !== undefined };
  const tools = createTools({
    service: '/clew',
    visitor,
    steps: [],
    local: undefined,
    renewBy: () => {},
    attempt: (run) => run(),
  });
  const stop = pageViews(options)(tracker, tools);
  const views = () => page.mock.calls.map(([view]) => view);
  return { stop, views, urls: () => views().map(({ url }) => url.replace(ORIGIN, '')) };
};
const settle = () => vi.advanceTimersByTime(100);
const fire = (type: string, more: object = {}) => window.dispatchEvent(Object.assign(new Event(type), more));

/** Each path by which a page learns that its address has changed. */
const paths: [string, () => { push(path: string): void; replace(path: string): void }][] = [
  [
    'the Navigation API',
    () => {
      const navigation = Object.assign(new EventTarget(), { currentEntry: {} });
      window.navigation = navigation;
      const move = (navigationType: string) => (path: string) => {
        moveTo(path);
        navigation.dispatchEvent(Object.assign(new Event('currententrychange'), { navigationType }));
      };
      return { push: move('push'), replace: move('replace') };
    },
  ],
  [
    'a patched `history`',
    () => ({
      push: (path) => history.pushState({}, '', path),
      replace: (path) => history.replaceState({}, '', path),
    }),
  ],
];

it('watches `history` if a global variable of the page has replaced the Navigation API', () => {
  const menu = Object.assign(new EventTarget(), { localName: 'nav' });
  window.navigation = menu;
  const { urls } = start();
  settle();
  history.pushState({}, '', '/cart');
  settle();
  expect(urls()).toEqual(['/', '/cart']);
});

it.each([
  'https://shop.example/a/b:c?d=/e#f?g',
  'https://ann@shop.example:8443?a#b',
  'file:///C:/shop/index.html#a',
  'about:srcdoc',
  'app://localhost/%3Fa/b',
])('tracks the path of %s if a global variable of the page has replaced `URL`', (url) => {
  const { href, pathname } = new URL(url);
  vi.stubGlobal('location', { href });
  const { views } = start();
  vi.stubGlobal('URL', '/shop');
  settle();
  expect(views()).toEqual([{ url: href, path: pathname, referrer: REFERRER }]);
});

describe.each(paths)('with %s', (_name, open) => {
  it('tracks the first view after 100 ms, with the referrer of the page', () => {
    open();
    const { views } = start();
    vi.advanceTimersByTime(99);
    expect(views()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(views()).toEqual([{ url: `${ORIGIN}/`, path: '/', referrer: REFERRER }]);
  });

  it('tracks the waiting view before the visitor changes', () => {
    const { push } = open();
    const { urls } = start();
    settle();
    push('/account');
    vi.advanceTimersByTime(50);
    emit('change');
    expect(urls()).toEqual(['/', '/account']);
    settle();
    expect(urls()).toHaveLength(2);
  });

  it('names no view as a referrer that was dropped because of a refusal', () => {
    const { push } = open();
    const { views } = start();
    settle();
    push('/health');
    settle();
    emit('dropped', { reason: 'full' });
    push('/club');
    settle();
    emit('dropped', { reason: 'consent' });
    push('/yarns');
    settle();
    expect(views().map(({ referrer }) => referrer.replace(ORIGIN, ''))).toEqual([REFERRER, '/', '/health', '']);
  });

  it('tracks each path as a view, with the previous view as its referrer', () => {
    const { push } = open();
    const { views } = start();
    settle();
    push('/yarns?fibre=wool#top');
    settle();
    push('/club');
    settle();
    expect(views().slice(1)).toEqual([
      { url: `${ORIGIN}/yarns?fibre=wool#top`, path: '/yarns', referrer: `${ORIGIN}/` },
      { url: `${ORIGIN}/club`, path: '/club', referrer: `${ORIGIN}/yarns?fibre=wool#top` },
    ]);
  });

  it('tracks no view for another query or hash', () => {
    const { push } = open();
    const { urls } = start();
    settle();
    for (const path of ['/?a=1', '/#top', '/?a=2#end']) {
      push(path);
      settle();
    }
    expect(urls()).toEqual(['/']);
  });

  it.each<[options: PageViewOptions, expected: string[], moves?: string[]]>([
    [{ query: true }, ['/', '/?a=1', '/#a?b=1']],
    [{ hash: true }, ['/', '/#a?b=1', '/#b']],
    [{ query: true, hash: true }, ['/', '/?a=1', '/#a?b=1', '/#b']],
    [{ hash: true }, ['/', '/?a=1#b'], ['/?a=1#b', '/?a=2#b', '/?a=1#b?c=1', '/?a=1#b?c=2']],
    [{ query: true, hash: true }, ['/', '/?a=1#b', '/?a=1#b?c=1'], ['/?a=1#b', '/?a=1#b?c=1']],
  ])('tracks a view for such a change with %j', (options, expected, moves = ['/?a=1', '/#a?b=1', '/#b']) => {
    const { push } = open();
    const { urls } = start(options);
    settle();
    for (const path of moves) {
      push(path);
      settle();
    }
    expect(urls()).toEqual(expected);
  });

  it('tracks no view for an address that is replaced within 100 ms', () => {
    const { push, replace } = open();
    const { urls } = start();
    settle();
    push('/old');
    vi.advanceTimersByTime(99);
    replace('/new');
    vi.advanceTimersByTime(99);
    expect(urls()).toEqual(['/']);
    vi.advanceTimersByTime(1);
    expect(urls()).toEqual(['/', '/new']);
  });

  it('tracks one view, without the parameter of `linkDomains`, also when that goes after consent', () => {
    const { replace } = open();
    moveTo('/yarns?clew_link=x.y&a=1');
    const { urls } = start({ query: true });
    settle();
    replace('/yarns?a=1');
    settle();
    expect(urls()).toEqual(['/yarns?a=1']);
  });

  it('tracks an address that another navigation leaves, however soon', () => {
    const { push } = open();
    const { urls } = start();
    push('/quick');
    expect(urls()).toEqual(['/']);
    push('/next');
    expect(urls()).toEqual(['/', '/quick']);
    settle();
    expect(urls()).toEqual(['/', '/quick', '/next']);
  });

  it('tracks a page that unloads, however soon, once', () => {
    const { push } = open();
    const { urls } = start();
    settle();
    push('/quick');
    fire('pagehide');
    expect(urls()).toEqual(['/', '/quick']);
    settle();
    expect(urls()).toEqual(['/', '/quick']);
  });

  it('tracks a page that returns from the back/forward cache', () => {
    open();
    const { views } = start();
    settle();
    fire('pageshow', { persisted: false });
    expect(views()).toHaveLength(1);
    fire('pageshow', { persisted: true });
    expect(views()).toEqual([views()[0], views()[0]]);
  });

  it('tracks the pending view when the plugin stops, and none later', () => {
    const { push } = open();
    const { stop, urls } = start();
    settle();
    push('/quick');
    stop();
    push('/later');
    settle();
    fire('pageshow', { persisted: true });
    fire('popstate');
    settle();
    expect(urls()).toEqual(['/', '/quick']);
  });
});

describe('with the Navigation API', () => {
  /** `navigate` begins a navigation, which ends when the test calls `end` or `fail`. */
  const open = () => {
    const navigation = Object.assign(new EventTarget(), { currentEntry: {}, transition: null as object | null });
    window.navigation = navigation;
    const change = (navigationType: string | null) =>
      navigation.dispatchEvent(Object.assign(new Event('currententrychange'), { navigationType }));
    const navigate = (path: string, type = 'push') => {
      let [resolve, reject] = [() => {}, (_cause: Error) => {}];
      const promise = new Promise<void>((...settle) => {
        [resolve, reject] = settle;
      });
      const transition = { finished: promise };
      navigation.transition = transition;
      moveTo(path);
      change(type);
      const settled = (how: () => void) => async () => {
        how();
        if (navigation.transition === transition) navigation.transition = null;
        await promise.catch(() => {});
      };
      return {
        end: settled(resolve),
        fail: settled(() => reject(new Error('the handler has failed'))),
        failWithNull: settled(() => reject(null as never)),
        abort: settled(() => reject(new DOMException('another navigation', 'AbortError'))),
      };
    };
    return { change, navigate };
  };

  it.each(['end', 'fail', 'failWithNull'] as const)(
    'tracks an intercepted navigation 100 ms after its %s',
    async (how) => {
      const { navigate } = open();
      const { urls } = start();
      settle();
      const navigation = navigate('/yarns');
      settle();
      expect(urls()).toEqual(['/']);
      await navigation[how]();
      vi.advanceTimersByTime(99);
      expect(urls()).toEqual(['/']);
      vi.advanceTimersByTime(1);
      expect(urls()).toEqual(['/', '/yarns']);
    },
  );

  it('tracks one view for an intercepted navigation that replaces another one', async () => {
    const { navigate } = open();
    const { urls } = start();
    settle();
    const old = navigate('/old');
    const next = navigate('/new', 'replace');
    await old.fail();
    settle();
    expect(urls()).toEqual(['/']);
    await next.end();
    settle();
    expect(urls()).toEqual(['/', '/new']);
  });

  it('tracks an intercepted navigation whose handler replaces the query', async () => {
    const { navigate, change } = open();
    const { urls } = start();
    settle();
    const navigation = navigate('/yarns');
    moveTo('/yarns?tab=1');
    change('replace');
    settle();
    expect(urls()).toEqual(['/']);
    await navigation.end();
    settle();
    expect(urls()).toEqual(['/', '/yarns?tab=1']);
  });

  it('waits for the second of two clicks on the same link', async () => {
    const { navigate } = open();
    const { urls } = start();
    settle();
    const first = navigate('/yarns');
    const second = navigate('/yarns', 'replace');
    await first.fail();
    settle();
    expect(urls()).toEqual(['/']);
    await second.end();
    settle();
    expect(urls()).toEqual(['/', '/yarns']);
  });

  const titled = (title: string) => Object.assign(document, { title });

  it('tracks no intercepted navigation that another one aborts before the title has changed', async () => {
    const { navigate } = open();
    titled('Home');
    const { urls, views } = start();
    settle();
    const left = navigate('/left');
    const next = navigate('/next');
    await left.abort();
    settle();
    await next.end();
    settle();
    expect(urls()).toEqual(['/', '/next']);
    expect(views()[1].referrer).toBe(`${ORIGIN}/`);
    const shown = navigate('/shown');
    titled('Shown');
    const back = navigate('/next', 'traverse');
    await shown.abort();
    await back.end();
    settle();
    expect(urls()).toEqual(['/', '/next', '/shown', '/next']);
  });

  it('tracks no intercepted navigation that the visitor stops, or a link to another document', async () => {
    const { navigate } = open();
    titled('Home');
    const { urls } = start();
    settle();
    await navigate('/left').abort();
    settle();
    fire('pagehide');
    expect(urls()).toEqual(['/']);
  });

  it('tracks an intercepted navigation whose handler ends it by replacing the query', async () => {
    const { navigate, change } = open();
    titled('Home');
    const { urls } = start();
    settle();
    const navigation = navigate('/yarns');
    const aborted = navigation.abort();
    moveTo('/yarns?tab=1');
    change('replace');
    await aborted;
    settle();
    expect(urls()).toEqual(['/', '/yarns?tab=1']);
  });

  it('leaves an intercepted navigation to the visitor who sees it', async () => {
    const { navigate } = open();
    titled('Home');
    const { urls } = start();
    settle();
    const navigation = navigate('/logout');
    emit('change');
    expect(urls()).toEqual(['/']);
    await navigation.end();
    settle();
    expect(urls()).toEqual(['/', '/logout']);
  });

  it('tracks an intercepted navigation when the page unloads before its end', () => {
    const { navigate } = open();
    const { urls } = start();
    navigate('/yarns');
    fire('pagehide');
    expect(urls()).toEqual(['/', '/yarns']);
  });

  it('tracks one view for a redirect before which the app calls `updateCurrentEntry`', () => {
    const { change } = open();
    const { urls } = start();
    settle();
    moveTo('/old');
    change('push');
    change(null);
    moveTo('/new');
    change('replace');
    settle();
    expect(urls()).toEqual(['/', '/new']);
  });
});

describe('without the Navigation API', () => {
  it.each<[what: string, path: string, added: number, state: object | null, expected: string[]]>([
    ['a hash that another one replaces at once', '/#new', 0, null, ['/', '/#new']],
    ['a hash after another one', '/#new', 1, null, ['/', '/#old', '/#new']],
    ['a step back to another path', '/new', 0, null, ['/', '/#old', '/new']],
    ['a step back to a hash that the router has written', '/#new', 0, { key: 1 }, ['/', '/#old', '/#new']],
  ])('tracks %s', (_what, path, added, state, expected) => {
    const { urls } = start({ hash: true });
    settle();
    moveTo('/#old');
    Object.assign(history, { length: history.length + 1 });
    fire('popstate', { state: null });
    moveTo(path);
    Object.assign(history, { length: history.length + added });
    fire('popstate', { state });
    settle();
    expect(urls()).toEqual(expected);
  });

  it('tracks a step back', () => {
    const { urls } = start();
    settle();
    moveTo('/yarns');
    fire('popstate');
    settle();
    expect(urls()).toEqual(['/', '/yarns']);
  });

  it('restores `history` when the plugin stops', () => {
    const before = { push: history.pushState, replace: history.replaceState };
    const { stop } = start();
    expect(history.pushState).not.toBe(before.push);
    stop();
    expect({ push: history.pushState, replace: history.replaceState }).toEqual(before);
  });

  it('keeps a later patch of `history` when the plugin stops, and tracks nothing', () => {
    const { stop, urls } = start();
    settle();
    const ours = history.pushState;
    const theirs = (...state: Parameters<typeof ours>) => ours.apply(history, state);
    history.pushState = theirs;
    stop();
    expect(history.pushState).toBe(theirs);
    history.pushState({}, '', '/later');
    settle();
    expect(location.href).toBe(`${ORIGIN}/later`);
    expect(urls()).toEqual(['/']);
  });
});

describe('a campaign', () => {
  const AD = '/?utm_source=mail&utm_medium=newsletter&x=1&gclid=G1#top';
  const FOUND = { utm_source: 'mail', utm_medium: 'newsletter', gclid: 'G1' };
  const go = (path: string) => {
    history.pushState({}, '', path);
    settle();
  };

  it('is in the first view only, and in every view with `campaign`', () => {
    for (const [options, count] of [
      [{}, 1],
      [{ campaign: true }, 3],
    ] as const) {
      moveTo(AD);
      const { stop, views } = start(options);
      settle();
      go('/yarns');
      go('/club');
      expect(views()[0]).toMatchObject(FOUND);
      expect(views().filter((view) => view.utm_source)).toHaveLength(count);
      expect(views().every((view) => !('x' in view))).toBe(true);
      stop();
    }
  });

  it('is found in a query and in the query of a hash', () => {
    moveTo('/?gclid=G1#/yarns?utm_source=mail');
    const { views } = start();
    settle();
    expect(views()[0]).toMatchObject({ gclid: 'G1', utm_source: 'mail' });
  });

  it('is stored once the tracker may store, and the next page does not track it again', async () => {
    moveTo(AD);
    visitorId = undefined;
    const { stop } = start();
    settle();
    expect(sessionStorage).toEqual({});
    visitorId = ANN;
    allow();
    await vi.waitUntil(() => Object.keys(sessionStorage).length > 0, { interval: 1 });
    stop();
    moveTo('/yarns');
    const plain = start();
    settle();
    expect(plain.views()[0]).not.toHaveProperty('utm_source');
    plain.stop();
    const { views } = start({ campaign: true });
    settle();
    expect(views()[0]).toMatchObject(FOUND);
  });

  it('is stored for a page that leaves before the visitor is certain', () => {
    moveTo(AD);
    start();
    moveTo('/yarns');
    const { views } = start({ campaign: true });
    settle();
    expect(views()[0]).toMatchObject(FOUND);
  });

  it('ends with the visitor id, also where the address still has it', async () => {
    moveTo(AD);
    const first = start({ campaign: true });
    settle();
    allow();
    await vi.waitUntil(() => Object.keys(sessionStorage).length > 0, { interval: 1 });
    visitorId = BOB;
    history.pushState({}, '', AD.replace('/', '/club'));
    settle();
    expect(first.views()[1]).not.toHaveProperty('utm_source');
    first.stop();
    const { views } = start({ campaign: true });
    settle();
    expect(views()[0]).not.toHaveProperty('utm_source');
  });

  it.each([
    ['before it is stored', () => refuse()],
    ['in the task in which it would be stored', () => allow()],
  ])('ends with a refusal %s', async (_when, end) => {
    moveTo(AD);
    visitorId = undefined;
    const { views } = start({ campaign: true });
    settle();
    end();
    await Promise.resolve();
    expect(sessionStorage).toEqual({});
    visitorId = BOB;
    go('/club');
    expect(views()[1]).not.toHaveProperty('utm_source');
    expect(sessionStorage).toEqual({});
  });

  it('replaces the previous one', () => {
    moveTo(AD);
    const { views } = start({ campaign: true });
    settle();
    go('/yarns?fbclid=F1');
    expect(views()[1]).toMatchObject({ fbclid: 'F1' });
    expect(views()[1]).not.toHaveProperty('gclid');
  });
});

it('the first view waits for the deferred scripts, one of which may set the title', async () => {
  vi.stubGlobal('performance', { timing: { domContentLoadedEventStart: 0 } });
  const { urls } = start();
  settle();
  expect(urls()).toEqual([]);
  fire('DOMContentLoaded');
  await Promise.resolve();
  expect(urls()).toEqual([]);
  settle();
  expect(urls()).toEqual(['/']);
});

it('a page that unloads before its deferred scripts have run is a view', () => {
  vi.stubGlobal('performance', { timing: { domContentLoadedEventStart: 0 } });
  const { urls } = start();
  fire('pagehide');
  expect(urls()).toEqual(['/']);
});
