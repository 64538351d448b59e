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
import type { AnyEvents, EventMap, Tracker } from './tracker/types.js';

const TrackerContext = createContext<Tracker | undefined>(undefined);

/** Gives the components below it the app's tracker: `<ClewProvider tracker={tracker}>…</ClewProvider>`. */
export const ClewProvider = <Events extends EventMap>(props: {
  tracker: Tracker<Events>;
  children?: ReactNode;
}): ReactElement =>
  createElement(TrackerContext.Provider, { value: props.tracker as unknown as Tracker }, props.children);

/**
 * The tracker of the provider above. `const useAppTracker = useTracker<AppEvents>`, once, gives all components the app's events.
 *
 * @throws Error where there is none
 */
export const useTracker = <Events extends EventMap = AnyEvents>(): Tracker<Events> => {
  const tracker = useContext(TrackerContext);
  if (!tracker) throw new Error('clew: useTracker: expected a <ClewProvider tracker={…}> above this component');
  return tracker;
};

/**
 * Tracks a `page_view` for each path a router comes to: `usePageViews(useLocation())` in a component that stays, such as the
 * layout. `path` is the router's, `url` and `title` are the page's, `referrer` is the previous view's URL.
 *
 * @param at the router's location, or only its pathname
 * @param options what counts as a view
 * @param options.query whether a change of the query alone is a view, too; default false
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
