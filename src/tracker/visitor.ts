import type { ItemText } from '../pipeline/event.js';

/** Who the visitor is, as far as this origin knows. */
export interface Visitor {
  /** The `correlationValue`: a lower-case v4 UUID. */
  readonly thread: string;
  /** How many threads the visitor has had before this one. */
  readonly turn: number;
  /**
   * The primary key that the thread has been identified with, and its signature if there is one, by service. Of who was
   * identified on another host of the site there is but a mark.
   */
  readonly keys: Readonly<Record<string, readonly [primaryKey: string | number, signature?: string | undefined]>>;
  /** How many page loads there have been: numbers their rows. */
  readonly pages: number;
}

/** Whether this is a thread, or another UUID of ours: storage gives back whatever somebody has put there. */
export const isThread = (value: unknown): value is string =>
  typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value);

/** A call that has to know the visitor, and the event's text so far if it tracks one. */
type Call = [run: (visitor: Visitor) => void, text?: ItemText];

/** Holds calls back, in order, until consent is given and the visitor is known; turns them away after a refusal. */
export const createGate = (turnAway: (texts: ItemText[]) => void) => {
  /** undefined: not known yet; null: refused. */
  let visitor: Visitor | null | undefined;
  let held: Call[] = [];
  const open = (to: Visitor | null | undefined): void => {
    visitor = to;
    if (to === undefined) return;
    const calls = held;
    held = [];
    // A call may make the visitor another one for the calls after it.
    for (const [run, text] of calls) visitor ? run(visitor) : text && turnAway([text]);
  };
  const enter = (...call: Call): void => {
    held.push(call);
    open(visitor);
  };
  return [enter, open] as const;
};
