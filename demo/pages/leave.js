// @ts-check
import { call } from './tracker.js';

/**
 * Tracks events and leaves in the same task, the hardest thing to do to a tracker. The next page counts what arrived:
 * each event says which departure it belongs to, and which of it.
 *
 * @param {unknown[][]} events each a name and a payload
 */
export const leaveWith = (events) => {
  const departure = crypto.randomUUID();
  events.forEach(([name, payload], index) => {
    call('track', name, { .../** @type {object} */ (payload), departure, number: index + 1 });
  });
  const query = new URLSearchParams({ departure, events: String(events.length) });
  location.assign(`/pages/thanks.html?${query}`);
};
