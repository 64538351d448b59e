/** How a visitor attends to a page, until a moment. Times are ms of a clock that never goes back. */
export interface Attention {
  /** The moment. */
  readonly at: number;
  /** So long the page was visible, had the focus, and had input not long ago. */
  readonly active: number;
  /** Whether the page is visible and has the focus. */
  readonly isSeen: boolean;
  /** The last input, or the last moment at which the visitor came. */
  readonly inputAt: number;
}

/** An observation at a moment. With `pass`, only time has passed. */
export type Fact = 'input' | 'seen' | 'unseen' | 'pass';

/** A visitor comes. */
export const beginAttention = (at: number, isSeen: boolean): Attention => ({ at, active: 0, isSeen, inputAt: at });

/**
 * The attention after a fact.
 *
 * @param idleAfter how long (ms) after the last input the visitor counts as idle
 */
export const attend = (before: Attention, at: number, fact: Fact, idleAfter: number): Attention => {
  const until = Math.min(at, before.inputAt + idleAfter);
  const passed = before.isSeen ? Math.max(0, until - before.at) : 0;
  const isSeen = fact === 'seen' || (before.isSeen && fact !== 'unseen');
  const isInput = fact === 'input' || (fact === 'seen' && !before.isSeen);
  return { at, active: before.active + passed, isSeen, inputAt: isInput ? at : before.inputAt };
};
