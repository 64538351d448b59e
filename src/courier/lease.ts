/**
 * The state of the link to the service, shared by all tabs of an origin. The record shows which tab holds the lease, how long a
 * back-off lasts, and when the service last confirmed events. These functions change this small record inside a transaction.
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
  /** When the pause ends that an answer has asked for by `Retry-After` (ms since the epoch). Records of version 0.1.0 lack it. */
  asked?: number;
  /** The last tab whose key or address was refused. Only another tab may end that back-off early. */
  refused?: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long one request may take. */
export const REQUEST_TIMEOUT = 20 * SECOND;
/** A lease outlives the request that it is taken for. */
const LEASE = REQUEST_TIMEOUT + 2 * SECOND;
/** For how long (ms) a confirmed request proves the link. On a proven link, clew trusts that handed-over events arrive. */
const PROVEN_FOR = 10 * MINUTE;

/** Name of the link's record in the store. */
export const linkNameOf = (service: string): string => `link ${service}`;

export const newLink = (): Link => ({ by: '', until: 0, fails: 0, okAt: 0 });

/**
 * Ms for which `tab` must not send. Clocks jump, so a time that is too far in the future is void.
 *
 * @param isForced the visitor is back, the network is back, or the app calls `flush()`. That ends a back-off, but no lease, no pause
 * by `Retry-After`, and no wait after a refusal of this tab's key or address.
 */
export const timeLeft = (
  { by, until, asked = 0, refused }: Link,
  tab: string,
  now: number,
  isForced = false,
): number => {
  const end = isForced && !by && refused !== tab ? Math.min(asked, until) : until;
  return by === tab || end > now + (by ? LEASE : HOUR) ? 0 : Math.max(end - now, 0);
};

/** Takes or renews the lease for `tab`, unless the tab has to wait. */
export const take = (link: Link, tab: string, now: number, isForced?: boolean): void => {
  if (timeLeft(link, tab, now, isForced)) return;
  link.by = tab;
  link.until = now + LEASE;
};

export const release = (link: Link, tab: string): void => {
  if (link.by !== tab) return;
  link.by = '';
  link.until = 0;
};

/** The link is proven, and `tab` keeps the lease. */
export const succeed = (link: Link, tab: string, now: number): void => {
  take(link, tab, now);
  link.okAt = now;
  link.fails = 0;
};

/**
 * Starts a back-off for all tabs. After a failure, the wait is 1 s doubling to 5 min, with full jitter. After a refusal of key or
 * address, the wait is 5 min doubling to 1 h. Any back-off lasts at least as long as `Retry-After` asks for, and at most 1 h.
 */
export const fail = (link: Link, tab: string, now: number, isRefused: boolean, retryAfter = 0): void => {
  if (link.by !== tab) return;
  const doubled = 2 ** link.fails++;
  const wait = isRefused ? 5 * MINUTE * doubled : Math.min(SECOND * doubled, 5 * MINUTE) * Math.random();
  link.by = '';
  // An app's transport may have made anything of the header.
  const asked = retryAfter > 0 ? Math.min(retryAfter, HOUR) : 0;
  link.until = now + Math.min(Math.max(wait, asked), HOUR);
  link.asked = asked && now + asked;
  link.refused = isRefused ? tab : '';
};

/** Whether the browser probably delivers a request that it receives now. */
export const isProven = (link: Link, now: number): boolean => !link.fails && Math.abs(now - link.okAt) < PROVEN_FOR;

/** Whether the last request has failed, not long ago. A failure of an earlier visit proves nothing. */
export const isFailing = (link: Link, now: number): boolean => link.fails > 0 && now - link.until < PROVEN_FOR;
