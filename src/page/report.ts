import type { Tracker } from '../api/types.js';

/** Emits `error` for wrong input of the app: a tracker reports what a plugin throws. */
export const report = (tracker: Pick<Tracker, 'use'>, message: string): void =>
  tracker.use(() => {
    throw new TypeError(message);
  });
