// @ts-check
import { cell } from './cell.js';
import { listen, listenTo } from './site.js';

/**
 * The newest event, followed step by step. All times are in ms since the epoch, by the page's clock.
 *
 * @typedef {{ at: number, others: number, bytes: number, isLeaving: boolean, wasLeft: boolean, tries: number }} Sent
 * @typedef {{ at: number, outcome: string, status?: number | undefined }} Answered
 * @typedef {{ uuid: string, event: string, path?: string, at: number, stored?: number, sent?: Sent, answered?: Answered, isDelivered?: boolean, reason?: string }} Followed
 */

/** @type {import('./cell.js').Cell<Followed | undefined>} */
export const followed = cell(/** @type {Followed | undefined} */ (undefined));
/** Until when (ms since the epoch) no tab sends, after a failure. */
export const pausedUntil = cell(0);

/** How long (ms) a clicked event is followed before the view of the page that it led to may replace it. */
const CLICK_STANDS = 4000;

/** @param {Partial<Followed>} change */
const update = (change) => {
  const now = followed.get();
  if (now) followed.set({ ...now, ...change });
};

/** @param {string[]} uuids */
const isFollowed = (uuids) => uuids.includes(followed.get()?.uuid ?? '');

/** Most clicks lead to a page view, which does not replace the click. @param {string} event @param {number} now */
const isNews = (event, now) => {
  const current = followed.get();
  return event !== 'page_view' || !current || current.event === 'page_view' || now - current.at > CLICK_STANDS;
};

/** @param {import('./site.js').Trace} trace @param {number} at */
const receive = (trace, at) => {
  if (trace.step === 'tracked') {
    const { uuid = '', event = '?', payload } = trace.event;
    const path = Object(payload).path;
    // `$identify` accompanies the event of an action, and the panel follows that event.
    if (event !== '$identify' && isNews(event, at)) followed.set({ uuid, event, path, at });
  } else if (trace.step === 'link') {
    pausedUntil.set(trace.by ? 0 : trace.until);
  } else if (trace.step === 'visitor' || !isFollowed(trace.uuids)) {
    return;
  } else if (trace.step === 'stored') {
    update({ stored: at });
  } else if (trace.step === 'sent') {
    const earlier = followed.get()?.sent;
    const tries = (earlier?.tries ?? 0) + 1;
    const wasLeft = earlier?.isLeaving || earlier?.wasLeft || false;
    const { uuids, bytes, gzip, leaving } = trace;
    update({ sent: { at, others: uuids.length - 1, bytes: gzip ?? bytes, isLeaving: leaving, wasLeft, tries } });
  } else {
    update({ answered: { at, outcome: trace.outcome, status: trace.status } });
  }
};

export const followEvents = () => {
  listen((trace) => receive(trace, Date.now()));
  listenTo(
    'dropped',
    (/** @type {{ events: { uuid?: string, event?: string }[], reason: string }} */ { events, reason }) => {
      const [dropped] = events;
      // An event that is dropped in the call has no other step.
      if (dropped && (reason === 'unserialisable' || !dropped.uuid))
        followed.set({ uuid: dropped.uuid ?? '', event: dropped.event ?? '?', at: Date.now(), reason });
      else if (isFollowed(events.map(({ uuid = '' }) => uuid))) update({ reason });
    },
  );
  listenTo('delivered', (/** @type {{ events: { uuid: string }[] }} */ { events }) => {
    if (isFollowed(events.map(({ uuid }) => uuid))) update({ isDelivered: true });
  });
};
