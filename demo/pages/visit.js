// @ts-check
import { clew, listen, listenTo, onLeave, page } from './site.js';

/**
 * All pages that the frame has shown, as if they had one tracker: an inspector that looks at it forgets nothing when a link
 * is followed. What a page has left behind is sent by the next one, and answered to it.
 *
 * @typedef {import('../../src/tracker/types.ts').Stats} Stats
 * @typedef {{ uuid: string }[]} Events
 */

/** @type {Record<string, Set<(value: any) => void>>} */
const listeners = { trace: new Set(), delivered: new Set(), dropped: new Set(), error: new Set() };
/** @param {string} signal @param {unknown} value */
const emit = (signal, value) => {
  for (const listener of listeners[signal] ?? []) listener(value);
};

/** Sums of the pages before this one, of which so many events have had no end by then. */
const before = { tracked: 0, delivered: 0, dropped: /** @type {Record<string, number>} */ ({}), queued: 0 };
/** What is under way of this page, and of those before it. */
const here = new Set();
const left = new Set();
/** The path that a request with these at its head went to. @type {Map<string, string>} */
const paths = new Map();

/** @param {Record<string, number>} one @param {Record<string, number>} other */
const sumOf = (one, other) => {
  const sum = { ...one };
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
};

/** True from a page's going away until the next one is here. */
let isLeft = false;
/** @returns {Stats | undefined} of the page that is shown */
const look = () => (isLeft ? undefined : clew('stats'));

const leave = () => {
  const last = look();
  isLeft = true;
  if (last) {
    before.tracked += last.tracked;
    before.delivered += last.delivered;
    before.queued += last.queued;
    before.dropped = sumOf(before.dropped, last.dropped);
  }
  for (const uuid of here) left.add(uuid);
  here.clear();
};

/** @param {string[]} uuids of a request that was taken */
const settle = (uuids) => {
  const settled = uuids.filter((uuid) => left.delete(uuid));
  // An upsert is no event.
  if (!settled.length || /upsert/.test(paths.get(uuids[0] ?? '') ?? '')) return;
  before.queued -= settled.length;
  before.delivered += settled.length;
  emit('delivered', { events: settled.map((uuid) => ({ uuid })) });
};

/** @param {string[]} uuids */
const begin = (uuids) => {
  for (const uuid of uuids) left.has(uuid) || (isLeft ? left : here).add(uuid);
};

/** @param {Events} events */
const end = (events) => {
  for (const { uuid } of events) here.delete(uuid);
};

/** @param {import('./site.js').Trace} trace */
const hear = (trace) => {
  // `$identify` is no call of `track`: it shows when it is stored, or sent by a page that is leaving.
  if (trace.step === 'stored' || (trace.step === 'sent' && isLeft)) begin(trace.uuids);
  if (trace.step === 'tracked' && trace.event.uuid) begin([trace.event.uuid]);
  if (trace.step === 'sent') paths.set(trace.uuids[0] ?? '', trace.path);
  emit('trace', trace);
  if (trace.step === 'answered' && trace.outcome === 'delivered') settle(trace.uuids);
};

export const followVisit = () => {
  listen(hear);
  listenTo('delivered', (value) => {
    end(value.events);
    emit('delivered', value);
  });
  listenTo('dropped', (value) => {
    end(value.events);
    emit('dropped', value);
  });
  listenTo('error', (value) => emit('error', value));
  onLeave(leave);
  page.watch(() => {
    isLeft = false;
  });
};

/** What an inspector asks for. */
export const visit = {
  /** @param {string} signal @param {(value: any) => void} listener */
  on(signal, listener) {
    listeners[signal]?.add(listener);
    return () => listeners[signal]?.delete(listener);
  },
  /** @returns {Stats} */
  stats() {
    const { tracked = 0, delivered = 0, queued = 0, dropped = {} } = look() ?? {};
    return {
      tracked: before.tracked + tracked,
      delivered: before.delivered + delivered,
      queued: before.queued + queued,
      dropped: sumOf(before.dropped, dropped),
    };
  },
};
