import { define } from './inspector/element.js';
import type { ClewFunction, Inspectable } from './inspector/subject.js';

export type { ClewFunction, Inspectable };

/** `<clew-inspector>`: displays the events, requests and state of its `tracker`. The element fills its parent. */
export interface ClewInspectorElement extends HTMLElement {
  /** The tracker to display, or the page's `window.clew`. */
  tracker: Inspectable | undefined;
}

/** Options of `inspect`. */
export interface InspectOptions {
  /**
   * The element that the inspector fills.
   *
   * @default none: the inspector is docked at the lower edge of the page
   */
  readonly parent?: Element | undefined;
}

const isBrowser = typeof window !== 'undefined';
if (isBrowser) define();

/** The tracker's inspector that is docked, or fills this parent. */
const find = (tracker: Inspectable, parent: Element | undefined): ClewInspectorElement | undefined =>
  [...(parent ?? document.body).children].find(
    (child): child is ClewInspectorElement =>
      child.matches(`clew-inspector${parent ? ':not([docked])' : '[docked]'}`) &&
      (child as ClewInspectorElement).tracker === tracker,
  );

const open = (tracker: Inspectable, parent: Element | undefined): ClewInspectorElement => {
  const element = document.createElement('clew-inspector') as ClewInspectorElement;
  element.toggleAttribute('docked', !parent);
  element.tracker = tracker;
  (parent ?? document.body).append(element);
  return element;
};

/**
 * Opens an inspector, which displays events, requests, the sending tab, the visitor and drops with their reasons. The inspector
 * listens from the call on. For earlier events it has only the sums. A tracker's inspector that is open in this place already stays.
 *
 * @param tracker a tracker, or the page's `window.clew`, also before the bundle loads
 * @returns a function that closes the inspector and removes its listeners
 * @example const close = inspect(tracker);
 */
export const inspect = (tracker: Inspectable, { parent }: InspectOptions = {}): (() => void) => {
  if (!isBrowser) return () => {};
  const element = find(tracker, parent) ?? open(tracker, parent);
  return () => element.remove();
};

/**
 * Opens an inspector if the page's address has `?clew-inspect`. Use it in builds that developers may inspect.
 *
 * @returns a function that closes the inspector, or undefined without `?clew-inspect`
 */
export const inspectOnRequest = (tracker: Inspectable): (() => void) | undefined =>
  isBrowser && new URLSearchParams(location.search).has('clew-inspect') ? inspect(tracker) : undefined;

declare global {
  interface HTMLElementTagNameMap {
    'clew-inspector': ClewInspectorElement;
  }
}
