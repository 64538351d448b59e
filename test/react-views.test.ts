import { act, createElement, StrictMode, useEffect } from 'react';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTracker } from '../src/index.ts';
import { ClewProvider, type ClewSession, useIdentity, usePageViews } from '../src/react.ts';
import { createTestTracker } from '../src/testing.ts';

/**
 * As much of a page as React needs to run effects: the components here render nothing, so that no element is ever made.
 * Routers in a real page are in e2e/frameworks.spec.ts.
 */
const createPage = () => {
  const window = Object.assign(new EventTarget(), { HTMLIFrameElement: class {}, event: undefined });
  const document = Object.assign(new EventTarget(), {
    nodeType: 9,
    nodeName: '#document',
    defaultView: window,
    activeElement: null,
    title: 'the title before',
    referrer: '',
  });
  const container = Object.assign(new EventTarget(), {
    nodeType: 1,
    nodeName: 'DIV',
    tagName: 'DIV',
    namespaceURI: 'http://www.w3.org/1999/xhtml',
    ownerDocument: document,
    textContent: '',
  });
  return { window: Object.assign(window, { document }), document, container: container as unknown as Element };
};

const ORIGIN = 'https://shop.example';
type At = Parameters<typeof usePageViews>[0];
type Options = Parameters<typeof usePageViews>[1];

let page: ReturnType<typeof createPage>;
let root: Root;
const tracker = createTracker({ baseUrl: '/clew' });
const whole = () => vi.mocked(tracker.page).mock.calls.map(([view]) => view);
const views = () => whole().map((view) => ({ path: view?.path, ...(view?.referrer && { referrer: view.referrer }) }));
const goTo = (path: string) => {
  const { href, pathname, hash } = new URL(path, ORIGIN);
  vi.stubGlobal('location', { href, pathname, hash });
};

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(tracker, 'page').mockReturnValue(undefined as never);
  page = createPage();
  vi.stubGlobal('window', page.window);
  vi.stubGlobal('document', page.document);
  vi.stubGlobal('addEventListener', page.window.addEventListener.bind(page.window));
  vi.stubGlobal('removeEventListener', page.window.removeEventListener.bind(page.window));
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  goTo('/');
  const { createRoot } = await import('react-dom/client');
  root = createRoot(page.container);
});
afterEach(async () => {
  await act(async () => root.unmount());
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const Layout = ({
  at,
  options,
  effect,
}: {
  at: At;
  options?: Options | undefined;
  effect?: (() => void) | undefined;
}) => {
  usePageViews(at, options);
  useEffect(() => effect?.(), [effect]);
  return null;
};
/** Renders the app at a location in one task. The views are tracked in the next task. */
const commit = (
  at: At,
  { options, effect, strict }: { options?: Options; effect?: () => void; strict?: boolean } = {},
) =>
  act(async () => {
    const app = createElement(ClewProvider, { tracker }, createElement(Layout, { at, options, effect }));
    root.render(strict ? createElement(StrictMode, null, app) : app);
  });
const settle = () => vi.runAllTimers();
const visit = async (path: string, options?: Options) => {
  goTo(path);
  const { pathname, search } = new URL(path, ORIGIN);
  await commit({ pathname, search }, { options });
  settle();
};
const show = (persisted: boolean) => page.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));

it('usePageViews tracks one view for each path, with the URL of the view before', async () => {
  for (const path of ['/', '/yarns', '/yarns?fibre=wool', '/yarns#top', '/club']) await visit(path);
  expect(views()).toEqual([
    { path: '/' },
    { path: '/yarns', referrer: `${ORIGIN}/` },
    { path: '/club', referrer: `${ORIGIN}/yarns` },
  ]);
});

it('usePageViews accepts a pathname', async () => {
  await commit('/yarns');
  settle();
  goTo('/club');
  await commit('/club');
  settle();
  await commit('/club');
  settle();
  expect(views().map((view) => view?.path)).toEqual(['/yarns', '/club']);
});

it('usePageViews tracks nothing while the router does not know its path', async () => {
  for (const path of [null, '/yarns', null, '/yarns', undefined, '/club']) {
    if (path) goTo(path);
    await commit(path, { options: { query: true } });
    settle();
  }
  expect(views()).toEqual([{ path: '/yarns' }, { path: '/club', referrer: `${ORIGIN}/yarns` }]);
});

