/**
 * Finds the rejected event in a rejected batch. The courier sends the batch again in ever smaller parts, until one event alone is
 * rejected. That event is set aside, and the next one is sent alone. If the service takes the next one and rejects the first
 * again, the event is the cause and not the service. The functions below change a bisection with each answer.
 */
export interface Bisection {
  /** Most bytes of the next batch. One byte means one event, because the first event is always sent. */
  most: number;
  /** Most bytes that the service accepts, learned from 413. */
  largest: number;
  /** Ids of events that were rejected alone, and wait for the result of the next event. Another page may send them meanwhile. */
  aside: string[];
  /** Ids of those that are sent again, because the next event was confirmed. */
  proven: string[];
  /** How many of the oldest events the latest request has passed over: those set aside, and properties that must not pass them. */
  passed: number;
  /** How many single events were rejected in a row. */
  refusals: number;
  /** How often one of the `proven` events got 500. */
  strikes: number;
}

/** If so many single events are rejected in a row, the fault is the service's. */
const BREAKER = 5;
/** How often a proven event gets 500 before it counts as rejected. A 500 may also mean that half of the service is down. */
const STRIKES = 4;

export const newBisection = (largest: number): Bisection => ({
  most: largest,
  largest,
  aside: [],
  proven: [],
  passed: 0,
  refusals: 0,
  strikes: 0,
});

/** Whether a request has failed since the last full batch. Only then may a 500 be about an event in the batch. */
export const isOn = (bisection: Bisection): boolean => bisection.most < bisection.largest;

/** The result of an answer: the bisection goes on, all events wait, or the batch needs no further request. */
export const BISECT = 0;
export const WAIT = 1;
export const SETTLED = 2;
export type Verdict = typeof BISECT | typeof WAIT | typeof SETTLED;

/** The service has confirmed a batch. The next batch may have twice the size, or the full size if the queue is empty. */
export const taken = (bisection: Bisection, bytes: number, isLast: boolean): Verdict => {
  if (!bisection.aside[0]) bisection.strikes = 0;
  bisection.proven = bisection.aside;
  bisection.aside = [];
  bisection.refusals = 0;
  if (bisection.proven[0]) bisection.most = 1;
  else if (isOn(bisection)) bisection.most = isLast ? bisection.largest : Math.min(bytes * 2, bisection.largest);
  return SETTLED;
};

/** The service did not answer, or refused the key or the address. The same events go again later, with a smaller size limit. */
export const unanswered = (bisection: Bisection, bytes: number): Verdict => {
  bisection.most = Math.min(bytes, bisection.largest - 1);
  bisection.strikes = 0;
  bisection.proven = [];
  bisection.aside = [];
  return WAIT;
};

/**
 * The service has answered 413. Returns whether a smaller request may be accepted: one with fewer events, or with fewer fields for the
 * relay. In the end, an event goes without these fields.
 *
 * @param count how many events the batch has
 * @param bytes size of the part that cannot be left out, if the batch has one event or none
 * @param sent size of the request
 */
export const narrowed = (bisection: Bisection, count: number, bytes: number, sent: number): boolean => {
  const least = count > 1 ? 0 : bytes;
  if (sent <= least) return false;
  bisection.largest = Math.max(sent >> 1, least);
  bisection.most = Math.min(bisection.most, bisection.largest);
  return true;
};

/**
 * The service has rejected a batch. `SETTLED` means that the rejected event is found and dropped.
 *
 * @param ids the ids of the batch's events
 * @param isLast the queue has no later event
 * @param status 500 may be a fault of the event or of the service
 */
export const refused = (
  bisection: Bisection,
  bytes: number,
  ids: readonly string[],
  isLast: boolean,
  status: number | undefined,
): Verdict => {
  bisection.most = ids[1] ? bytes >> 1 : 1;
  if (ids[1]) return BISECT;
  const [id = ''] = ids;
  const isProven = bisection.proven.includes(id);
  if (isProven && (status !== 500 || ++bisection.strikes >= STRIKES)) {
    bisection.strikes = 0;
    return SETTLED;
  }
  // Only the confirmation of a later event can show that the service works. Without a later event, the courier waits.
  if (isProven && isLast) return WAIT;
  bisection.proven = [];
  bisection.aside.push(id);
  if (++bisection.refusals >= BREAKER || (isLast && status === 500)) return WAIT;
  if (!isLast) return BISECT;
  bisection.aside = [];
  return SETTLED;
};
