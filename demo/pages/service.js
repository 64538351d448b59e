// @ts-check
import { createArrivals } from './arrivals.js';
import { cell } from './cell.js';
import { remembered } from './remembered.js';

/**
 * The data at the service, and its switches. Both come from the demo's own interface `/inspect`, which a real service lacks.
 *
 * @typedef {import('../collector/listings.ts').ListedEvent} ListedEvent
 * @typedef {import('../collector/listings.ts').ListedCustomer} ListedCustomer
 * @typedef {import('../collector/listings.ts').ListedJourney} ListedJourney
 * @typedef {import('../collector/listings.ts').Counts} Counts
 * @typedef {import('../collector/faults.ts').Fault} Fault
 * @typedef {{ events: ListedEvent[], customers: ListedCustomer[], journeys: ListedJourney[], fault: Fault, attribute: string | null }} Arrived
 */

/** @type {import('./cell.js').Cell<Counts | undefined>} */
export const counts = cell(/** @type {Counts | undefined} */ (undefined));
/** @type {import('./cell.js').Cell<Arrived | undefined>} */
export const arrived = cell(/** @type {Arrived | undefined} */ (undefined));
export const isLive = cell(false);

/**
 * @param {string} method @param {string} path @param {unknown} [body]
 * @returns {Promise<any>} the answer
 * @throws Error with the service's own message when it refuses
 */
export const ask = async (method, path, body) => {
  const response = await fetch(`/inspect/${path}`, {
    method,
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : undefined;
  if (!response.ok) throw new Error(answer?.error ?? `the service answered ${response.status}`);
  return answer;
};

/** How many events the page shows. */
const MOST_SHOWN = 60;
/** @param {number} limit @returns {Promise<ListedEvent[]>} */
const listEvents = async (limit) => (await ask('GET', `events?limit=${limit}`)).events;
export const arrivals = createArrivals(listEvents, MOST_SHOWN, remembered);

/** Newest first. @returns {Promise<Arrived>} */
const fetchAll = async () => {
  const [events, { customers }, { journeys }, fault, { attribute }] = await Promise.all([
    arrivals.update(),
    ask('GET', 'customers?limit=1000'),
    ask('GET', 'journeys?limit=50'),
    ask('GET', 'faults'),
    ask('GET', 'primary-key'),
  ]);
  return { events: events.reverse(), customers: customers.reverse(), journeys, fault, attribute };
};

let isFetching = false;
let isStale = false;
/** Fetches everything, one fetch at a time. A change during a fetch leads to another fetch. */
export const refresh = async () => {
  isStale = true;
  if (isFetching) return;
  isFetching = true;
  try {
    while (isStale) {
      isStale = false;
      arrived.set(await fetchAll());
    }
  } catch {
    // The service is away. The stream shows that, and refreshes the page once the service is back.
  }
  isFetching = false;
};

/** How long (ms) a page waits before it opens a new stream. */
const RECONNECT = 2000;

/** Updates the counts and the lists with each change, while the page is visible. */
export const watchService = () => {
  /** @type {EventSource | undefined} */
  let stream;
  const start = () => {
    if (stream || document.hidden) return;
    stream = new EventSource('/inspect/stream');
    stream.addEventListener('open', () => isLive.set(true));
    stream.addEventListener('error', () => {
      isLive.set(false);
      if (stream?.readyState !== EventSource.CLOSED) return;
      // A browser reconnects by itself, but not after an answer other than 200.
      end();
      setTimeout(start, RECONNECT);
    });
    stream.addEventListener('changed', (event) => {
      counts.set(JSON.parse(event.data));
      refresh();
    });
  };
  const end = () => {
    stream?.close();
    stream = undefined;
  };
  // A browser opens at most six connections to an origin. Hidden tabs must leave them to the tabs that send.
  document.addEventListener('visibilitychange', () => (document.hidden ? end() : start()));
  // A browser does not keep a page with an open stream in the back/forward cache.
  addEventListener('pagehide', end);
  addEventListener('pageshow', start);
  start();
};
