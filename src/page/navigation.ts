import type { Plugin } from '../tracker/types.js';
import { createCampaign } from './campaign.js';

/** What `pageViews` takes. */
export interface PageViewOptions {
  /**
   * A change of the hash alone is a view, too: for apps that have their routes there.
   *
   * @default false
   */
  hash?: boolean;
  /**
   * A change of the query alone is a view, too.
   *
   * @default false
   */
  query?: boolean;
  /**
   * Every view of a visit names the campaign that has brought the visitor, not only the first.
   *
   * @default false
   */
  campaign?: boolean;
}

/**
 * How long (ms) an address has to stand before it is seen as a view: routers redirect by replacing it a moment after,
 * and apps set the title only when the new route is rendered.
 */
const SETTLING = 100;

/**
 * Tells of every change of the address within this page, also of those that change it to itself.
 *
 * https://html.spec.whatwg.org/multipage/nav-history-apis.html#navigation-api
 *
 * @returns puts `history` back, where it had to be patched, unless somebody has patched over it
 */
const watchAddress = (move: (isReplaced: boolean) => void, options: { signal: AbortSignal }): (() => void) => {
  const { navigation } = window as { navigation?: Navigation };
  navigation?.addEventListener(
    'currententrychange',
    ({ navigationType }) => move(navigationType === 'replace'),
    options,
  );
  const undoings = (navigation ? [] : (['pushState', 'replaceState'] as const)).map((name) => {
    const original = history[name];
    const patched: typeof original = (...state) => {
      original.apply(history, state);
      // Whoever has patched over it calls it still.
      if (!options.signal.aborted) move(name === 'replaceState');
    };
    history[name] = patched;
    return () => {
      if (history[name] === patched) history[name] = original;
    };
  });
  if (!navigation) addEventListener('popstate', () => move(false), options);
  return () => {
    for (const undo of undoings) undo();
  };
};

/**
 * Tracks a `page_view` when the page is seen (loaded, activated, restored from the back/forward cache), and in apps of one
 * page on every change of the path, with `url`, `path`, `title` and `referrer`: the view before, if it was in this page.
 * The first view of a visit also has the parameters of the campaign: `utm_source` and its like, `gclid`, `fbclid`,
 * `msclkid` and the like.
 *
 * @example createTracker({ baseUrl: '/clew', pageViews: pageViews({ hash: true }) })
 */
export const pageViews =
  ({ hash, query, campaign }: PageViewOptions = {}): Plugin =>
  (tracker) => {
    const listening = new AbortController();
    // Before the page's own listeners, which may move on or track.
    const options = { capture: true, signal: listening.signal };
    const [notice, tell] = createCampaign(tracker.correlationValue);
    let here = '';
    /** The address of the view that was tracked last. */
    let seen = '';
    let { referrer } = document;

    /** What two addresses of the same view have in common. A hash may have a query, too. */
    const viewOf = (url: string) => url.replace(hash ? '' : /#.*/, '').replace(query ? '' : /\?[^#]*/, '');
    const view = () => tracker.page({ ...tell(campaign), url: here, path: new URL(here).pathname, referrer });
    const settle = () => {
      if (viewOf(here) === viewOf(seen)) return;
      referrer = seen || referrer;
      seen = here;
      view();
    };
    const move = (isReplaced: boolean) => {
      // What was not replaced was there to be seen, however shortly.
      if (!isReplaced) settle();
      here = location.href;
      notice(here);
      setTimeout(settle, SETTLING);
    };

    move(true);
    const unwatch = watchAddress(move, options);
    addEventListener('pagehide', settle, options);
    addEventListener('pageshow', ({ persisted }) => persisted && view(), options);
    return () => {
      settle();
      unwatch();
      listening.abort();
    };
  };
