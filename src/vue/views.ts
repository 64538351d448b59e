import { nextTick } from 'vue';
import type { Tracker } from '../api/types.js';
import { referrerAfter, withoutLink } from '../page/address.js';
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
  /** Resolves after the first navigation. Without it, a first view before the plugin's installation is not tracked. */
  isReady?(): Promise<unknown>;
  /** The route of the last navigation. */
  readonly currentRoute?: { readonly value: RouteLike };
}

/** Tracks the router's views until the returned function is called. */
export const trackViews = (tracker: Tracker, router: RouterLike, query?: boolean): (() => void) => {
  const views = createViews();
  const listening = new AbortController();
  const { signal } = listening;
  let last: { view: string; path: string; url: string; referrer: string } | undefined;
  const see = async ({ path, fullPath }: RouteLike) => {
    const view = query ? withoutLink(fullPath).replace(/#.*/, '') : path;
    if (view === last?.view) return;
    const referrer = referrerAfter(last?.url);
    const url = withoutLink(location.href);
    last = { view, path, url, referrer };
    views.leave();
    // Then the new view is there, and its title may be.
    await nextTick();
    if (!signal.aborted) views.see(tracker, { path, url, ...(referrer && { referrer }) });
  };
  const off = router.afterEach((to, _from, failure) => {
    if (!failure) see(to);
  });
  const seeFirst = () => {
    if (!last && router.currentRoute && !signal.aborted) see(router.currentRoute.value);
  };
  // It rejects if the first navigation fails.
  router.isReady?.().then(seeFirst, () => {});
  // Before the tracker's own, which hands over what is left.
  addEventListener('pagehide', views.end, { capture: true, signal });
  const onPageShow = ({ persisted }: PageTransitionEvent) => {
    if (!persisted || !last) return;
    const { path, referrer } = last;
    tracker.page({ path, url: withoutLink(location.href), ...(referrer && { referrer }) });
  };
  addEventListener('pageshow', onPageShow, { signal });
  return () => {
    off();
    views.leave();
    listening.abort();
  };
};
