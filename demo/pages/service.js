// @ts-check
import { createArrivals } from './arrivals.js';
import { cell } from './cell.js';

/**
 * What has arrived at the service, and its switches: the demo's own interface `/inspect`, which a real service has not.
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
 * @throws Error with the service's own words when it refuses
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

/** No more than anybody reads. */
const MOST_SHOWN = 60;
export const arrivals = createArrivals(async (limit) => (await ask('GET', `events?limit=${limit}`)).events, MOST_SHOWN);

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
/** One at a time; news that comes meanwhile is fetched by one more. */
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
    // The service is away; the stream says so, and its return brings the next refresh.
  }
  isFetching = false;
};

/** Ms. */
const RECONNECT = 2000;

/** Counts and a refresh with each change, for as long as somebody looks. */
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
      // A browser reconnects by itself, but not after an answer it does not like.
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
  // A browser opens six connections to an origin: tabs in the background must not keep them from those who send.
  document.addEventListener('visibilitychange', () => (document.hidden ? end() : start()));
  // An open stream would cost the page its place in the back/forward cache.
  addEventListener('pagehide', end);
  addEventListener('pageshow', start);
  start();
};
