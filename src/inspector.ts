import { define } from './inspector/element.js';
import type { ClewFunction, Inspectable } from './inspector/subject.js';

export type { ClewFunction, Inspectable };

/** `<clew-inspector>`: shows what its `tracker` does, for as long as it is in a page. It fills what it is in. */
export interface ClewInspectorElement extends HTMLElement {
  tracker: Inspectable | undefined;
}

/** Where an inspector is to be. */
export interface InspectOptions {
  /** What it fills. Without one it is docked over the page, at its lower edge. */
  readonly parent?: Element | undefined;
}

const isBrowser = typeof window !== 'undefined';
if (isBrowser) define();

/**
 * Opens an inspector: what becomes of each event, each request, who sends, who the visitor is, and what was dropped and
 * why. It listens from now on; of what came before it knows the sums.
 *
 * @param tracker a tracker, or the page's `window.clew`, also before the script tag's bundle has come
 * @returns closes it, and leaves nothing behind
 * @example const close = inspect(tracker);
 */
export const inspect = (tracker: Inspectable, { parent }: InspectOptions = {}): (() => void) => {
  if (!isBrowser) return () => {};
  const element = document.createElement('clew-inspector') as ClewInspectorElement;
  element.toggleAttribute('docked', !parent);
  element.tracker = tracker;
  (parent ?? document.body).append(element);
  return () => element.remove();
};

/**
 * The same if the page's address has `?clew-inspect`, else nothing: for builds in which a developer may look.
 *
 * @returns closes it, or undefined if it was not asked for
 */
export const inspectOnRequest = (tracker: Inspectable): (() => void) | undefined =>
  isBrowser && new URLSearchParams(location.search).has('clew-inspect') ? inspect(tracker) : undefined;

declare global {
  interface HTMLElementTagNameMap {
    'clew-inspector': ClewInspectorElement;
  }
}
