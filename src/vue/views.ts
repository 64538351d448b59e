import { nextTick } from 'vue';
import type { Tracker } from '../api/types.js';
import { referrerAfter, watchRefusals, withoutLink } from '../page/address.js';
import { createViews } from '../page/views.js';

/** The part of a route that the plugin uses. */
export interface RouteLike {
  /** Without query and fragment. */
  readonly path: string;
  /** With both. */
  readonly fullPath: string;
}

/** The part of Vue Router that the plugin uses. */
export interface RouterLike {
  /** Calls `hook` after every navigation, including failed ones. Returns a function that removes the hook. */
  afterEach(hook: (to: RouteLike, from: unknown, failure?: unknown) => void): () => void;
  /** Calls `guard` before every navigation. Returns a function that removes it. Without it, a view that is left soon may have the title before. */
  beforeEach?(guard: () => void): () => void;
  /** Resolves after the first navigation. Without it, a first view before the plugin's installation is not tracked. */
  isReady?(): Promise<unknown>;
  /** The route of the last navigation. */
  readonly currentRoute?: { readonly value: RouteLike };
}

/** Tracks the router's views until the returned function is called. */
const watchViews = (tracker: Tracker, router: RouterLike, query?: boolean): (() => void) => {
  const views = createViews();
  const listening = new AbortController();
  const { signal } = listening;
  /** The document's title while a view was shown first, and as the next navigation began. */
  let titles = { before: '', shown: '', left: '' };
  let last: { view: string; path: string; url: string; referrer: string } | undefined;
  const see = async ({ path, fullPath }: RouteLike) => {
    const view = query ? withoutLink(fullPath).replace(/#.*/, '') : path;
    if (view === last?.view) return;
    const referrer = referrerAfter(last?.url);
    const url = withoutLink(location.href);
    last = { view, path, url, referrer };
    // The next view's title may be there already. An app that sets titles late has not set this one when it was shown.
    const { before, shown, left } = titles;
    const title = shown === before ? left : shown;
    views.leave(title);
    // Then the new view is there, and its title may be.
    await nextTick();
    titles = { before: title, shown: document.title, left: document.title };
    views.see(tracker, { path, url, referrer });
    if (signal.aborted) views.end();
  };
  const offBefore = router.beforeEach?.(() => {
    titles.left = document.title;
  });
  const off = router.afterEach((to, _from, failure) => {
    if (!failure) see(to);
  });
  const seeFirst = () => {
    if (!last && router.currentRoute && !signal.aborted) see(router.currentRoute.value);
  };
  // `isReady` rejects if the first navigation fails.
  router.isReady?.().then(seeFirst, () => {});
  // Before the tracker's own, which hands over what is left.
  addEventListener('pagehide', views.end, { capture: true, signal });
  const onPageShow = ({ persisted }: PageTransitionEvent) => {
    if (!persisted || !last) return;
    const { path, referrer } = last;
    tracker.page({ path, url: withoutLink(location.href), referrer });
  };
  addEventListener('pageshow', onPageShow, { signal });
  const offRefusals = watchRefusals(tracker, () => {
    if (last) last = { ...last, url: '', referrer: '' };
  });
  return () => {
    off();
    offBefore?.();
    offRefusals();
    views.end();
    listening.abort();
  };
};

/** The apps that share a router and a tracker. Each of them would track the same views. */
interface Shared {
  readonly apps: Set<symbol>;
  readonly end: () => void;
}

const shared = new WeakMap<Tracker, WeakMap<RouterLike, Shared>>();

/**
 * Tracks the router's views for an app until the returned function is called. Apps with the same router and tracker track each view
 * once, until the last of them ends.
 */
export const trackViews = (tracker: Tracker, router: RouterLike, query?: boolean): (() => void) => {
  const ofTracker = shared.get(tracker) ?? new WeakMap<RouterLike, Shared>();
  const views = ofTracker.get(router) ?? { apps: new Set(), end: watchViews(tracker, router, query) };
  shared.set(tracker, ofTracker.set(router, views));
  const app = Symbol();
  views.apps.add(app);
  return () => {
    // Vue calls this function again if the app unmounts a second time.
    const isSecond = !views.apps.delete(app);
    if (isSecond || views.apps.size) return;
    ofTracker.delete(router);
    views.end();
  };
};
