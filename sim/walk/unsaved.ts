import type { Stage } from './stage.ts';

/** How long (ms) before it what a page has written to localStorage may not be on the disk, and is taken back. */
export const UNSAVED = { crash: 1000, kill: 10_000 } as const;

/** Whether a crash or kill may have taken back what a page wrote to localStorage at this time. */
export const mayBeTakenBack = ({ acts }: Stage, written: number): boolean =>
  acts.some(({ verb, at }) => (verb === 'crash' || verb === 'kill') && at >= written && at <= written + UNSAVED[verb]);
