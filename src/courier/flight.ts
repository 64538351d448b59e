/** Bytes of requests that have no answer yet. All trackers of a page share one value, because they share the browser's quota. */
export interface Flight {
  bytes: number;
}

/** The page's. */
export const FLIGHT: Flight = { bytes: 0 };

/**
 * Browsers refuse keep-alive requests and beacons beyond 64 KiB in flight
 * (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch).
 */
export const KEEPALIVE_QUOTA = 65_536;

/** Counts a request until it is answered. */
export const addTo = (flight: Flight, bytes: number, answer: Promise<unknown>): void => {
  flight.bytes += bytes;
  const end = () => {
    flight.bytes -= bytes;
  };
  answer.then(end, end);
};
