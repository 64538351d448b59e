import type { ItemText } from '../recorder/event.js';
import type { Answer } from './transport.js';

/** Keeps items back whose identity token has expired. */
export type Renewal = readonly [
  /** Leaves out the items that wait for a token, and gives the others their latest one. */
  ready: (items: readonly ItemText[]) => readonly ItemText[],
  /** Is given the items of a request and its answer, and leaves out the items that wait for a new token from now on. */
  withoutExpired: (items: readonly ItemText[], answer: Answer) => readonly [readonly ItemText[], Answer],
];

/** No item waits: the relay's answer is final. */
export const NO_RENEWAL: Renewal = [(items) => items, (...given) => given];

/**
 * Makes a renewal.
 *
 * @param onExpired a token of this customer has expired
 * @param failWith receives exceptions of the app's function
 */
export type MakeRenewal = (onExpired: (primaryKey: string) => void, failWith: (error: unknown) => void) => Renewal;
