import type { Listen } from '../api/signals.js';
import type { Stats } from '../api/types.js';

/** `window.clew` of the script tag. Until the bundle has loaded, it only keeps calls in `q`. */
export interface ClewFunction {
  // A page may type its `clew` by `clew/global` or in its own terms: every function is assignable to this one.
  (...call: never[]): unknown;
  q?: unknown[];
}
/** The same, as the inspector calls it. */
type CallableClew = (method: string, ...args: unknown[]) => unknown;

/** A tracker, or the page's `window.clew`. */
export type Inspectable =
  | {
      readonly on: Listen;
      /** The tracker's sums. */
      stats(): Stats;
    }
  | ClewFunction;

/** The part of a tracker, or of `window.clew`, that an inspector needs. */
export interface Subject {
  readonly on: Listen;
  /** Undefined while the script tag's bundle has not loaded. */
  stats(): Stats | undefined;
}

/** One of the stub's remembered calls, which has this listener in it. */
const holds = (remembered: unknown, listener: unknown): boolean =>
  Array.isArray(remembered) && Array.isArray(remembered[1]) && remembered[1].includes(listener);

const subjectOfFunction = (given: ClewFunction): Subject => {
  const isStub = !!given.q;
  /** The bundle puts its own function in the stub's place. */
  const current = (): ClewFunction => (isStub && (window as { clew?: ClewFunction }).clew) || given;
  return {
    on(signal, listener) {
      let isOn = true;
      const forward: typeof listener = (value) => {
        if (isOn) listener(value);
      };
      const off = (current() as CallableClew)('on', signal, forward);
      return () => {
        isOn = false;
        if (typeof off === 'function') off();
        // The stub knows no undoing: what it has not passed on yet is taken back.
        const { q = [] } = given;
        const at = q.findIndex((remembered) => holds(remembered, forward));
        if (at >= 0) q.splice(at, 1);
      };
    },
    stats() {
      const clew = current();
      // The stub would answer by a promise, once the bundle has loaded.
      return clew.q ? undefined : ((clew as CallableClew)('stats') as Stats);
    },
  };
};

export const subjectOf = (tracker: Inspectable): Subject =>
  typeof tracker === 'function' ? subjectOfFunction(tracker) : tracker;
