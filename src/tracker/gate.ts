import type { ItemText } from '../pipeline/event.js';

/** A call that may have to wait until it is allowed and the visitor is known. */
export interface Call {
  run(): void;
  /** The event's text so far, when the call tracks one. */
  readonly text?: ItemText;
}

/** Holds calls, in order, until consent is given and the visitor's thread is known; turns them away after a refusal. */
export const createGate = (turnAway: (texts: ItemText[]) => void) => {
  let state: 'shut' | 'open' | 'refused' = 'shut';
  let held: Call[] = [];
  const texts = () => held.flatMap(({ text }) => text ?? []);
  return {
    isOpen: () => state === 'open',
    isRefused: () => state === 'refused',
    /** Texts of the events that wait. */
    texts,
    enter(call: Call): void {
      if (state === 'open') call.run();
      else if (state === 'shut') held.push(call);
      else if (call.text) turnAway([call.text]);
    },
    open(): void {
      state = 'open';
      const calls = held;
      held = [];
      for (const { run } of calls) run();
    },
    shut(): void {
      state = 'shut';
    },
    refuse(): void {
      state = 'refused';
      turnAway(texts());
      held = [];
    },
  };
};
