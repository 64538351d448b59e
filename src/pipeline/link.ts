/**
 * What all tabs of an origin know of the way to the service: who is sending, since when it is known to work, and when
 * to try again after it did not. One small record in the store, changed by these functions inside a transaction.
 */
export interface Link {
  /** The tab that holds the lease, or ''. */
  holder: string;
  /** When the lease ends (ms since the epoch). */
  until: number;
  /** When the service last confirmed something (ms since the epoch). */
  provenAt: number;
  /** Requests in a row that were not answered with success. */
  failures: number;
  /** Nothing is sent before (ms since the epoch). */
  retryAt: number;
  /** The service refused the key or the address: a longer wait, which the visitor's coming back does not end. */
  refused: boolean;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long one request may take. */
export const REQUEST_TIMEOUT = 20 * SECOND;
/** A lease outlives the request that it is taken for. */
const LEASE = REQUEST_TIMEOUT + 2 * SECOND;
/** How long a success vouches for what is handed over as a page goes away. */
const PROVEN_FOR = 10 * MINUTE;

export const newLink = (): Link => ({ holder: '', until: 0, provenAt: 0, failures: 0, retryAt: 0, refused: false });

/** Ms until `time`, or 0 when that is further off than it can be: clocks jump. */
const left = (time: number, now: number, most: number) => (time > now + most ? 0 : Math.max(time - now, 0));

/** Ms for which a failure keeps everybody from sending. */
export const waitLeft = (link: Link, now: number): number => left(link.retryAt, now, HOUR);

/** Ms for which another tab's lease keeps `tab` from sending. */
export const leaseLeft = (link: Link, tab: string, now: number): number =>
  link.holder && link.holder !== tab ? left(link.until, now, LEASE) : 0;

/** Takes or renews the lease for `tab`, unless another has it. */
export const take = (link: Link, tab: string, now: number): void => {
  if (leaseLeft(link, tab, now)) return;
  link.holder = tab;
  link.until = now + LEASE;
};

export const release = (link: Link, tab: string): void => {
  if (link.holder === tab) link.holder = '';
};

export const succeed = (link: Link, now: number): void => {
  link.provenAt = now;
  link.failures = link.retryAt = 0;
  link.refused = false;
};

/**
 * After a failure 1 s doubling to 5 min, with full jitter; after a refusal of key or address 5 min doubling to 1 h;
 * never less than `Retry-After` asks for, and never more than 1 h.
 */
export const fail = (link: Link, now: number, refused: boolean, retryAfter = 0): void => {
  if (link.refused !== refused) link.failures = 0;
  const doubled = 2 ** link.failures++;
  const wait = refused ? 5 * MINUTE * doubled : Math.min(SECOND * doubled, 5 * MINUTE) * Math.random();
  link.retryAt = now + Math.min(Math.max(wait, retryAfter), HOUR);
  link.refused = refused;
};

/** Whether what is handed to the browser now may be believed to arrive. */
export const isProven = (link: Link, now: number): boolean =>
  !link.failures && left(link.provenAt + PROVEN_FOR, now, PROVEN_FOR) > 0;
