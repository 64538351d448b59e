import type { Tracker } from './types.js';

const nothing = () => {};

/** The tracker of a server, which has no visitor. The methods do nothing, and their promises resolve. */
export const silentTracker: Tracker = {
  track: nothing,
  trackNow: async () => {},
  identify: nothing,
  setProperties: nothing,
  page: nothing,
  reset: nothing,
  consent: nothing,
  flush: async () => {},
  correlationValue: async () => '',
  stats: () => ({ tracked: 0, delivered: 0, queued: 0, dropped: {} }),
  on: () => nothing,
  use: nothing,
  stop: nothing,
};
