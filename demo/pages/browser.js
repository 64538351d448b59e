// @ts-check
import { cell } from './cell.js';
import { linkIn, NOTHING, readStored } from './stored.js';
import { correlationValue, listen, loaded, stats } from './tracker.js';

/** What this browser holds and what has left it, watched from outside: nothing here patches the page. */

/**
 * @typedef {{ at: number, path: string, via: string, status: number, ms: number }} Sent
 * @typedef {{ id: number, at: number, signal: 'delivered' | 'dropped' | 'error', text: string }} Said
 */

/** @type {import('./cell.js').Cell<import('./tracker.js').Stats | undefined>} */
export const memory = cell(/** @type {any} */ (undefined));
export const stored = cell(NOTHING);
/** Newest first. @type {import('./cell.js').Cell<Sent[]>} */
export const sent = cell(/** @type {Sent[]} */ ([]));
/** Newest first. @type {import('./cell.js').Cell<Said[]>} */
export const said = cell(/** @type {Said[]} */ ([]));
/** The visitor's thread. */
export const thread = cell('');

/** Requests seen since the page was loaded; `sent` keeps the newest. */
export let requests = 0;

const MOST = 40;
/** How often (ms) the tracker is asked for its counts, which it does not announce. */
const PACE = 200;
/** How often (ms) the database is looked at when nothing seems to happen: other tabs write into it, too. */
const IDLE_PACE = 1000;

let counts = '';
let lookedAt = 0;

export const look = async () => {
  const now = stats();
  const before = counts;
  counts = JSON.stringify(now);
  if (counts !== before) memory.set(now);
  const isSending = linkIn(stored.get())?.isHeld;
  if (counts === before && !isSending && Date.now() - lookedAt < IDLE_PACE) return;
  lookedAt = Date.now();
  thread.set(await correlationValue());
  // Refused storage is no fault of this page: it shows nothing, as there is nothing.
  stored.set(await readStored().catch(() => NOTHING));
};

const watchRequests = () => {
  const observer = new PerformanceObserver((list) => {
    const entries = /** @type {PerformanceResourceTiming[]} */ (list.getEntries());
    const news = entries
      .filter(({ name }) => new URL(name).pathname.startsWith('/clew/'))
      .map(({ name, startTime, duration, initiatorType, responseStatus }) => ({
        at: performance.timeOrigin + startTime,
        path: new URL(name).pathname,
        via: initiatorType,
        status: responseStatus,
        ms: Math.round(duration),
      }));
    if (!news.length) return;
    requests += news.length;
    sent.set([...news.reverse(), ...sent.get()].slice(0, MOST));
  });
  observer.observe({ type: 'resource', buffered: true });
};

/** @param {{ event?: string }[]} events */
const namesOf = (events) => {
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const { event = '?' } of events) times.set(event, (times.get(event) ?? 0) + 1);
  return [...times].map(([name, count]) => (count > 1 ? `${name} × ${count}` : name)).join(', ');
};

let saidCount = 0;
/** @param {Said['signal']} signal @param {string} text */
const say = (signal, text) => {
  said.set([{ id: ++saidCount, at: Date.now(), signal, text }, ...said.get()].slice(0, MOST));
  look();
};

export const watchBrowser = () => {
  watchRequests();
  listen('delivered', ({ events }) => say('delivered', namesOf(events)));
  listen('dropped', ({ events, reason }) => say('dropped', `${reason}: ${namesOf(events)}`));
  listen('error', (error) => say('error', error.message));
  loaded.then(() => {
    look();
    setInterval(() => document.hidden || look(), PACE);
  });
};
