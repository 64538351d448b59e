// @ts-check
import { cell } from './cell.js';
import { startVisitor } from './scripted-visitor.js';
import { arrivals, arrived, ask } from './service.js';
import { listen, listenTo } from './site.js';

/**
 * The service fails for a time while a scripted visitor goes on clicking. Each event of that time is followed by its uuid,
 * from the tracker's trace to the row in the service's database.
 *
 * @typedef {{ at: number, waiting: number, arrived: number }} Sample `at`: ms since the start
 * @typedef {object} Outage
 * @property {'down' | 'draining' | 'done'} phase
 * @property {number} startedAt ms since the epoch
 * @property {number} endsAt ms since the epoch
 * @property {number} [backAt] when the service was seen to answer again (ms since the epoch)
 * @property {Set<string>} tracked
 * @property {Set<string>} confirmed
 * @property {Set<string>} dropped
 * @property {Sample[]} samples
 * @property {number} [rows] how many rows of the service's database hold these events
 */

const DURATION = 10_000;
/** How often (ms) the numbers are taken. */
const PACE = 250;
/** No more rows are read in the end (events of others included). */
const MOST_ROWS = 5000;

/** @type {import('./cell.js').Cell<Outage | undefined>} */
export const outage = cell(/** @type {Outage | undefined} */ (undefined));

export const isPlaying = () => outage.get() !== undefined && outage.get()?.phase !== 'done';

/** @param {Outage} outage */
export const countsOf = ({ tracked, confirmed, dropped }) => {
  const there = [...tracked].filter((uuid) => arrivals.find(uuid));
  const waiting = [...tracked].filter((uuid) => !confirmed.has(uuid) && !dropped.has(uuid) && !arrivals.find(uuid));
  return { tracked: tracked.size, waiting: waiting.length, arrived: there.length, dropped: dropped.size };
};

/** @param {'confirmed' | 'dropped'} end @param {(string | undefined)[]} uuids */
const settle = (end, uuids) => {
  const current = outage.get();
  for (const uuid of uuids) if (uuid && current?.tracked.has(uuid)) current[end].add(uuid);
};

/** @param {import('./site.js').Trace} trace */
const receive = (trace) => {
  if (trace.step === 'tracked' && isPlaying() && trace.event.uuid) outage.get()?.tracked.add(trace.event.uuid);
  if (trace.step === 'answered' && trace.outcome === 'delivered') settle('confirmed', trace.uuids);
};

const isBroken = () => (arrived.get()?.fault.mode ?? 'none') !== 'none';

/** @param {Outage} current @returns {Outage} */
const advance = (current) => {
  const now = Date.now();
  const { waiting, arrived } = countsOf(current);
  const samples = [...current.samples, { at: now - current.startedAt, waiting, arrived }];
  // The time is up, and the service shows that its fault has ended.
  if (current.phase === 'down' && now >= current.endsAt && !isBroken())
    return { ...current, samples, phase: 'draining', backAt: now };
  return { ...current, samples };
};

/** @param {Outage} current */
const isOver = (current) => {
  const { tracked, arrived, dropped } = countsOf(current);
  return current.phase === 'draining' && arrived + dropped >= tracked;
};

/** @param {Outage} current @returns {Promise<Outage>} */
const conclude = async (current) => {
  // A copy: an event of this moment is none of the outage.
  const tracked = new Set(current.tracked);
  const { events } = await ask('GET', `events?limit=${MOST_ROWS}`);
  const rows = events.filter((/** @type {{ uuid: string }} */ { uuid }) => tracked.has(uuid)).length;
  return { ...current, phase: 'done', tracked, rows };
};

/** @param {() => void} stopVisitor */
const play = async (stopVisitor) => {
  while (isPlaying()) {
    await new Promise((resolve) => setTimeout(resolve, PACE));
    const current = advance(/** @type {Outage} */ (outage.get()));
    outage.set(current);
    if (current.phase === 'draining') stopVisitor();
    // A service that cannot be asked now is asked again at the next turn.
    if (isOver(current)) outage.set(await conclude(current).catch(() => current));
  }
};

/** Does nothing while it plays. @throws Error when the service refuses the fault */
export const breakService = async () => {
  if (isPlaying()) return;
  const now = Date.now();
  outage.set({
    phase: 'down',
    startedAt: now,
    endsAt: now + DURATION,
    tracked: new Set(),
    confirmed: new Set(),
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
  listenTo('delivered', ({ events }) =>
    settle(
      'confirmed',
      events.map((/** @type {any} */ { uuid }) => uuid),
    ),
  );
  listenTo('dropped', ({ events }) =>
    settle(
      'dropped',
      events.map((/** @type {any} */ { uuid }) => uuid),
    ),
  );
  addEventListener('pagehide', () => {
    if (outage.get()?.phase === 'down')
      fetch('/inspect/faults', {
        method: 'PUT',
        keepalive: true,
        headers: { 'Content-Type': 'application/json' },
        body: '{"mode":"none"}',
      }).catch(() => {});
  });
};
