import { type Directive, type InjectionKey, inject, type Plugin } from 'vue';
import type { AnyEvents, EventMap, Tracker } from './api/types.js';
import type { ClewSession } from './page/session.js';
import { type ClewBinding, createDirective } from './vue/directive.js';
import { type SessionSource, watchSession } from './vue/identity.js';
import { type RouteLike, type RouterLike, trackViews } from './vue/views.js';

export type { ClewBinding, ClewSession, RouteLike, RouterLike, SessionSource };

const KEY: InjectionKey<Tracker> = Symbol('clew');

declare module 'vue' {
  /** Lets Vue's tools check `v-clew` in templates. */
  interface GlobalDirectives {
    vClew: Directive<HTMLElement, ClewBinding, string, string>;
  }
}

/** Options of `createClew`. Only `tracker` is required. */
export interface ClewOptions<Events extends EventMap = AnyEvents> {
  /** The app's tracker, from `createTracker`. */
  tracker: Tracker<Events>;
  /**
   * Tracks a `page_view` for each path of this router. `path` is the router's path, `url` and `title` come from the page, and
   * `referrer` is the URL of the previous view. A return from the back/forward cache counts as a new view.
   *
   * @default none: no page views
   */
  router?: RouterLike | undefined;
  /**
   * Counts a change of the query alone as a view.
   *
   * @default false
   */
  query?: boolean | undefined;
}

/** @throws TypeError for a wrong option, and for one that does not exist */
const checkOptions = ({ tracker, router, query: _query, ...rest }: Partial<ClewOptions<never>> = {}): void => {
  const fail = (name: string, expected: string) => {
    throw new TypeError(`clew: createClew: ${name}: expected ${expected}`);
  };
  if (typeof tracker?.track !== 'function') fail('tracker', 'what createTracker returns');
  if (router && typeof router.afterEach !== 'function') fail('router', 'what createRouter of vue-router returns');
  for (const name of Object.keys(rest)) fail(name, 'one of tracker, router, query');
};

/**
 * Creates the Vue plugin. The plugin provides the tracker to all components, registers the directive `v-clew`, and tracks the
 * router's page views.
 *
 * @throws TypeError for a wrong option, and for one that does not exist
 */
export const createClew = <Events extends EventMap>(options: ClewOptions<Events>): Plugin => {
  checkOptions(options as Partial<ClewOptions<never>> | undefined);
  const { router, query } = options;
  const tracker = options.tracker as unknown as Tracker;
  return {
    install(app) {
      app.provide(KEY, tracker);
      app.directive('clew', createDirective(tracker));
      if (!router || typeof window === 'undefined') return;
      const off = trackViews(tracker, router, query);
      // Vue has had it since 3.5.
      app.onUnmount?.(off);
    },
  };
};

/**
 * Returns the app's tracker. Call it in `setup`.
 *
 * @throws Error if the app does not use the plugin, or the call is outside `setup`
 * @example export const useAppTracker = useTracker<AppEvents>; // once, so that all components share the types
 */
export const useTracker = <Events extends EventMap = AnyEvents>(): Tracker<Events> => {
  const tracker = inject(KEY, undefined);
  if (!tracker)
    throw new Error(
      'clew: useTracker: expected a call in setup, after app.use(createClew({ tracker })), found no tracker',
    );
  return tracker;
};

/**
 * Identifies the customer who is logged in, and resets after a log-out. Call it in `setup` of one component that stays mounted, such as
 * the root. An equal session and unmounting call nothing.
 *
 * @param session a ref, a getter or a value. An identity token names its customer. A customer without one has a primary key. For `null`,
 * a log-out, clew resets a visitor id that it has identified so, on this page or an earlier one. `undefined` means that the app does not
 * know yet. Then clew calls nothing.
 * @throws Error as for `useTracker`
 * @example useIdentity(() => ({ primaryKey: user.id }));
 */
export const useIdentity = (session: SessionSource): void => watchSession(useTracker(), session);
