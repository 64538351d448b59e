// @ts-check
import { cell } from './cell.js';
import { byId } from './dom.js';

/**
 * The shop in the frame, and the tracker of the page that it shows. Another page is another tracker, with the same visitor.
 *
 * @typedef {import('../../src/tracker/signals.ts').Trace} Trace
 * @typedef {{ (...call: unknown[]): any, q?: unknown[] }} Clew
 */

const frame = /** @type {HTMLIFrameElement} */ (byId('shop'));

/** What the frame shows; a new one for each page. @type {import('./cell.js').Cell<{ path: string } | undefined>} */
export const page = cell(/** @type {any} */ (undefined));

/** The visitor's thread. */
export const thread = cell('');

/**
 * `window.clew` of the page that is shown, asked for anew each time: the bundle replaces the stub.
 *
 * @type {Clew}
 */
export const clew = (...call) => /** @type {any} */ (frame.contentWindow).clew?.(...call);

/** @type {((trace: Trace) => void)[]} */
const listeners = [];
/** Hears of every step on every page, in the order in which they happen. @param {(trace: Trace) => void} listener */
export const listen = (listener) => void listeners.push(listener);

/** The stub stands and the bundle has not run: nothing that it does is missed. */
const meet = () => {
  const { location } = /** @type {Window} */ (frame.contentWindow);
  clew('on', 'trace', (/** @type {Trace} */ trace) => {
    if (trace.step === 'visitor') thread.set(trace.thread ?? '');
    for (const listener of listeners) listener(trace);
  });
  clew('on', 'dropped', (/** @type {any} */ { events, reason }) => {
    for (const hear of droppedListeners) hear(events, reason);
  });
  page.set({ path: location.pathname });
};

/** @type {((events: { event?: string, uuid?: string }[], reason: string) => void)[]} */
const droppedListeners = [];
/** @param {(events: { event?: string, uuid?: string }[], reason: string) => void} listener */
export const listenToDropped = (listener) => void droppedListeners.push(listener);

/** @param {string} path */
export const goTo = (path) => /** @type {Window} */ (frame.contentWindow).location.assign(path);

export const openSite = () => {
  frame.addEventListener('clew', meet);
  page.watch(() => {
    byId('address').textContent = `ariadne.example${page.get()?.path.replace('/shop', '') ?? ''}`;
  });
  byId('back').addEventListener('click', () => frame.contentWindow?.history.back());
  byId('reload').addEventListener('click', () => frame.contentWindow?.location.reload());
  // Only now, so that no page comes before somebody looks.
  frame.src = '/shop/';
};