it.each([
  ['undefined', {}],
  ['undefined', () => '/yarns'],
  ['number', { pathname: 7 }],
])('usePageViews emits an error for a location whose pathname is %s', async (type, wrong) => {
  const use = vi.spyOn(tracker, 'use');
  await commit(wrong as At);
  // A tracker reports what a plugin throws. The one of this test is of a server, and silent.
  expect(use.mock.calls[0]?.[0]).toThrow(
    `usePageViews: expected a location or a pathname, found ${type} as the pathname`,
  );
  settle();
  expect(views()).toEqual([]);
});

it('usePageViews tracks a change of the query alone with `query`', async () => {
  for (const path of ['/yarns', '/yarns?fibre=wool', '/yarns?fibre=wool#top', '/yarns?fibre=silk'])
    await visit(path, { query: true });
  expect(views()).toEqual([
    { path: '/yarns' },
    { path: '/yarns', referrer: `${ORIGIN}/yarns` },
    { path: '/yarns', referrer: `${ORIGIN}/yarns?fibre=wool` },
  ]);
});

it('usePageViews tracks one view in strict mode, which mounts twice', async () => {
  await commit('/', { strict: true });
  settle();
  expect(views()).toEqual([{ path: '/' }]);
});

it('usePageViews tracks a view after 100 ms, with the title that the app has set meanwhile', async () => {
  await commit('/');
  vi.advanceTimersByTime(99);
  expect(views()).toEqual([]);
  page.document.title = 'Home';
  settle();
  expect(whole()).toEqual([{ path: '/', url: `${ORIGIN}/`, referrer: '', title: 'Home' }]);
});

it('usePageViews tracks a view that is left within 100 ms with its own address and title', async () => {
  await commit('/');
  vi.advanceTimersByTime(1);
  page.document.title = 'Home';
  goTo('/yarns');
  await commit('/yarns');
  page.document.title = 'Yarns';
  vi.advanceTimersByTime(1);
  page.document.title = 'Our yarns';
  page.window.dispatchEvent(new Event('pagehide'));
  expect(whole()).toEqual([
    { path: '/', url: `${ORIGIN}/`, referrer: '', title: 'Home' },
    { path: '/yarns', url: `${ORIGIN}/yarns`, title: 'Our yarns', referrer: `${ORIGIN}/` },
  ]);
  settle();
  expect(views()).toHaveLength(2);
});

it('usePageViews tracks a view in the task in which the page unloads', async () => {
  await commit('/');
  page.window.dispatchEvent(new Event('pagehide'));
  expect(views()).toEqual([{ path: '/' }]);
});

it('usePageViews has no parameter of `linkDomains` in an address', async () => {
  goTo('/yarns?clew_link=x.y');
  await commit('/yarns');
  settle();
  expect(whole()).toMatchObject([{ url: `${ORIGIN}/yarns` }]);
});

it('usePageViews tracks a path whose effect makes the address canonical, with that address', async () => {
  await visit('/');
  goTo('/yarns/7');
  await commit('/yarns/7', { effect: () => goTo('/yarns/7-merino') });
  settle();
  await visit('/club');
  expect(whole().map((view) => view?.url)).toEqual(['/', '/yarns/7-merino', '/club'].map((path) => ORIGIN + path));
});

it.each(['#', '#!'])('usePageViews tracks no view that a redirect of a router in the hash leaves: %s', async (hash) => {
  goTo(`/${hash}/`);
  await commit('/', { effect: () => goTo(`/${hash}/home?from=/`) });
  vi.advanceTimersByTime(500);
  await commit('/home');
  settle();
  expect(views()).toEqual([{ path: '/home' }]);
});

it('usePageViews tracks no view of a path that an effect leaves at once', async () => {
  await visit('/');
  goTo('/old');
  await commit('/old', { effect: () => goTo('/new') });
  vi.advanceTimersByTime(999);
  await commit('/new');
  settle();
  expect(views().map((view) => view?.path)).toEqual(['/', '/new']);
});

it('usePageViews tracks a path whose router changes the address one task later', async () => {
  await visit('/');
  await commit('/yarns', { effect: () => goTo('/shop/yarns') });
  settle();
  expect(views().map((view) => view?.path)).toEqual(['/', '/yarns']);
});

it('usePageViews tracks a page that returns from the back/forward cache, with its referrer', async () => {
  await visit('/');
  await visit('/yarns');
  show(false);
  expect(views()).toHaveLength(2);
  show(true);
  expect(whole().slice(2)).toEqual([{ path: '/yarns', url: `${ORIGIN}/yarns`, referrer: `${ORIGIN}/` }]);
});

it('usePageViews tracks nothing after its component is unmounted', async () => {
  await commit('/');
  await act(async () => root.render(null));
  settle();
  show(true);
  expect(views()).toEqual([]);
});

