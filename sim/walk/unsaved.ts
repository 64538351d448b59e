import type { Stage } from './stage.ts';

/** Ends the report about persons of whom a kill of the browser may have undone an `identify()`. */
export const UNDONE = ' (a SIGKILL may have undone an identify())';

/** How long (ms) after a write to localStorage a crash of the page, or a kill of the browser, may undo the write. */
export const UNSAVED = { crash: 1000, kill: 10_000 } as const;

/** Whether a crash or kill may have undone a write to localStorage at this time. */
export const mayBeTakenBack = ({ acts }: Stage, written: number): boolean =>
  acts.some(({ verb, at }) => (verb === 'crash' || verb === 'kill') && at >= written && at <= written + UNSAVED[verb]);

/** Whether a kill may have undone an `identify()` of one of these persons. */
export const mayBeUndone = ({ ledger, acts }: Stage, persons: readonly string[]): boolean =>
  ledger.identified.some(
    ({ person, at: called }) =>
      persons.includes(person) &&
      acts.some(({ verb, at }) => verb === 'kill' && at >= called && at <= called + UNSAVED.kill),
  );
