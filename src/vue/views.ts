import { nextTick } from 'vue';
import type { Tracker } from '../api/types.js';

/** The part of Vue Router that the plugin uses. */
export interface RouterLike {
  /** Calls `hook` after every navigation, including failed ones. Returns a function that removes the hook. */
  afterEach(hook: (to: { path: string; fullPath: string }, from: unknown, failure?: unknown) => void): () => void;
}

/** Tracks the router's views until the returned function is called. */
export const trackViews = (tracker: Tracker, router: RouterLike, query?: boolean): (() => void) => {
  let last: { view: string; path: string; url: string } | undefined;
  const off = router.afterEach(async ({ path, fullPath }, _from, failure) => {
    const view = query ? fullPath.replace(/#.*/, '') : path;
    if (failure || view === last?.view) return;
    const referrer = last?.url;
    last = { view, path, url: location.href };
    // Then the new view is there, and its title.
    await nextTick();
    tracker.page({ path, ...(referrer && { referrer }) });
  });
  const onPageShow = ({ persisted }: PageTransitionEvent) => persisted && last && tracker.page({ path: last.path });
  addEventListener('pageshow', onPageShow);
  return () => {
    off();
    removeEventListener('pageshow', onPageShow);
  };
};
