import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useInsertionEffect,
  useRef,
} from 'react';
import type { AnyEvents, EventMap, Tracker } from './api/types.js';

const TrackerContext = createContext<Tracker | undefined>(undefined);

/** Passes the app's tracker to the components below it: `<ClewProvider tracker={tracker}>…</ClewProvider>`. */
export const ClewProvider = <Events extends EventMap>(props: {
  tracker: Tracker<Events>;
  children?: ReactNode;
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
 * Tracks a `page_view` for each path of a router. Call `usePageViews(useLocation())` in one component that stays mounted, such
 * as the layout. `path` is the router's path, `url` and `title` come from the page, and `referrer` is the URL of the previous
 * view.
 *
 * @param at the router's location, or only its pathname
 * @param options defines which changes are views
 * @param options.query counts a change of the query alone as a view; default false
 * @throws Error if no `ClewProvider` is above the component
 */
export const usePageViews = (at: string | { pathname: string; search?: string }, { query = false } = {}): void => {
  const tracker = useTracker();
  const { pathname, search = '' } = typeof at === 'string' ? { pathname: at } : at;
  const view = query ? pathname + search : pathname;
  // Outlives the second mounting of strict mode, and an effect that runs anew after hot reload.
  const last = useRef<{ view: string; url: string }>(undefined);
  const committed = useRef('');
  // Before all effects, of which one may navigate.
  useInsertionEffect(() => {
    committed.current = location.pathname;
  });
  useEffect(() => {
    const before = committed.current;
    const see = (referrer?: string) => {
      last.current = { view, url: location.href };
      tracker.page({ path: pathname, ...(referrer && { referrer }) });
    };
    const timer = setTimeout(() => {
      // What a <Navigate> leaves in the task that shows it, nobody has seen; some routers only come to it in that task.
      const isHere = location.pathname === before || location.pathname.endsWith(pathname);
      if (isHere && view !== last.current?.view) see(last.current?.url);
    });
    const onPageShow = ({ persisted }: PageTransitionEvent) => persisted && see();
    addEventListener('pageshow', onPageShow);
    return () => {
      clearTimeout(timer);
      removeEventListener('pageshow', onPageShow);
    };
  }, [tracker, pathname, view]);
};
