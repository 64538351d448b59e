import type { ItemText } from '../pipeline/event.js';
import type { Identity } from './identity.js';

/** A call that has to know the visitor, and the event's text so far if it tracks one. */
type Call = [run: (visitor: Identity) => void, text?: ItemText];

/** Holds calls back, in order, until consent is given and the visitor is known; turns them away after a refusal. */
export const createGate = (turnAway: (texts: ItemText[]) => void) => {
  let state: 'shut' | 'refused' | Identity = 'shut';
  let held: Call[] = [];
  const texts = () => held.flatMap(([, text]) => text ?? []);
  const enter = (...call: Call): void => {
    if (typeof state === 'object') call[0](state);
    else held.push(call);
    if (state === 'refused') refuse();
  };
  const refuse = () => {
    state = 'refused';
    const refused = texts();
    held = [];
    turnAway(refused);
  };
  return {
    enter,
    refuse,
    /** Texts of the events that are held back. */
    texts,
    isRefused: () => state === 'refused',
    shut(): void {
      state = 'shut';
    },
    /** From now on calls are `visitor`'s, those held back first. */
    open(visitor: Identity): void {
      state = visitor;
      for (const call of held.splice(0)) enter(...call);
    },
  };
};
