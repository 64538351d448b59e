// @ts-check
import { cell } from './cell.js';
import { listen, listenTo, page } from './site.js';

/**
 * What became of the newest event, step by step: times in ms, as the page's clock gave them.
 *
 * @typedef {{ at: number, others: number, bytes: number, isLeaving: boolean, wasLeft: boolean, tries: number }} Sent
 * @typedef {{ at: number, outcome: string, status?: number | undefined }} Answered
 * @typedef {{ uuid: string, event: string, path?: string, at: number, stored?: number, sent?: Sent, answered?: Answered, reason?: string }} Story
 */

/** @type {import('./cell.js').Cell<Story | undefined>} */
export const story = cell(/** @type {Story | undefined} */ (undefined));
/** Until when (ms since the epoch) nobody sends, after a failure. */
export const pause = cell(0);

/** How long (ms) what a click has set off keeps its place from the view of the page that it led to. */
const CLICK_STANDS = 4000;

/** @param {Partial<Story>} change */
const tell = (change) => {
  const told = story.get();
  if (told) story.set({ ...told, ...change });
};

/** @param {string[]} uuids */
const isTold = (uuids) => uuids.includes(story.get()?.uuid ?? '');

/** A view follows from most clicks: it does not push aside what was clicked. @param {string} event @param {number} now */
const isNews = (event, now) => {
  const told = story.get();
  return event !== 'page_view' || !told || told.event === 'page_view' || now - told.at > CLICK_STANDS;
};

/** @param {import('./site.js').Trace} trace @param {number} at */
const hear = (trace, at) => {
  if (trace.step === 'tracked') {
    const { uuid = '', event = '?', payload } = trace.event;
    const path = Object(payload).path;
    // Who it is, is for the service; what was done is what somebody wants to follow.
    if (event !== '$identify' && isNews(event, at)) story.set({ uuid, event, path, at });
  } else if (trace.step === 'link') {
    pause.set(trace.by ? 0 : trace.until);
  } else if (trace.step === 'visitor' || !isTold(trace.uuids)) {
    return;
  } else if (trace.step === 'stored') {
    tell({ stored: at });
  } else if (trace.step === 'sent') {
    const earlier = story.get()?.sent;
    const tries = (earlier?.tries ?? 0) + 1;
    const wasLeft = earlier?.isLeaving || earlier?.wasLeft || false;
    const { uuids, bytes, gzip, leaving } = trace;
    tell({ sent: { at, others: uuids.length - 1, bytes: gzip ?? bytes, isLeaving: leaving, wasLeft, tries } });
  } else {
    tell({ answered: { at, outcome: trace.outcome, status: trace.status } });
  }
};

export const followStory = () => {
  listen((trace) => hear(trace, Date.now()));
  listenTo(
    'dropped',
    (/** @type {{ events: { uuid?: string, event?: string }[], reason: string }} */ { events, reason }) => {
      const [dropped] = events;
      // One that was never fit to be sent has no step of its own.
      if (dropped && (reason === 'unserialisable' || !dropped.uuid))
        story.set({ uuid: dropped.uuid ?? '', event: dropped.event ?? '?', at: Date.now(), reason });
      else if (isTold(events.map(({ uuid = '' }) => uuid))) tell({ reason });
    },
  );
  // Where nobody waits for the answer any more.
  page.watch(() => pause.set(0));
};
