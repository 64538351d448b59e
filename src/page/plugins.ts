import type { Plugin, Tracker } from '../api/types.js';

/**
 * Starts plugins, and undoes what they did.
 *
 * @param visitorId returns the visitor id as this page knows it, if it knows one
 * @param attempt runs a function of the site, and reports what it throws
 */
export const createPlugins = (
  plugins: readonly (Plugin | undefined)[],
  tracker: Tracker,
  visitorId: () => string | undefined,
  attempt: <T>(run: () => T) => T | '',
) => {
  let undoings: (() => void)[] | undefined = [];
  const watch = () => {
    for (const plugin of plugins) {
      const undo = undoings && plugin && attempt(() => plugin(tracker, visitorId));
      if (undo) undoings?.push(undo);
    }
  };
  /** Should the page never have been seen, none begins any more. */
  const unplug = () => {
    for (const undo of undoings ?? []) attempt(undo);
    undoings = undefined;
  };
  return [watch, unplug] as const;
};
