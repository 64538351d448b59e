import type { Plugin, PluginStorage } from '../api/types.js';
import { carried, carry, type Local } from '../outbox/carryOver.js';

/**
 * Starts plugins, and undoes what they did.
 *
 * @param start calls a plugin
 * @param attempt runs a function of the site, and reports what it throws
 */
export const createPlugins = (start: (plugin: Plugin) => () => void, attempt: <T>(run: () => T) => T | '') => {
  /** Undefined once the tracker was stopped: then none begins any more. */
  let undoings: ((() => void) | '')[] | undefined = [];
  const use = (plugin: Plugin | undefined | null | false) => {
    if (plugin) undoings?.push(attempt(() => start(plugin)));
  };
  const unplug = () => {
    for (const undo of undoings ?? []) if (undo) attempt(undo);
    undoings = undefined;
  };
  return [use, unplug] as const;
};

/**
 * A storage of plugins. It is one entry, which a refusal erases.
 *
 * @param isOpen says whether the page may write
 */
export const createStorage = (entry: string, local: Local, isOpen: () => boolean): PluginStorage => {
  // Any code of the origin may have written it.
  const all = () => Object(carried(entry, local));
  return {
    get: (key) => all()[key],
    set: (key, value) => isOpen() && carry(entry, local, { ...all(), [key]: value }),
  };
};
