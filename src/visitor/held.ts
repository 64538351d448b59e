import { sumOf } from '../wire.js';
import type { Call } from './calls.js';

/** Calls that wait for the visitor. */
export interface Held {
  /** The list grows in place: a copy for each call would take too long. */
  readonly calls: Call[];
  /** How many events they count for. A long one counts for several. */
  readonly size: number;
}

/** @param weigh how many events a text counts for */
export const heldOf = (calls: Call[], weigh: (text: string) => number): Held => ({
  calls,
  size: sumOf(calls, ({ text = '' }) => weigh(text)),
});

export const withCall = ({ calls, size }: Held, call: Call, weigh: (text: string) => number): Held => {
  calls.push(call);
  return { calls, size: size + weigh(call.text ?? '') };
};
