// @ts-check
import { cell } from './cell.js';
import { byId } from './dom.js';

/**
 * The shop in the frame, and the tracker of the page that it shows. Another page is another tracker, with the same visitor.
 *
 * @typedef {import('../../src/api/signals.ts').Trace} Trace
 * @typedef {{ (...call: unknown[]): any, q?: unknown[] }} Clew
 */

const frame = /** @type {HTMLIFrameElement} */ (byId('shop'));

/** The page in the frame: a new object for each page. @type {import('./cell.js').Cell<{ path: string } | undefined>} */
export const page = cell(/** @type {any} */ (undefined));

export const visitorId = cell('');

/**
 * `window.clew` of the page in the frame, read at each call because the bundle replaces the stub.
 *
 * @type {Clew}
 */
export const clew = (...call) => /** @type {any} */ (frame.contentWindow).clew?.(...call);

/** @type {[signal: string, listener: (value: any) => void][]} */
const listeners = [];
/** Listens to a signal on every page. @param {string} signal @param {(value: any) => void} listener */
export const listenTo = (signal, listener) => void listeners.push([signal, listener]);
/** Listens to every step on every page, in the order of the steps. @param {(trace: Trace) => void} listener */
export const listen = (listener) => listenTo('trace', listener);

/** Runs after the stub and before the bundle, so that the listeners miss nothing. */
const meet = () => {
  // First, so that the watchers of `page` finish with the last page before the next one emits anything.
  page.set({ path: /** @type {Window} */ (frame.contentWindow).location.pathname });
  for (const [signal, listener] of listeners) clew('on', signal, listener);
};

/** @param {string} path */
export const goTo = (path) => /** @type {Window} */ (frame.contentWindow).location.assign(path);

/** Older browsers lack the Navigation API. @returns {Navigation | undefined} */
const navigationOfFrame = () => frame.contentWindow?.navigation;
const canGoBack = () => navigationOfFrame()?.canGoBack ?? false;
/** Not `history.back()`, which leaves the demo if the frame shows its first page. */
const goBack = () => canGoBack() && navigationOfFrame()?.back();

export const openSite = () => {
  listen((trace) => trace.step === 'visitor' && visitorId.set(trace.visitorId ?? ''));
  frame.addEventListener('clew', meet);
  page.watch(() => {
    byId('address').textContent = `ariadne.example${page.get()?.path.replace('/shop', '') ?? ''}`;
    byId('back').setAttribute('aria-disabled', String(!canGoBack()));
  });
  byId('back').addEventListener('click', goBack);
  byId('reload').addEventListener('click', () => frame.contentWindow?.location.reload());
  // Only now, so that no page loads before all listeners are added.
  frame.src = '/shop/';
};
