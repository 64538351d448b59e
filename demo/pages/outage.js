// @ts-check
import { ask } from './ask.js';
import { cell } from './cell.js';
import { remember, remembered } from './remembered.js';
import { startVisitor } from './scripted-visitor.js';
import { arrivals, arrived } from './service.js';
import { listen, listenTo } from './site.js';

/**
 * The service fails for a time while a scripted visitor continues to click. Each event of that time is followed by its uuid,
 * from the tracker's trace to the row in the service's database.
 *
 * @typedef {{ at: number, waiting: number, arrived: number }} Sample `at`: ms since the start
 * @typedef {object} Outage
 * @property {'down' | 'draining' | 'done'} phase as the service's own state shows it
 * @property {number} startedAt ms since the epoch
 * @property {number} endsAt ms since the epoch
 * @property {boolean} [hasFailed] whether the service has been seen to fail
 * @property {number | undefined} [backAt] when the service was seen to answer again (ms since the epoch)
 * @property {Set<string>} tracked
 * @property {Set<string>} dropped
 * @property {Sample[]} samples
 */

const DURATION = 10_000;
/** How often (ms) the numbers are taken. */
const PACE = 250;

/** @type {import('./cell.js').Cell<Outage | undefined>} */
export const outage = cell(/** @type {Outage | undefined} */ (undefined));

export const isPlaying = () => outage.get() !== undefined && outage.get()?.phase !== 'done';

/** @param {Outage} outage */
export const countsOf = ({ tracked, dropped }) => {
  const missing = [...tracked].filter((uuid) => !arrivals.find(uuid));
  const waiting = missing.filter((uuid) => !dropped.has(uuid));
  return {
    tracked: tracked.size,
    waiting: waiting.length,
    arrived: tracked.size - missing.length,
    dropped: missing.length - waiting.length,
  };
};

/** @param {import('./site.js').Trace} trace */
const receive = (trace) => {
  if (trace.step === 'tracked' && isPlaying() && trace.event.uuid) outage.get()?.tracked.add(trace.event.uuid);
};

export const isBroken = () => (arrived.get()?.fault.mode ?? 'none') !== 'none';

/** A fault that was chosen in the form lasts for a number of requests, or until it is switched off. */
export const isOtherFault = () => isBroken() && !('duration' in Object(arrived.get()?.fault));

/** @param {Outage} current @returns {Outage} */
const advance = (current) => {
  const now = Date.now();
  const { waiting, arrived } = countsOf(current);
  const samples = [...current.samples, { at: now - current.startedAt, waiting, arrived }];
  if (isBroken()) return { ...current, samples, phase: 'down', hasFailed: true, backAt: undefined };
  // A hidden page does not receive the start of the fault, and a page that has just requested it does not know it yet.
  const isBack = current.hasFailed || now >= current.endsAt;
  return isBack ? { ...current, samples, phase: 'draining', backAt: current.backAt ?? now } : { ...current, samples };
};

/** The service is back, and the visitor has clicked. A fault can be ended before the first click. @param {Outage} current */
const hasShown = ({ phase, tracked, endsAt }) => phase === 'draining' && (tracked.size > 0 || Date.now() >= endsAt);

/** @param {Outage} current */
const isOver = (current) => {
  const { tracked, arrived, dropped } = countsOf(current);
  return hasShown(current) && arrived + dropped >= tracked;
};

/** Keeps the waiting events for the next reload. After a second reload it keeps the same ones, until all have arrived. */
const rememberWaiting = () => {
  const current = outage.get();
  const uuids = current ? [...current.tracked].filter((uuid) => !current.dropped.has(uuid)) : remembered;
  const waiting = uuids.filter((uuid) => !arrivals.find(uuid));
  remember(current || !waiting.length ? waiting : remembered);
};

export const countsOfReload = () => ({
  waited: remembered.length,
  arrived: remembered.filter((uuid) => arrivals.find(uuid)).length,
});

/** @param {() => void} stopVisitor */
const play = async (stopVisitor) => {
  while (isPlaying()) {
    await new Promise((resolve) => setTimeout(resolve, PACE));
    const current = advance(/** @type {Outage} */ (outage.get()));
    outage.set(isOver(current) ? { ...current, phase: 'done' } : current);
    if (hasShown(current) || Date.now() >= current.endsAt) stopVisitor();
  }
};

/** Does nothing while an outage plays, or while the service fails. @throws Error when the service refuses the fault */
export const breakService = async () => {
  if (isPlaying() || isBroken()) return;
  const now = Date.now();
  outage.set({
    phase: 'down',
    startedAt: now,
    endsAt: now + DURATION,
    tracked: new Set(),
    dropped: new Set(),
    samples: [],
  });
  try {
    await ask('PUT', 'faults', { mode: 'status', status: 503, duration: DURATION });
  } catch (error) {
    outage.set(undefined);
    throw error;
  }
  play(startVisitor());
};

export const followOutage = () => {
  listen(receive);
  listenTo('dropped', ({ events }) => {
    for (const { uuid } of events) if (outage.get()?.tracked.has(uuid)) outage.get()?.dropped.add(uuid);
  });
  addEventListener('pagehide', () => {
    rememberWaiting();
    if (outage.get()?.phase === 'down' && !isOtherFault())
      fetch('/inspect/faults', {
        method: 'PUT',
        keepalive: true,
        headers: { 'Content-Type': 'application/json' },
        body: '{"mode":"none"}',
      }).catch(() => {});
  });
};
