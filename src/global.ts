import type { Signals } from './api/signals.js';
import type { Tracker } from './api/types.js';

/**
 * The script tag's function: calls the tracker's method of that name. Before the bundle loads, the stub remembers the call
 * and returns a promise of the result. If the bundle never loads, the promise stays pending.
 *
 * @example clew('track', 'signup', { plan: 'pro' })
 */
export interface Clew {
  /**
   * Listens to a signal.
   *
   * @returns a function that removes the listener. Before the bundle loads, a promise of that function.
   * @example clew('on', 'error', (error) => console.warn(error))
   */
  <Signal extends keyof Signals>(
    method: 'on',
    signal: Signal,
    listener: (value: Signals[Signal]) => void,
  ): Early<() => void>;
  /**
   * Calls `callback` with the tracker once the bundle has loaded, in turn with the calls before. If the bundle never loads, it is
   * not called.
   *
   * @example clew('ready', async (tracker) => console.log(await tracker.correlationValue()))
   */
  (method: 'ready', callback: (tracker: Tracker) => void): void;
  /**
   * Calls any other method of the tracker.
   *
   * @returns the method's result. Before the bundle loads, a promise of it.
   * @example const visitorId = await clew('correlationValue')
   */
  <Method extends Exclude<keyof Tracker, 'on'>>(
    method: Method,
    // For a union of methods, the arguments have to fit each method.
    ...args: Tracker[Method] extends (...args: infer Args) => unknown ? Args : never
  ): Early<ReturnType<Tracker[Method]>>;
}

/** A result, or a promise of it. A method without a result needs no waiting. */
type Early<Result> = Result extends Promise<unknown> ? Result : Result extends void ? Result : Result | Promise<Result>;

declare global {
  interface Window {
    clew: Clew;
  }
  /** `window.clew`, defined once the stub has run or the bundle has loaded. */
  const clew: Clew;
}
