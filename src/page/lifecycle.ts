/** The moments of a page's life that a tracker acts on. */
export interface Moments {
  /** The visitor has looked away, which on a phone is usually the last that is seen of them; or they are back, or the network is. */
  stir(isBack: boolean): void;
  /** The page is going away, to the back/forward cache or for ever. */
  leave(): void;
  /** The page has come back from the back/forward cache. */
  restore(): void;
}

/**
 * Calls `moments` until the returned function is called.
 *
 * Never `unload` or `beforeunload`: the first forbids the back/forward cache, neither fires on phones. `pagehide` is
 * dispatched on `window` only. https://developer.chrome.com/docs/web-platform/page-lifecycle-api
 */
export const watchLifecycle = ({ stir, leave, restore }: Moments): (() => void) => {
  // Its `signal` is all that it has in common with listener options.
  const listening = new AbortController();
  const listen = (type: string, listener: (event: Event) => void) => addEventListener(type, listener, listening);
  listen('pagehide', leave);
  listen('pageshow', (event) => (event as PageTransitionEvent).persisted && restore());
  listen('online', () => stir(true));
  // Bubbles from the document.
  listen('visibilitychange', () => stir(!document.hidden));
  return () => listening.abort();
};
