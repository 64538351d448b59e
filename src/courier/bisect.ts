/**
 * The search for an event that is refused for what is in it. A refused batch is sent again in ever smaller parts, until what
 * is refused stands alone. Then it is set aside and the next one goes, alone too: only if that one gets through, and the
 * first is refused again, it was the event and not the service. These functions change a search as answers come.
 */
export interface Search {
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

export const newSearch = (largest: number): Search => ({
  most: largest,
  largest,
  aside: 0,
  proven: 0,
  refusals: 0,
  strikes: 0,
});

/** Something has failed since all was well, if only once: what is answered 500 now may be about what is in the batch. */
export const isOn = (search: Search): boolean => search.most < search.largest;

/** What comes of an answer: the search goes on, all that is left has to wait, or the batch is done with. */
export const SEARCH = 0;
export const WAIT = 1;
export const SETTLED = 2;
export type Verdict = typeof SEARCH | typeof WAIT | typeof SETTLED;

/** The service has taken a batch: the next one may be twice as large, or as large as any when there is nothing left to search. */
export const taken = (search: Search, bytes: number, isLast: boolean): Verdict => {
  if (!search.aside) search.strikes = 0;
  search.proven = search.aside;
  search.aside = search.refusals = 0;
  if (search.proven) search.most = 1;
  else if (isOn(search)) search.most = isLast ? search.largest : Math.min(bytes * 2, search.largest);
  return SETTLED;
};

/** The service was not there, or for nobody: the same again later, or one event less of what is as large as any. */
export const unanswered = (search: Search, bytes: number): Verdict => {
  search.most = Math.min(bytes, search.largest - 1);
  search.proven = search.aside = search.strikes = 0;
  return WAIT;
};

/**
 * The service has refused a batch. `SETTLED` means that the event has been found and is given up.
 *
 * @param isLast there is nothing after it in the queue
 * @param status 413 says that the service takes less; 500 says as little of the event as of the service
 */
export const refused = (
  search: Search,
  bytes: number,
  isSingle: boolean,
  isLast: boolean,
  status: number | undefined,
): Verdict => {
  search.most = isSingle ? 1 : bytes >> 1;
  if (!isSingle) {
    if (status === 413) search.largest = search.most;
    return SEARCH;
  }
  if (search.proven && (status !== 500 || ++search.strikes >= STRIKES)) {
    search.strikes = 0;
    search.proven--;
    return SETTLED;
  }
  // The others have to get through once more; where there is none, time has to tell.
  if (search.proven && isLast) return WAIT;
  search.proven = 0;
  search.aside++;
  if (++search.refusals >= BREAKER || (isLast && status === 500)) return WAIT;
  if (!isLast) return SEARCH;
  search.aside = 0;
  return SETTLED;
};
