import { parseJson, type Rejections } from '../wire.js';
import { REQUEST_TIMEOUT } from './link.js';

/** One request of the tracker's. */
export interface TransportRequest {
  readonly url: string;
  /** JSON, or JSON as gzip with the header that says so. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  /** The page is going away: nobody will read the answer, and only what is handed to the browser now arrives. */
  readonly leaving: boolean;
  /** `same-origin` with `cookieDomain`, whose cookie a relay renews; otherwise no cookie is sent. */
  readonly credentials?: 'same-origin';
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
  /** HTTP's status: 413 (the service takes less) and 500 (which may be about what is in it) mean more than their outcome. */
  readonly status?: number;
  /** Ms the service asked to wait. */
  readonly retryAfter?: number;
  /** Events that a relay did not take although it took the others. */
  readonly rejected?: Rejections['rejected'] | undefined;
  /** What went wrong, for people. */
  readonly message?: string;
}

/**
 * Takes one body out and says what became of it, once the answer has been read to its end. To reject is to fail: the same
 * goes out again later. Of a page that is leaving nobody waits for promises: only what is handed to the browser in the
 * call arrives, and `false` says that the browser did not take it.
 *
 * Wrap the default (`fetchTransport`) to add to it.
 */
export type Transport = (request: TransportRequest) => Promise<Answer> | false;

/** `Retry-After` in ms: seconds or an HTTP date (RFC 9110, section 10.2.3); 0 without one that makes sense. */
export const parseRetryAfter = (value: string | null): number =>
  Number(value) * 1000 || Date.parse(value ?? '') - Date.now() || 0;

/** What HTTP's status means. */
export const outcomeOf = (status: number): Answer['outcome'] => {
  if (status < 300) return 'delivered';
  if (/400|413|415|422/.test(`${status}`)) return 'rejected';
  return /408|425|429|5../.test(`${status}`) ? 'failed' : 'refused';
};

const init = (request: TransportRequest, signal: AbortSignal): RequestInit => ({
  credentials: 'omit',
  ...request,
  method: 'POST',
  // Kept alive when the page goes away; browsers refuse to when all such requests together pass 64 KiB, and go on
  // counting until the answer has been read: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
  keepalive: request.body.length < 6e4,
  redirect: 'error',
  signal,
});

const post = async (request: TransportRequest): Promise<Answer> => {
  const response = await fetch(request.url, init(request, AbortSignal.timeout(REQUEST_TIMEOUT)));
  const text = await response.text();
  const told = parseJson<Partial<Rejections & Answer>>(text || '{}');
  return {
    outcome: outcomeOf(response.status),
    // A relay says by it what the service itself has answered.
    status: told?.status ?? response.status,
    retryAfter: parseRetryAfter(response.headers.get('Retry-After')),
    rejected: told?.rejected,
    message: `${response.status} ${text}`,
  };
};

/**
 * A request by `fetch`, bounded in time, which the browser keeps alive if the page goes away meanwhile; from a page that
 * is leaving already a beacon, if no header is needed, for a beacon carries none.
 */
export const fetchTransport: Transport = (request) =>
  request.leaving && !request.headers.Authorization
    ? navigator.sendBeacon(request.url, request.body) && Promise.resolve({ outcome: 'delivered' })
    : post(request);

/** The text as gzip; rejects where there is no CompressionStream. */
export const gzip = async (text: string): Promise<Uint8Array<ArrayBuffer>> =>
  // Made of a response, a stream needs no reader, and has none of a blob's detours through another process.
  new Uint8Array(await new Response(new Response(text).body?.pipeThrough(new CompressionStream('gzip'))).arrayBuffer());

/**
 * Leaves a request with the browser, which sends it when the page is gone, however it went; returns how to take it back.
 * Throws where there is no `fetchLater`, or no room: https://developer.mozilla.org/docs/Web/API/Window/fetchLater
 */
export const fetchAtEnd = (request: TransportRequest): (() => void) => {
  const taking = new AbortController();
  fetchLater(request.url, init(request, taking.signal));
  return () => taking.abort();
};

declare const fetchLater: (url: string, init: RequestInit) => unknown;
