/**
 * Finds the rejected event in a rejected batch. The courier sends the batch again in ever smaller parts, until one event alone is
 * rejected. That event is set aside, and the next one is sent alone. If the service takes the next one and rejects the first
 * again, the event is the cause and not the service. The functions below change a bisection with each answer.
 */
export interface Bisection {
  /** Most bytes of the next batch. One byte means one event: the first one always goes. */
  most: number;
  /** Most bytes that the service takes, as far as it has said. */
  largest: number;
  /** So many of the oldest events were refused alone, and wait to see how the next one fares. */
  aside: number;
  /** So many of them go once more, now that the next one has got through. */
  proven: number;
  /** So many single events were refused in a row. */
  refusals: number;
  /** So often one of the `proven` was answered 500. */
  strikes: number;
}

/** So many single events refused in a row: then it is the service. */
const BREAKER = 5;
/** A 500 says little: half of a service may be down. So often a proven event has to be answered so to be given up. */
const STRIKES = 4;

export const newBisection = (largest: number): Bisection => ({
  most: largest,
  largest,
  aside: 0,
  proven: 0,
  refusals: 0,
  strikes: 0,
});

/** Something has failed since all was well, if only once: what is answered 500 now may be about what is in the batch. */
export const isOn = (bisection: Bisection): boolean => bisection.most < bisection.largest;

/** The result of an answer: the bisection goes on, everything waits, or the batch needs no further request. */
export const BISECT = 0;
export const WAIT = 1;
export const SETTLED = 2;
export type Verdict = typeof BISECT | typeof WAIT | typeof SETTLED;

/** The service has taken a batch: the next one may be twice as large, or as large as any when there is nothing left to bisection. */
export const taken = (bisection: Bisection, bytes: number, isLast: boolean): Verdict => {
  if (!bisection.aside) bisection.strikes = 0;
  bisection.proven = bisection.aside;
  bisection.aside = bisection.refusals = 0;
  if (bisection.proven) bisection.most = 1;
  else if (isOn(bisection)) bisection.most = isLast ? bisection.largest : Math.min(bytes * 2, bisection.largest);
  return SETTLED;
};

/** The service was not there, or for nobody: the same again later, or one event less of what is as large as any. */
export const unanswered = (bisection: Bisection, bytes: number): Verdict => {
  bisection.most = Math.min(bytes, bisection.largest - 1);
  bisection.proven = bisection.aside = bisection.strikes = 0;
  return WAIT;
};

/**
 * The service has refused a batch. `SETTLED` means that the event has been found and is given up.
 *
 * @param isLast there is nothing after it in the queue
 * @param status 413 says that the service takes less; 500 says as little of the event as of the service
 */
export const refused = (
  bisection: Bisection,
  bytes: number,
  isSingle: boolean,
  isLast: boolean,
  status: number | undefined,
): Verdict => {
  bisection.most = isSingle ? 1 : bytes >> 1;
  if (!isSingle) {
    if (status === 413) bisection.largest = bisection.most;
    return BISECT;
  }
  if (bisection.proven && (status !== 500 || ++bisection.strikes >= STRIKES)) {
    bisection.strikes = 0;
    bisection.proven--;
    return SETTLED;
  }
  // The others have to get through once more; where there is none, time has to tell.
  if (bisection.proven && isLast) return WAIT;
  bisection.proven = 0;
  bisection.aside++;
  if (++bisection.refusals >= BREAKER || (isLast && status === 500)) return WAIT;
  if (!isLast) return BISECT;
  bisection.aside = 0;
  return SETTLED;
};
