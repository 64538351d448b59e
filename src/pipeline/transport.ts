import { EVENT_PATH, joinUrl, parseJson, type Rejections } from '../wire.js';
import type { Batch } from './batch.js';
import { REQUEST_TIMEOUT } from './link.js';

/** One request of the tracker's. */
export interface TransportRequest {
  readonly url: string;
  /** JSON. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The page is going away: nobody will read the answer, and only what is handed to the browser now arrives. */
  readonly leaving: boolean;
}

/** What became of a request. */
export interface Answer {
  /**
   * - `delivered`: confirmed by the service, but for the `rejected` ones;
   * - `rejected`: refused because of what is in it;
   * - `refused`: refused because of the key or the address, not of what is in it;
   * - `failed`: perhaps arrived, or to be tried again later.
   */
  readonly outcome: 'delivered' | 'rejected' | 'refused' | 'failed';
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** Ms the service asked to wait. */
  readonly retryAfter?: number | undefined;
  /** Events that a relay did not take although it took the others. */
  readonly rejected?: Rejections['rejected'] | undefined;
  /** What went wrong, for people. */
  readonly message?: string;
}

/**
 * Takes one body out and says what became of it, once the answer has been read to its end. To throw is to fail: the
 * same goes out again later. Of a page that is leaving nobody waits for promises: only what is handed to the browser in
 * the call arrives, and only a `failed` that is returned in the call is heard.
 *
 * Wrap the default (`fetchTransport`) to add to it.
 */
export type Transport = (request: TransportRequest) => Answer | Promise<Answer>;

/** `Retry-After` in ms: seconds or an HTTP date (RFC 9110, section 10.2.3). */
export const parseRetryAfter = (value: string | null, now: number): number | undefined => {
  const ms = value ? (Number.isFinite(+value) ? +value * 1000 : Date.parse(value) - now) : Number.NaN;
  return ms > 0 ? ms : undefined;
};

const outcomeOf = (status: number): Answer['outcome'] => {
  if (status < 300) return 'delivered';
  if ([400, 413, 415, 422].includes(status)) return 'rejected';
  return status >= 500 || [408, 425, 429].includes(status) ? 'failed' : 'refused';
};

const post = async ({ url, body, headers }: TransportRequest): Promise<Answer> => {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
    // Browsers count its bytes against 64 KiB for all such requests until the answer has been read:
    // https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
    keepalive: true,
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT),
  });
  const { status } = response;
  const text = await response.text();
  return {
    outcome: outcomeOf(status),
    status,
    retryAfter: parseRetryAfter(response.headers.get('Retry-After'), Date.now()),
    rejected: parseJson<Partial<Rejections>>(text)?.rejected,
    message: `${status} ${text.slice(0, 200)}`,
  };
};

/**
 * A request by `fetch`, bounded in time, which the browser keeps alive if the page goes away meanwhile; from a page that
 * is leaving already a beacon, if no header is needed, for a beacon carries none.
 */
export const fetchTransport: Transport = (request) =>
  request.leaving && !request.headers.Authorization
    ? { outcome: navigator.sendBeacon(request.url, request.body) ? 'delivered' : 'failed' }
    : post(request);

/** Addresses a batch. */
export const toRequest = (
  { path, body }: Batch,
  { baseUrl, eventsUrl, apiKey }: { baseUrl: string; eventsUrl: string; apiKey?: string },
  leaving: boolean,
): TransportRequest => ({
  url: joinUrl(path === EVENT_PATH ? eventsUrl : baseUrl, path),
  body,
  headers: apiKey ? { Authorization: `Api-Key ${apiKey}` } : {},
  leaving,
});
