/** The moments of a page's life that a tracker acts on. */
export interface Moments {
  /** The visitor has looked away: perhaps the last moment, and on a phone usually so. */
  hidden(): void;
  /** The page is going away, to the back/forward cache or for ever. */
  leave(): void;
  /** The visitor or the network is back. */
  wake(): void;
  /** The page has come back from the back/forward cache. */
  restore(): void;
}

/**
 * Calls `moments` until the returned function is called.
 *
 * Never `unload` or `beforeunload`: the first forbids the back/forward cache, neither fires on phones. `pagehide` is
 * dispatched on `window` only. https://developer.chrome.com/docs/web-platform/page-lifecycle-api
 */
export const watchLifecycle = ({ hidden, leave, wake, restore }: Moments): (() => void) => {
  // Its `signal` is all that it has in common with listener options.
  const listening = new AbortController();
  const listen = (type: string, listener: (event: Event) => void) => addEventListener(type, listener, listening);
  listen('pagehide', leave);
  listen('pageshow', (event) => (event as PageTransitionEvent).persisted && restore());
  listen('online', wake);
  // Bubbles from the document.
  listen('visibilitychange', () => (document.hidden ? hidden() : wake()));
  return () => listening.abort();
};

/** Calls back when the main thread has nothing better to do. */
export const whenIdle = (then: () => void): unknown => (self.requestIdleCallback ?? setTimeout)(then);
