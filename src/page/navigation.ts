import type { Plugin } from '../api/types.js';
import { referrerAfter, watchRefusals, withoutLink } from './address.js';
import { createCampaign } from './campaign.js';
import { neverSeen, whenSeen } from './prerender.js';

/** Options of `pageViews`. */
export interface PageViewOptions {
  /**
   * Counts a change of the hash alone as a view, for apps that keep their routes in the hash.
   *
   * @default false
   */
  hash?: boolean | undefined;
  /**
   * Counts a change of the query alone as a view.
   *
   * @default false
   */
  query?: boolean | undefined;
  /**
   * Adds the campaign's parameters to every view of a visit, not only to the first.
   *
   * @default false
   */
  campaign?: boolean | undefined;
}

/**
 * How long (ms) an address must stay before it counts as a view. Routers redirect by replacing it a moment later, and apps set
 * the title only when the new route is rendered.
 */
const SETTLING = 100;

/** Options of listeners: before the page's own, which may move on or track, and until it is aborted. */
type Listening = AbortController & { capture: true };
/** `shown` settles once the page has finished to show the address. */
type Move = (kind: NavigationType, shown?: Promise<unknown>) => void;

/**
 * Settles once the page's deferred scripts and modules have run, unless they already have. An app among them may set the first
 * title. `readyState` does not show whether they have run.
 */
const whenRun = (): Promise<unknown> | undefined =>
  performance?.timing?.domContentLoadedEventStart === 0
    ? new Promise((resolve) => addEventListener('DOMContentLoaded', resolve))
    : undefined;

/** The path of an address that the browser has written. A site's own variable may replace `URL`. */
const pathOf = (url: string): string => url.replace(/^[^:]*:(\/\/[^/?#]*)?|[?#].*/g, '');

/** An address without its fragment. */
const pageOf = (url: string): string => url.replace(/#.*/, '');

/**
 * Reports changes of the address, also to the same address, and patches `history` for this. When `listening` is aborted, the function
 * restores `history`, unless another script has patched over it.
 */
const watchHistory = (move: Move, listening: Listening): void => {
  let { length } = history;
  let page = pageOf(location.href);
  const note: Move = (kind) => {
    length = history.length;
    page = pageOf(location.href);
    move(kind);
  };
  /** Whether the browser has called the listener below by itself: within a script, microtasks wait for the script's end. */
  let isAlone = false;
  const probe = () => {
    isAlone = false;
    queueMicrotask(() => {
      isAlone = true;
    });
  };
  addEventListener('popstate', probe, listening);
  // No event shows how the hash has changed. A script replaces it within its task, and the browser traverses in a task of its own.
  // A push makes the history longer, unless it is full.
  const isReplaced = ({ state }: PopStateEvent) =>
    !isAlone && state === null && history.length === length && page === pageOf(location.href);
  addEventListener('popstate', (event) => note(isReplaced(event) ? 'replace' : 'traverse'), listening);
  for (const kind of ['push', 'replace'] as const) {
    const name = `${kind}State` as const;
    const original = history[name];
    const patched: typeof original = (...state) => {
      original.apply(history, state);
      // A script that has patched over this function may still call it.
      if (!listening.signal.aborted) note(kind);
    };
    history[name] = patched;
    listening.signal.addEventListener('abort', () => {
      if (history[name] === patched) history[name] = original;
    });
  }
};

/** Reports changes of the address: https://html.spec.whatwg.org/multipage/nav-history-apis.html#navigation-api */
const watchNavigation = (navigation: Navigation, move: Move, listening: Listening): void => {
  const follow = ({ navigationType }: NavigationCurrentEntryChangeEvent) => {
    // `updateCurrentEntry` has no type, and changes no address.
    if (navigationType) move(navigationType, navigation.transition?.finished);
  };
  navigation.addEventListener('currententrychange', follow, listening);
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
  (tracker, tools) => {
    const listening: Listening = Object.assign(new AbortController(), { capture: true as const });
    const [notice, take] = createCampaign(tracker.correlationValue, tools);
    let here = '';
    /** The address of the view that was tracked last. */
    let seen = '';
    /** The referrer of this view, and of the next one. */
    let referrer = referrerAfter(undefined);
    let next = referrer;
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** Settles once the app of the first view has run. */
    let running: Promise<unknown> | undefined;
    /** The navigation that shows this address, also before it has begun to do so, and the title before it. */
    let showing: Promise<unknown> | undefined;
    let titleBefore = '';

    /** The part of an address that two addresses of the same view share. A hash may have a query, too. */
    const viewOf = (url: string) => url.replace(hash ? '' : /#.*/, '').replace(query ? '' : /\?[^#]*/g, '');
    const view = () => tracker.page({ ...take(campaign), url: here, path: pathOf(here), referrer });
    const settle = () => {
      if (viewOf(here) === viewOf(seen)) return;
      referrer = next;
      next = seen = here;
      view();
    };
    /** Whether a navigation is running that the page has intercepted. */
    const isNavigating = () => !!showing && showing !== running;
    /** The page still shows the view before. */
    const isUnseen = () => !!seen && isNavigating() && document.title === titleBefore;
    /** Another address must stay for the full time again. */
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(settle, SETTLING);
    };
    const move: Move = (kind, shown) => {
      // An address that was not replaced was visible, if only for a moment.
      if (kind !== 'replace' && !isUnseen()) settle();
      const url = withoutLink(location.href);
      const isOther = viewOf(url) !== viewOf(here);
      here = url;
      notice(url);
      // A second click on the link ends the first navigation. A handler may replace the query, which ends its own navigation.
      if (!isOther && (shown ? viewOf(url) === viewOf(seen) : !isNavigating())) return;
      showing = shown;
      if (!shown) return wait();
      // The title is the old one until then. Another navigation ends this one, and waits for itself.
      clearTimeout(timer);
      titleBefore = document.title;
      // A handler may reject with anything.
      const end = (cause?: Partial<Error> | null) => {
        if (showing !== shown) return;
        // Another navigation, or the visitor, has stopped it.
        if (cause?.name === 'AbortError' && isUnseen()) here = seen;
        else wait();
        showing = undefined;
      };
      shown.then(() => end(), end);
    };

    const watch = () => {
      running = whenRun();
      move('replace', running);
      const { navigation } = window as { navigation?: Navigation };
      // A global variable of the site may replace it.
      if (navigation?.currentEntry) watchNavigation(navigation, move, listening);
      else watchHistory(move, listening);
      addEventListener('pagehide', settle, listening);
      addEventListener('pageshow', ({ persisted }) => persisted && view(), listening);
    };
    const offs = [
      tracker.on('change', () => isUnseen() || settle()),
      watchRefusals(tracker, () => {
        next = referrer = '';
      }),
    ];
    // The browser may discard a prerendered page.
    whenSeen(watch);
    return () => {
      neverSeen(watch);
      settle();
      listening.abort();
      for (const off of offs) off();
    };
  };