it('usePageViews tracks no view of a path that a <Navigate> prefixes', async () => {
  await visit('/');
  goTo('/login');
  await commit('/login', { effect: () => goTo('/en/login') });
  vi.advanceTimersByTime(50);
  await commit('/en/login');
  settle();
  expect(views()).toEqual([{ path: '/' }, { path: '/en/login', referrer: `${ORIGIN}/` }]);
});

it('usePageViews tracks a path with a canonical address although another one follows at once', async () => {
  await visit('/');
  goTo('/yarns/7');
  await commit('/yarns/7', { effect: () => goTo('/yarns/7-merino') });
  vi.advanceTimersByTime(700);
  await visit('/club');
  expect(whole().map((view) => view?.url)).toEqual([`${ORIGIN}/`, `${ORIGIN}/yarns/7-merino`, `${ORIGIN}/club`]);
});

type Render = [at: string, session: ClewSession | null, effect?: () => void];
/** Follows the session before the path, as an app may do. */
const Members = ({ at, session, effect }: { at: string; session: ClewSession | null; effect: Render[2] }) => {
  useIdentity(session);
  usePageViews(at);
  useEffect(() => effect?.(), [effect]);
  return null;
};
/** Renders an app with log-in and log-out every 400 ms. Returns the views and to whom they belong, as the service sees it. */
const viewsOfVisitors = async (...renders: Render[]) => {
  const test = createTestTracker();
  for (const [at, session, effect] of renders) {
    const app = createElement(Members, { at, session, effect });
    await act(async () => root.render(createElement(ClewProvider, { tracker: test.tracker }, app)));
    vi.advanceTimersByTime(400);
  }
  settle();
  await test.tracker.flush();
  test.tracker.stop();
  const [identified] = test.events('$identify');
  return test.events('page_view').map(({ correlationValue, payload }) => {
    const { url, title } = payload as { url: string; title: string };
    return [url, title, correlationValue === identified?.correlationValue ? 'ann' : 'nobody'];
  });
};
const ann = { primaryKey: 'ann' };
const later = (run: () => void) => void setTimeout(run, 300);

it('usePageViews tracks a path with a canonical address for the visitor who saw it before a log-out', async () => {
  goTo('/yarns/7');
  const showYarn = () => {
    goTo('/yarns/7-merino');
    later(() => {
      page.document.title = 'Merino';
    });
  };
  expect(await viewsOfVisitors(['/yarns/7', ann, showYarn], ['/yarns/7', null])).toEqual([
    [`${ORIGIN}/yarns/7-merino`, 'Merino', 'ann'],
  ]);
});

it('usePageViews tracks a path with a canonical address before a log-out that shows another path', async () => {
  goTo('/yarns/7');
  const showYarn = () => {
    goTo('/yarns/7-merino');
    later(() => goTo('/bye'));
  };
  const views = await viewsOfVisitors(['/yarns/7', ann, showYarn], ['/bye', null]);
  expect(views.map(([url, , owner]) => [url, owner])).toEqual([
    [`${ORIGIN}/yarns/7-merino`, 'ann'],
    [`${ORIGIN}/bye`, 'nobody'],
  ]);
});

it('usePageViews tracks no view of a redirect whose target appears with the log-out', async () => {
  goTo('/logout');
  const views = await viewsOfVisitors(['/logout', ann, () => goTo('/bye')], ['/bye', null]);
  expect(views.map(([url, , owner]) => [url, owner])).toEqual([[`${ORIGIN}/bye`, 'nobody']]);
});

it('usePageViews tracks the path / whose router changes the address one task later', async () => {
  await visit('/yarns');
  await commit('/', { effect: () => goTo('/') });
  vi.advanceTimersByTime(500);
  await visit('/club');
  expect(views().map(({ path }) => path)).toEqual(['/yarns', '/', '/club']);
});

it('usePageViews with `query` counts a page once whose parameter of `linkDomains` goes', async () => {
  await visit('/yarns?clew_link=a.b', { query: true });
  await visit('/yarns', { query: true });
  expect(views()).toEqual([{ path: '/yarns' }]);
});

it('usePageViews has no parameter of `linkDomains` in the referrer or after the back/forward cache', async () => {
  Object.assign(page.document, { referrer: `${ORIGIN}/?clew_link=a.b` });
  await visit('/yarns?clew_link=a.b');
  show(true);
  const view = { path: '/yarns', url: `${ORIGIN}/yarns`, referrer: `${ORIGIN}/` };
  expect(whole().map((seen) => ({ path: seen?.path, url: seen?.url, referrer: seen?.referrer }))).toEqual([view, view]);
});
