// @ts-check
import { cell } from './cell.js';

/** `window.clew`, before and after the bundle has arrived, and the calls that this page makes. */

/**
 * @typedef {import('../../src/tracker/types.ts').Stats} Stats
 * @typedef {{ (...call: unknown[]): any, q?: unknown[] }} Clew
 * @typedef {{ method: string, args: unknown[], times: number }} Call
 */

/** Read anew each time: the bundle replaces the stub. */
const clew = () => /** @type {{ clew: Clew }} */ (/** @type {unknown} */ (window)).clew;

/** Newest first; the oldest was made in the page's head. @type {import('./cell.js').Cell<Call[]>} */
export const calls = cell([{ method: 'page', args: [], times: 1 }]);
/** False while it is still the stub that takes the calls. */
export const isLoaded = cell(!clew().q);

/** Resolves when the bundle is at work: only then do calls return something. */
export const loaded = /** @type {Promise<void>} */ (
  new Promise((resolve) => {
    if (isLoaded.get()) return resolve();
    document.querySelector('script[data-base-url]')?.addEventListener('load', () => {
      if (clew().q) return;
      isLoaded.set(true);
      resolve();
    });
  })
);

const MOST_CALLS = 10;

/** @param {string} method @param {...unknown} args */
export const call = (method, ...args) => {
  remember(method, args, 1);
  return clew()(method, ...args);
};

/**
 * The same call many times, shown as one.
 *
 * @param {number} times @param {string} method @param {(index: number) => unknown[]} argsOf
 */
export const callTimes = (times, method, argsOf) => {
  remember(method, argsOf(0), times);
  for (let index = 0; index < times; index++) clew()(method, ...argsOf(index));
};

/** @param {string} method @param {unknown[]} args @param {number} times */
const remember = (method, args, times) => calls.set([{ method, args, times }, ...calls.get()].slice(0, MOST_CALLS));

// What follows only looks, and so is no call worth showing.

/** @returns {Stats | undefined} nothing before the bundle is here */
export const stats = () => clew()('stats');
/** @param {string} signal @param {(value: any) => void} listener */
export const listen = (signal, listener) => loaded.then(() => clew()('on', signal, listener));
/** @returns {Promise<string>} */
export const correlationValue = () => loaded.then(() => clew()('correlationValue'));
