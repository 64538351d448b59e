import type { Plugin } from '../api/types.js';
import { createCampaign } from './campaign.js';

/** Options of `pageViews`. */
export interface PageViewOptions {
  /**
   * Counts a change of the hash alone as a view, for apps that keep their routes in the hash.
   *
   * @default false
   */
  hash?: boolean;
  /**
   * Counts a change of the query alone as a view.
   *
   * @default false
   */
  query?: boolean;
  /**
   * Adds the campaign's parameters to every view of a visit, not only to the first.
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

/** Options of listeners: before the page's own, which may move on or track, and until it is aborted. */
type Listening = AbortController & { capture: true };
type Move = (kind?: NavigationType | null) => void;

/**
 * Reports every change of the address within this page, also of those that change it to itself, until `listening` is
 * aborted. Then `history` is put back, where it had to be patched, unless somebody has patched over it.
 *
 * https://html.spec.whatwg.org/multipage/nav-history-apis.html#navigation-api
 */
const watchAddress = (move: Move, listening: Listening): void => {
  const { navigation } = window as { navigation?: Navigation };
  navigation?.addEventListener('currententrychange', ({ navigationType }) => move(navigationType), listening);
  if (navigation) return;
  addEventListener('popstate', () => move(), listening);
  for (const kind of ['push', 'replace'] as const) {
    const name = `${kind}State` as const;
    const original = history[name];
    const patched: typeof original = (...state) => {
      original.apply(history, state);
      // Whoever has patched over it calls it still.
      if (!listening.signal.aborted) move(kind);
    };
    history[name] = patched;
    listening.signal.addEventListener('abort', () => {
      if (history[name] === patched) history[name] = original;
    });
  }
};

/**
 * Creates a plugin that tracks a `page_view` when the visitor sees the page: after loading, after prerendering, or after a return
 * from the back/forward cache. In single-page apps, it also tracks each change of the path. The payload has `url`, `path`,
 * `title` and `referrer`. In a single-page app, `referrer` is the URL of the previous view. The first view of a visit also has
 * the campaign's parameters, such as `utm_source` and `gclid`.
 *
 * @example createTracker({ baseUrl: '/clew', pageViews: pageViews({ hash: true }) })
 */
export const pageViews =
  ({ hash, query, campaign }: PageViewOptions = {}): Plugin =>
  (tracker) => {
    const listening: Listening = Object.assign(new AbortController(), { capture: true as const });
    const [notice, take] = createCampaign(tracker.correlationValue);
    let here = '';
    /** The address of the view that was tracked last. */
    let seen = '';
    let { referrer } = document;
    let timer: ReturnType<typeof setTimeout> | undefined;

    /** What two addresses of the same view have in common. A hash may have a query, too. */
    const viewOf = (url: string) => url.replace(hash ? '' : /#.*/, '').replace(query ? '' : /\?[^#]*/, '');
    const view = () => tracker.page({ ...take(campaign), url: here, path: new URL(here).pathname, referrer });
    const settle = () => {
      if (viewOf(here) === viewOf(seen)) return;
      referrer = seen || referrer;
      seen = here;
      view();
    };
    const move: Move = (kind) => {
      // What was not replaced was there to be seen, however shortly.
      if (kind !== 'replace') settle();
      const { href } = location;
      // Another address has to stand for as long, whatever was left of the time of the one before.
      if (viewOf(href) !== viewOf(here)) {
        clearTimeout(timer);
        timer = setTimeout(settle, SETTLING);
      }
      here = href;
      notice(here);
    };

    move('replace');
    watchAddress(move, listening);
    addEventListener('pagehide', settle, listening);
    addEventListener('pageshow', ({ persisted }) => persisted && view(), listening);
    return () => {
      settle();
      listening.abort();
    };
  };
