/**
 * What all tabs of an origin know about the way to the service: who is sending, since when it is known to work, and
 * when to try again after it did not. One small record in the store, changed by pure functions inside transactions.
 */
export interface Link {
  /** The tab that holds the lease, or ''. */
  readonly holder: string;
  /** When the lease ends (ms since the epoch). */
  readonly until: number;
  /** When the service last confirmed something (ms since the epoch). */
  readonly provenAt: number;
  /** Consecutive requests that were not answered with success. */
  readonly failures: number;
  /** Nothing is sent before (ms since the epoch). */
  readonly retryAt: number;
  /** The service refused the key or the address: waiting longer, and not cut short by the visitor's coming back. */
  readonly refused: boolean;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long one request may take. */
export const REQUEST_TIMEOUT = 20 * SECOND;
/** A lease outlives the request it is taken for. */
const LEASE = REQUEST_TIMEOUT + 2 * SECOND;
/** How long a success vouches for the next hand-over. */
const PROVEN_FOR = 10 * MINUTE;

export const newLink: Link = {
  holder: '',
  until: 0,
  provenAt: 0,
  failures: 0,
  retryAt: 0,
  refused: false,
};

/** A time in the future, but no further than `most`: anything else is the work of a clock that jumped. */
const isAhead = (time: number, now: number, most: number) => time > now && time <= now + most;

export const waitLeft = (link: Link, now: number): number => (isAhead(link.retryAt, now, HOUR) ? link.retryAt - now : 0);

/** Ms until another tab's lease runs out, 0 when the way is free for `tab`. */
export const leaseLeft = (link: Link, tab: string, now: number): number =>
  link.holder && link.holder !== tab && isAhead(link.until, now, LEASE) ? link.until - now : 0;

/** Takes or renews the lease for `tab`, if it is free and nothing has to be waited for. */
export const take = (link: Link, tab: string, now: number, force: boolean): Link =>
  leaseLeft(link, tab, now) || (!force && waitLeft(link, now)) ? link : { ...link, holder: tab, until: now + LEASE };

export const release = (link: Link, tab: string): Link => (link.holder === tab ? { ...link, holder: '' } : link);

export const succeeded = (link: Link, now: number): Link => ({
  ...link,
  provenAt: now,
  failures: 0,
  retryAt: 0,
  refused: false,
});

/**
 * After a failure: 1 s doubling to 5 min with full jitter, or what `Retry-After` asked for, up to 1 h. After a refusal
 * (a wrong key or address): 5 min doubling to 1 h.
 */
export const failed = (link: Link, now: number, refused: boolean, retryAfter: number | undefined): Link => {
  const doubled = 2 ** Math.min(link.refused === refused ? link.failures : 0, 12);
  const wait = refused ? Math.min(5 * MINUTE * doubled, HOUR) : Math.min(SECOND * doubled, 5 * MINUTE) * Math.random();
  return {
    ...link,
    failures: link.failures + 1,
    retryAt: now + Math.min(Math.max(wait, retryAfter ?? 0), HOUR),
    refused,
  };
};

/** Whether what is handed to the browser now may be believed to arrive. */
export const isProven = (link: Link, now: number): boolean =>
  !link.failures && link.provenAt <= now && now - link.provenAt < PROVEN_FOR;
