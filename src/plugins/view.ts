import { withoutLink } from '../page/address.js';

/** The view that the visitor sees, and what was tracked of it. */
export interface View {
  /** The properties of its page, for its events. */
  readonly page: { readonly url: unknown; readonly path: unknown; readonly title: unknown };
  /** Where it was shown: a router changes the address before the page. */
  readonly route: string;
  /** Whether a `page_view` has begun it, and not the document. */
  readonly isNamed: boolean;
  /** The active time (ms) of the page when the view began. */
  readonly from: number;
  /** Whether it has begun anew, for another visitor. */
  readonly isAnew?: boolean | undefined;
  /** How much active time (ms) of it was tracked, in so many events. */
  readonly tracked: number;
  readonly parts: number;
  /** The deepest point that was seen, in percent. */
  readonly depth?: number | undefined;
}

/**
 * For how much active time (ms) the next visitor has to see the view of the visitor before, until it counts as seen. After a logout
 * the app shows another address. The `page_view` follows once the address has settled.
 */
const MOMENT = 200;

/** The route that the address shows. A hash is a part of it if it looks like a path. A query is not, also in a hash. */
export const routeHere = (): string => {
  const { pathname, hash } = location;
  return pathname + (/^#!?\/[^?#]*/.exec(hash)?.[0] ?? '');
};

const pageHere = (): View['page'] => ({
  url: withoutLink(location.href),
  path: location.pathname,
  title: document.title,
});

/**
 * A view that begins.
 *
 * @param from the active time until now
 * @param payload the payload of the `page_view`, if there is one
 */
export const viewHere = (from: number, payload?: unknown): View => {
  const { url, path, title } = (payload ?? pageHere()) as View['page'];
  return { page: { url, path, title }, route: routeHere(), isNamed: !!payload, from, tracked: 0, parts: 0 };
};

/** Whether a `page_view` comes after another one, of the view that was shown first. */
export const isAfter = ({ page }: View, payload: unknown): boolean => {
  const { url, referrer } = Object(payload);
  return referrer === page.url && url !== page.url;
};

/** How much of an element's height the visitor has in sight or above, in percent. */
export const depthOf = ({ scrollTop, clientHeight, scrollHeight }: Element): number =>
  Math.min(100, Math.round((100 * (scrollTop + clientHeight)) / Math.max(scrollHeight, 1)));

/** The payload of an event: the active time since the view's last event, and of the whole view. */
const stateOf = ({ page, depth, parts }: View, total: number, activeTime: number) => ({
  ...page,
  activeTime,
  totalTime: total,
  scrollDepth: depth,
  part: parts + 1,
});

/**
 * Ends a view, or a part of it.
 *
 * @param active the active time of the page until now
 * @returns the view, and the payload of its event. There is none if the view had one and no attention since, or if another visitor
 * has seen it for a moment only.
 */
export const partOf = (view: View, active: number): readonly [View, ReturnType<typeof stateOf>?] => {
  const total = Math.round(active - view.from);
  const activeTime = total - view.tracked;
  if ((view.parts && activeTime <= 0) || (view.isAnew && total <= MOMENT)) return [view];
  return [{ ...view, tracked: total, parts: view.parts + 1 }, stateOf(view, total, activeTime)];
};
