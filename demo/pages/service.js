// @ts-check
import { createArrivals } from './arrivals.js';
import { ask } from './ask.js';
import { cell } from './cell.js';
import { remembered } from './remembered.js';
import { visitorId } from './site.js';

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

/** How many events the page shows. */
const MOST_SHOWN = 60;
/** How many customers the page shows beside the one of this browser. */
const MOST_CUSTOMERS = 20;
/** @param {number} limit @returns {Promise<ListedEvent[]>} */
const listEvents = async (limit) => (await ask('GET', `events?limit=${limit}`)).events;
export const arrivals = createArrivals(listEvents, MOST_SHOWN, remembered);

/** The customer of this browser. @returns {Promise<ListedCustomer[]>} nothing before the first event */
const fetchOwn = async () => (visitorId.get() ? (await ask('GET', `visitors/${visitorId.get()}`)).customers : []);

/** The customer of this browser first, however many others are newer. @returns {Promise<ListedCustomer[]>} */
const fetchCustomers = async () => {
  const [{ customers }, own] = await Promise.all([ask('GET', `customers?limit=${MOST_CUSTOMERS}`), fetchOwn()]);
  const others = customers.filter((/** @type {ListedCustomer} */ { id }) => id !== own[0]?.id);
  return [...own, ...others.reverse()];
};

/** Newest first. @returns {Promise<Arrived>} */
const fetchAll = async () => {
  const [events, customers, { journeys }, fault, { attribute }] = await Promise.all([
    arrivals.update(),
    fetchCustomers(),
    ask('GET', 'journeys?limit=50'),
    ask('GET', 'faults'),
    ask('GET', 'primary-key'),
  ]);
  return { events: events.reverse(), customers, journeys, fault, attribute };
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
  visitorId.watch(refresh);
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
