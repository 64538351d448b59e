import type { Stage } from './stage.ts';

/** Ends the report about persons of whom a kill of the browser may have undone an `identify()`. */
export const UNDONE = ' (a SIGKILL may have undone an identify())';

/** How long (ms) after a write to localStorage a crash of the page, or a kill of the browser, may undo the write. */
export const UNSAVED = { crash: 1000, kill: 10_000 } as const;

/** Whether a crash or kill may have undone a write to localStorage at this time. */
export const mayBeTakenBack = ({ acts }: Stage, written: number): boolean =>
  acts.some(({ verb, at }) => (verb === 'crash' || verb === 'kill') && at >= written && at <= written + UNSAVED[verb]);

/** The docs name the limit: after a kill, a page that leaves early changes the visitor of an old copy in localStorage. */
const isChangedAfterKill = ({ acts }: Stage): boolean =>
  acts.some(
    ({ verb, at }) =>
      (verb === 'resetAndLeave' || verb === 'identifyAndLeave') &&
      acts.some((kill) => kill.verb === 'kill' && kill.at <= at && at <= kill.at + UNSAVED.kill),
  );

/** Whether a kill may have undone an `identify()` of one of these persons, or a change that followed the kill. */
export const mayBeUndone = (stage: Stage, persons: readonly string[]): boolean =>
  isChangedAfterKill(stage) ||
  stage.ledger.identified.some(
    ({ person, at: called }) =>
      persons.includes(person) &&
      stage.acts.some(({ verb, at }) => verb === 'kill' && at >= called && at <= called + UNSAVED.kill),
  );
