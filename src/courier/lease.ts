/**
 * The state of the link to the service, shared by all tabs of an origin: which tab holds the lease, how long a back-off lasts, and
 * when the service last confirmed events. It is one small record in the store, which these functions change inside a transaction.
 */
export interface Link {
  /** The tab that holds the lease, or '' if no tab holds it. */
  by: string;
  /** When the lease ends, or without a lease the back-off (ms since the epoch). */
  until: number;
  /** Consecutive requests without a successful answer. */
  fails: number;
  /** When the service last confirmed events (ms since the epoch). */
  okAt: number;
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

export const newLink = (): Link => ({ by: '', until: 0, fails: 0, okAt: 0 });

/** Ms for which `tab` must not send. A time that is further off than it can be is void: clocks jump. */
export const timeLeft = ({ by, until }: Link, tab: string, now: number): number =>
  by === tab || until > now + (by ? LEASE : HOUR) ? 0 : Math.max(until - now, 0);

/** Takes or renews the lease for `tab` if the way is free; with `force` it is, unless another tab is sending. */
export const take = (link: Link, tab: string, now: number, force?: boolean): void => {
  if (timeLeft(link, tab, now) && !(force && !link.by)) return;
  link.by = tab;
  link.until = now + LEASE;
};

export const release = (link: Link, tab: string): void => {
  if (link.by !== tab) return;
  link.by = '';
  link.until = 0;
};

/** The way is proven, and goes on being `tab`'s. */
export const succeed = (link: Link, tab: string, now: number): void => {
  take(link, tab, now);
  link.okAt = now;
  link.fails = 0;
};

/**
 * Nobody sends for a while: after a failure 1 s doubling to 5 min, with full jitter; after a refusal of key or address
 * 5 min doubling to 1 h; never less than `Retry-After` asks for, and never more than 1 h.
 */
export const fail = (link: Link, tab: string, now: number, isRefused: boolean, retryAfter = 0): void => {
  if (link.by !== tab) return;
  const doubled = 2 ** link.fails++;
  const wait = isRefused ? 5 * MINUTE * doubled : Math.min(SECOND * doubled, 5 * MINUTE) * Math.random();
  link.by = '';
  link.until = now + Math.min(Math.max(wait, retryAfter), HOUR);
};

/** Whether what is handed to the browser now may be believed to arrive. */
export const isProven = (link: Link, now: number): boolean => !link.fails && Math.abs(now - link.okAt) < PROVEN_FOR;
