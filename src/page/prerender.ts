/** There is none where an app's tests run without a browser. */
const page = () => (globalThis as { document?: Document & { prerendering?: boolean } }).document;

/** Calls `run` now, or once the visitor sees the page that the browser prerenders. The browser may discard such a page. */
export const whenSeen = (run: () => void): void => {
  if (page()?.prerendering) page()?.addEventListener('prerenderingchange', run, { once: true });
  else run();
};

/** Does not call `run` any more. */
export const neverSeen = (run: () => void): void => page()?.removeEventListener('prerenderingchange', run);
