import type { Plugin, PluginStorage, PluginTools } from '../api/types.js';
import { type Local, PLUGINS, readEntry, VISIT, writeEntry } from '../outbox/local.js';
import { draftEvent } from '../recorder/event.js';
import { addContext, runSteps, type Step } from '../recorder/prepare.js';

/**
 * Starts plugins, and undoes what they did.
 *
 * @param start calls a plugin
 * @param attempt runs a function of the site, and reports its exceptions
 */
export const createPlugins = (start: (plugin: Plugin) => () => void, attempt: <T>(run: () => T) => T | '') => {
  /** Undefined once the tracker was stopped: then none begins any more. */
  let undoings: ((() => void) | '')[] | undefined = [];
  const use = (plugin: Plugin | undefined | null | false) => {
    if (!plugin || !undoings) return;
    const undo = attempt(() => {
      const undo = start(plugin);
      // This is a plugin: the app has not called the function that creates it. To undo a plugin takes one parameter at most.
      if (undo?.length > 1) throw TypeError('plugins: expected a plugin, such as sessions()');
      return undo;
    });
    // The plugin may have stopped the tracker.
    if (undoings) undoings.push(undo);
    else if (undo) attempt(undo);
  };
  const unplug = () => {
    for (const undo of undoings ?? []) if (undo) attempt(undo);
    undoings = undefined;
  };
  return [use, unplug] as const;
};

interface ToolPorts extends Pick<PluginTools, 'renewBy' | 'service'> {
  readonly visitor: {
    id(): string | undefined;
    isCustomer(primaryKey: string | undefined): boolean;
    /** Whether a plugin may store something. */
    mayStore(): boolean;
  };
  /** The steps of an event. Those of plugins come first. */
  readonly steps: Step[];
  readonly local: Local;
  /** Runs a function of the site, and reports its exceptions. */
  attempt<T>(run: () => T): T | '';
}

/** The tools of each plugin. */
export const createTools = ({ service, visitor, steps, local, renewBy, attempt }: ToolPorts): PluginTools => {
  /** A storage of plugins: one entry, which a refusal erases. */
  const createStorage = (entry: string): PluginStorage => {
    // Any code of the origin may have written it.
    const all = () => Object(readEntry(entry, local));
    return {
      get: (key) => all()[key],
      set: (key, value) => visitor.mayStore() && writeEntry(entry, local, { ...all(), [key]: value }),
    };
  };
  return {
    service,
    visitorId: visitor.id,
    isCustomer: visitor.isCustomer,
    renewBy,
    onTrack: (see) => steps.unshift(addContext(see)),
    preview(event, payload) {
      const text = runSteps(steps, draftEvent(Date.now(), event, JSON.stringify(payload)), attempt);
      return text ? Object(JSON.parse(text).payload) : undefined;
    },
    local: createStorage(PLUGINS),
    session: createStorage(VISIT),
  };
};
