import type { Link } from '../courier/lease.js';
import type { Answer } from '../courier/transport.js';
import { bare } from './bare.js';

/** A request, as far as the inspector has seen it. Times are ms since the epoch. */
export interface SeenRequest {
  /** From 1, in the order in which they went. */
  readonly number: number;
  readonly sentAt: number;
  readonly path: string;
  /** How many events, or upserts, it takes. */
  readonly size: number;
  /** How many of these were not seen here before: of other tabs, of an earlier page, or from before the inspector was opened. */
  readonly strangers: number;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Bytes of the body as gzip, if it was compressed. */
  readonly gzip?: number | undefined;
  /** The page handed the request to the browser as it left. A later page may learn from the relay that it has arrived. */
  readonly leaving: boolean;
  answeredAt?: number;
  outcome?: Answer['outcome'];
  status?: number | undefined;
  /** The message of the answer, for people. */
  message?: string | undefined;
  /** Ms the service asked to wait. */
  retryAfter?: number | undefined;
  /** How many a relay refused although it took the others. */
  rejected?: number;
  /** When something is sent again. */
  retryAt?: number;
}

/** Requests, and which events are in those that have no answer yet, or have just got one. */
export interface Requests {
  /** The last ones, oldest first. */
  readonly list: SeenRequest[];
  count: number;
  readonly open: Map<SeenRequest, readonly string[]>;
  last?: [request: SeenRequest, uuids: readonly string[]];
}

/** How many requests are kept. */
export const MOST_REQUESTS = 200;

export const newRequests = (): Requests => ({ list: [], count: 0, open: new Map() });

export const send = (
  requests: Requests,
  uuids: readonly string[],
  request: Omit<SeenRequest, 'number' | 'size'>,
): SeenRequest => {
  const { list, open, last } = requests;
  // A flush, or the visitor's coming back, has ended the wait.
  if (last?.[0].retryAt) last[0].retryAt = Math.min(last[0].retryAt, request.sentAt);
  const seen = bare<SeenRequest>({ ...request, number: ++requests.count, size: uuids.length });
  list.push(seen);
  const gone = list.length > MOST_REQUESTS && list.shift();
  if (gone) open.delete(gone);
  open.set(seen, uuids);
  return seen;
};

/** Finds the request of an answer by its events. If two requests have the same events, it is the later one. */
export const answer = (
  requests: Requests,
  at: number,
  uuids: readonly string[],
  { outcome, status, message, retryAfter, rejected }: Answer,
): SeenRequest | undefined => {
  const isSame = ([, held]: [SeenRequest, readonly string[]]) => held[0] === uuids[0] && held.length === uuids.length;
  const [request] = [...requests.open].filter(isSame).pop() ?? [];
  if (!request) return;
  requests.open.delete(request);
  requests.last = [request, uuids];
  Object.assign(request, {
    answeredAt: at,
    outcome,
    status,
    // An app's own transport may reject with any value.
    message: message === undefined ? undefined : `${message}`,
    retryAfter: retryAfter || undefined,
    rejected: rejected?.length || undefined,
  });
  return request;
};

/** After a failure no tab sends for a while. Then the same request is sent again. */
export const plan = ({ last }: Requests, at: number, { by, until }: Pick<Link, 'by' | 'until'>): void => {
  const [request] = last ?? [];
  if (!request || by || until <= at || request.outcome === 'delivered' || request.retryAt) return;
  request.retryAt = until;
};
