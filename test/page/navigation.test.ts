import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Tracker } from '../../src/api/types.ts';
import { type PageViewOptions, pageViews } from '../../src/page/navigation.ts';

/**
 * A page whose address changes as `pageViews` sees it. The order in which browsers dispatch events of the Navigation API,
 * and prerendering, are in e2e/page-views.spec.ts and e2e/engines.
 */
const ORIGIN = 'https://shop.example';
const REFERRER = 'https://search.example/';

class FakeHistory {
  pushState(_state: unknown, _title: string, url: string) {
    moveTo(url);
  }
  replaceState(_state: unknown, _title: string, url: string) {
    moveTo(url);
  }
}
const moveTo = (path: string) => vi.stubGlobal('location', { href: new URL(path, ORIGIN).href });

let window: EventTarget & { navigation?: EventTarget };
let allow: () => void;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  window = new EventTarget();
  vi.stubGlobal('window', window);
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('document', { referrer: REFERRER });
  vi.stubGlobal('history', new FakeHistory());
  vi.stubGlobal('sessionStorage', {});
  moveTo('/');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const start = (options?: PageViewOptions) => {
  const page = vi.fn();
  const allowed = new Promise<string>((resolve) => {
    allow = () => resolve('');
  });
  const stop = pageViews(options)({ page, correlationValue: () => allowed } as unknown as Tracker);
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
      const navigation = new EventTarget();
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

describe.each(paths)('with %s', (_name, open) => {
  it('tracks the first view after 100 ms, with the referrer of the page', () => {
    open();
    const { views } = start();
    vi.advanceTimersByTime(99);
    expect(views()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(views()).toEqual([{ url: `${ORIGIN}/`, path: '/', referrer: REFERRER }]);
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

  it.each<[PageViewOptions, string[]]>([
    [{ query: true }, ['/', '/?a=1', '/#a?b=1']],
    [{ hash: true }, ['/', '/#a?b=1', '/#b']],
    [{ query: true, hash: true }, ['/', '/?a=1', '/#a?b=1', '/#b']],
  ])('tracks a view for such a change with %j', (options, expected) => {
    const { push } = open();
    const { urls } = start(options);
    settle();
    for (const path of ['/?a=1', '/#a?b=1', '/#b']) {
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

describe('without the Navigation API', () => {
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

  it('is stored once the tracker may store, and the next page does not track it again', async () => {
    moveTo(AD);
    const { stop } = start();
    settle();
    expect(sessionStorage).toEqual({});
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

  it('replaces the previous one', () => {
    moveTo(AD);
    const { views } = start({ campaign: true });
    settle();
    go('/yarns?fbclid=F1');
    expect(views()[1]).toMatchObject({ fbclid: 'F1' });
    expect(views()[1]).not.toHaveProperty('gclid');
  });
});
