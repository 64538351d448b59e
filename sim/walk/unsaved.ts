import type { Stage } from './stage.ts';

/** How long (ms) after a write to localStorage a crash of the page, or a kill of the browser, may undo the write. */
export const UNSAVED = { crash: 1000, kill: 10_000 } as const;

/** Whether a crash or kill may have undone a write to localStorage at this time. */
export const mayBeTakenBack = ({ acts }: Stage, written: number): boolean =>
  acts.some(({ verb, at }) => (verb === 'crash' || verb === 'kill') && at >= written && at <= written + UNSAVED[verb]);
