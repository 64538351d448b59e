import type { Tracker } from '../api/types.js';
import { neverSeen, whenSeen } from './prerender.js';

/** How long (ms) an app may take to set a view's title. react-helmet-async and unhead set it a moment after rendering. */
const TITLE = 100;

/** A router's view, as it was when it was shown. */
export interface RouterView {
  readonly path: string;
  readonly url: string;
  /** The URL of the previous view, or the document's referrer. */
  readonly referrer: string;
}

/** Tracks the views of a router, each once its title can be there. */
export const createViews = () => {
  let pending: { readonly send: (title: string) => void; readonly title: string } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = (title?: string) => {
    clearTimeout(timer);
    const view = pending;
    pending = undefined;
    view?.send(title ?? view.title);
  };
  const settleHere = () => settle(document.title);
  /** Shows the last view of a prerendered page, because the visitor sees only that one. */
  let begin = () => {};
  return {
    /** The router shows another view. */
    see(tracker: Pick<Tracker, 'page' | 'on'>, view: RouterView): void {
      settle();
      neverSeen(begin);
      begin = () => {
        const off = tracker.on('change', settleHere);
        const send = (title: string) => {
          off();
          tracker.page({ ...view, title });
        };
        pending = { send, title: document.title };
        timer = setTimeout(settleHere, TITLE);
      };
      whenSeen(begin);
    },
    /** The view is left. The document may already have the next title. Without `title`, the view has its first title. */
    leave: (title?: string) => settle(title),
    /** The page unloads, or the app ends. The visitor has not seen a view that is still prerendered. */
    end() {
      neverSeen(begin);
      settleHere();
    },
  };
};
