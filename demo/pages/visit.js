// @ts-check
import { arrivals, arrived } from './service.js';
import { listen, listenTo, page } from './site.js';
import { createSums } from './sums.js';

/**
 * All pages that the frame has shown, as if they had one tracker. So the inspector keeps its content when the frame follows a
 * link. Events that a page leaves behind are sent by the next page or by another tab, or have arrived. If the next page sends them,
 * or asks the relay about them, its tracker emits `answered`. Otherwise only the service shows that they have arrived.
 */

const sums = createSums();
/** Uuids of events that the page in the frame has tracked. For these, its tracker emits `delivered` itself. */
const own = new Set();

/** @type {Record<string, Set<(value: any) => void>>} */
const listeners = { trace: new Set(), delivered: new Set(), dropped: new Set(), error: new Set() };
/** @param {string} signal @param {unknown} value */
const emit = (signal, value) => {
  for (const listener of listeners[signal] ?? []) listener(value);
};

/** @param {import('./site.js').Trace} trace */
const receive = (trace) => {
  sums.receive(trace);
  if (trace.step === 'tracked') own.add(trace.event.uuid);
  emit('trace', trace);
  if (trace.step !== 'answered' || trace.outcome !== 'delivered') return;
  const events = trace.uuids
    .filter((uuid) => !own.has(uuid) && sums.nameOf(uuid) !== undefined)
    .map((uuid) => ({ uuid, event: sums.nameOf(uuid) }));
  if (events.length) emit('delivered', { events });
};

/** The page in the frame reports only its own events, so this is for all others. */
const confirmArrived = () => {
  const events = sums.queued().filter(({ uuid }) => !own.has(uuid) && arrivals.find(uuid));
  if (!events.length) return;
  sums.deliver(events);
  emit('delivered', { events });
};

export const followVisit = () => {
  listen(receive);
  listenTo('delivered', ({ events }) => sums.deliver(events));
  listenTo('dropped', ({ events, reason }) => sums.drop(events, reason));
  for (const signal of ['delivered', 'dropped', 'error']) listenTo(signal, (value) => emit(signal, value));
  page.watch(() => own.clear());
  arrived.watch(confirmArrived);
};

/** The part of a tracker that an inspector needs. */
export const visit = {
  /** @param {string} signal @param {(value: any) => void} listener */
  on(signal, listener) {
    listeners[signal]?.add(listener);
    return () => listeners[signal]?.delete(listener);
  },
  stats: sums.stats,
};
