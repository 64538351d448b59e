import { type InjectionKey, inject, type Plugin } from 'vue';
import type { AnyEvents, EventMap, Tracker } from './tracker/types.js';
import { createDirective } from './vue/directive.js';
import { type RouterLike, trackViews } from './vue/views.js';

export type { ClewBinding } from './vue/directive.js';
export type { RouterLike };

const KEY: InjectionKey<Tracker> = Symbol('clew');

/** What `createClew` takes. Only `tracker` is required. */
export interface ClewOptions<Events extends EventMap = AnyEvents> {
  tracker: Tracker<Events>;
  /**
   * Tracks a `page_view` for each path this router comes to. `path` is the router's, `url` and `title` are the page's,
   * `referrer` is the previous view's URL. A page that comes back from the back/forward cache counts anew.
   *
   * @default none: no page views
   */
  router?: RouterLike;
  /**
   * Whether a change of the query alone is a view, too.
   *
   * @default false
   */
  query?: boolean;
}

/** The plugin: the tracker for all components, the directive `v-clew`, and the router's page views. */
export const createClew = <Events extends EventMap>(options: ClewOptions<Events>): Plugin => ({
  install(app) {
    const { router, query } = options;
    const tracker = options.tracker as unknown as Tracker;
    app.provide(KEY, tracker);
    app.directive('clew', createDirective(tracker));
    if (!router || typeof window === 'undefined') return;
    const off = trackViews(tracker, router, query);
    // Vue has had it since 3.5.
    app.onUnmount?.(off);
  },
});

/**
 * The tracker that the app uses, in `setup`.
 *
 * @throws Error where the plugin is missing
 * @example export const useAppTracker = useTracker<AppEvents>; // once, so that every component knows the app's events
 */
export const useTracker = <Events extends EventMap = AnyEvents>(): Tracker<Events> => {
  const tracker = inject(KEY, undefined);
  if (!tracker) throw new Error('clew: useTracker: expected app.use(createClew({ tracker })), and a call in setup');
  return tracker;
};
