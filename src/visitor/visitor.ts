import type { ItemText } from '../recorder/event.js';

/** The visitor's record on this origin. */
export interface Visitor {
  /** The visitor id (`correlationValue`): a lower-case v4 UUID. */
  readonly thread: string;
  /** The number of earlier visitor ids. */
  readonly turn: number;
  /**
   * The primary key with which the visitor id was identified, and its signature, by service. If another host of the site
   * identified the visitor id, the entry is a number in place of the primary key.
   */
  readonly keys: Readonly<Record<string, readonly [primaryKey: string | number, signature?: string | undefined]>>;
  /** The number of page loads, which numbers their rows. */
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
