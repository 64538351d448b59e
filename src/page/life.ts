/**
 * Reports the moments of a page's life that a tracker acts on, until the returned function is called.
 *
 * Never `unload` or `beforeunload`: the first forbids the back/forward cache, neither fires on phones. `pagehide` is
 * dispatched on `window` only. https://developer.chrome.com/docs/web-platform/page-lifecycle-api
 *
 * @param stir the page is hidden, which is often the last event on a phone. With `isBack`, the visitor or the network is back.
 * @param leave the page unloads. With `isKept`, the browser may keep it in the back/forward cache.
 * @param restore the page is restored from the back/forward cache
 */
export const watchLifecycle = (
  stir: (isBack: boolean) => void,
  leave: (isKept: boolean) => void,
  restore: () => void,
): (() => void) => {
  // Where tests run there may be no page to watch. The `signal` is all that a controller has in common with listener options.
  const listening = new AbortController();
  const listen = (type: string, listener: (event: Event) => void) =>
    globalThis.addEventListener?.(type, listener, listening);
  listen('pagehide', (event) => leave((event as PageTransitionEvent).persisted));
  // Before the page's own listeners, which may act for whoever the visitor is by now.
  globalThis.addEventListener?.('pageshow', ({ persisted }) => persisted && restore(), {
    signal: listening.signal,
    capture: true,
  });
  listen('online', () => stir(true));
  // Bubbles from the document.
  listen('visibilitychange', () => stir(!document.hidden));
  return () => listening.abort();
};
