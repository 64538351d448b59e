import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useInsertionEffect,
  useRef,
  useState,
} from 'react';
import type { AnyEvents, EventMap, Tracker } from './api/types.js';
import { referrerAfter, watchRefusals, withoutLink } from './page/address.js';
import { report } from './page/report.js';
import { type ClewSession, sessionFollower } from './page/session.js';
import { createViews } from './page/views.js';

export type { ClewSession };

const TrackerContext = createContext<Tracker | undefined>(undefined);

/** Passes the app's tracker to the components below it: `<ClewProvider tracker={tracker}>…</ClewProvider>`. */
export const ClewProvider = <Events extends EventMap>(props: {
  tracker: Tracker<Events>;
  children?: ReactNode | undefined;
}): ReactElement =>
  createElement(TrackerContext.Provider, { value: props.tracker as unknown as Tracker }, props.children);

/**
 * Returns the tracker of the nearest `ClewProvider`. Write `const useAppTracker = useTracker<AppEvents>` once, so that all
 * components share the types of the app's events.
 *
 * @throws Error if no `ClewProvider` is above the component
 */
export const useTracker = <Events extends EventMap = AnyEvents>(): Tracker<Events> => {
  const tracker = useContext(TrackerContext);
  if (!tracker)
    throw new Error('clew: useTracker: expected a <ClewProvider tracker={…}> above this component, found none');
  return tracker;
};

/**
 * Identifies the customer who is logged in, and resets after a log-out. Call it in one component that stays mounted, such as the layout.
 * Renders with an equal session, unmounting and strict mode call nothing.
 *
 * @param session an identity token, which names its customer, or a customer with a primary key. For `null`, a log-out, the hook resets
 * a visitor id that it has identified, on this page or an earlier one. `undefined` means that the app does not know yet. Then the hook
 * calls nothing.
 * @throws Error if no `ClewProvider` is above the component
 * @example useIdentity({ primaryKey: user.id });
 */
export const useIdentity = (session: string | ClewSession | null | undefined): void => {
  const follower = sessionFollower(useTracker());
  const followed = useRef<typeof follower>(undefined);
  useInsertionEffect(() => {
    follower.latest = session;
    if (session === undefined || followed.current === follower) return;
    // The first session that is known, before all effects of the page: what they track is the customer's.
    followed.current = follower;
    follower.follow();
  });
  // React cleans up before it runs effects. So cleanups of the last customer's components track for that customer, and effects of the
  // next customer's components track for the next one.
  useEffect(() => {
    // A component that was hidden has missed changes.
    follower.follow();
    return follower.follow;
  });
};

/**
 * How long (ms) a view waits if an effect has changed the address. If the router follows meanwhile, it was a redirect. If not, the
 * app has made the address canonical.
 */
const REDIRECT = 1000;

/** Where the router keeps its path: the fragment, if that begins like a path. */
const routerPath = (): string => /^#!?(\/[^?]*)/.exec(location.hash)?.[1] ?? location.pathname;

/**
 * Tracks a `page_view` for each path of a router. Call `usePageViews(useLocation())` in one component that stays mounted, such
 * as the layout. `path` is the router's path, `url` and `title` come from the page, and `referrer` is the URL of the previous
 * view. The title is the one of 100 ms later, because many apps set it after rendering.
 *
 * @param at the router's location, or only its pathname. `null` means that the router does not know yet. Then the hook tracks nothing.
 * @param options defines which changes are views
 * @param options.query counts a change of the query alone as a view. The default is false.
 * @throws Error if no `ClewProvider` is above the component
 */
export const usePageViews = (
  at: string | { pathname: string; search?: string | undefined } | null | undefined,
  { query = false }: { query?: boolean | undefined } = {},
): void => {
  const tracker = useTracker();
  const { pathname, search = '' } = typeof at === 'string' ? { pathname: at } : (at ?? { pathname: '' });
  const isKnown = at != null;
  const view = query ? withoutLink(pathname + search) : pathname;
  const [views] = useState(createViews);
  // Outlives the second mounting of strict mode, and an effect that runs anew after hot reload.
  const last = useRef<{ view: string; url: string; referrer: string }>(undefined);
  const committed = useRef({ view: '', path: '' });
  // While a view is rendered, the document has the title of the one before. On a server there is none.
  const titleBefore = globalThis.document?.title;
  // Before all effects, of which one may navigate.
  useInsertionEffect(() => {
    committed.current = { view, path: routerPath() };
    if (isKnown && view !== last.current?.view) views.leave(titleBefore);
  });
  useEffect(() => {
    if (!isKnown) return undefined;
    if (typeof pathname !== 'string') {
      report(tracker, `usePageViews: expected a location or a pathname, found ${typeof pathname} as the pathname`);
      return undefined;
    }
    const before = committed.current.path;
    const see = (url = withoutLink(location.href)) => {
      if (view === last.current?.view) return;
      const referrer = referrerAfter(last.current?.url);
      last.current = { view, url, referrer };
      views.see(tracker, { path: pathname, url, referrer });
    };
    /** The view is left while it waits: it was a redirect, unless the visitor has gone on from the address that an effect has made. */
    let leave = () => {};
    const offs = [
      watchRefusals(tracker, () => {
        if (last.current) last.current = { ...last.current, url: '', referrer: '' };
      }),
    ];
    const decide = () => {
      const now = routerPath();
      // Some routers change the address only in this task.
      const isHere = now === before || (now.endsWith(pathname) && !before.endsWith(pathname));
      if (isHere) return see();
      // A view that a <Navigate> leaves at once was not visible.
      const url = withoutLink(location.href);
      timer = setTimeout(see, REDIRECT);
      leave = () => routerPath() !== now && see(url);
      // The visitor who sees the view is about to be another one. In the commit that leaves the view, it may be a redirect.
      const settle = () => {
        if (committed.current.view === view) see(url);
        else leave();
        views.leave(document.title);
      };
      offs.push(tracker.on('change', settle));
    };
    let timer = setTimeout(decide);
    const onPageHide = () => {
      clearTimeout(timer);
      see();
      views.end();
    };
    const onPageShow = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      const { referrer } = last.current ?? { referrer: referrerAfter(undefined) };
      tracker.page({ path: pathname, url: withoutLink(location.href), referrer });
    };
    const listening = new AbortController();
    const { signal } = listening;
    // Before the tracker's own listener, which hands over the queue.
    addEventListener('pagehide', onPageHide, { capture: true, signal });
    addEventListener('pageshow', onPageShow, { signal });
    return () => {
      clearTimeout(timer);
      leave();
      for (const off of offs) off();
      listening.abort();
    };
  }, [tracker, isKnown, pathname, view, views]);
};
