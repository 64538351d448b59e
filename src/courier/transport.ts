import { byteLength } from '../recorder/event.js';
import { HANDOVERS_HEADER, type HandoverState, parseJson, RELAY_HEADER, type Rejections } from '../wire.js';
import { REQUEST_TIMEOUT } from './lease.js';

/** One request of the tracker. */
export interface TransportRequest {
  readonly url: string;
  /** JSON, or JSON as gzip with the header `Content-Encoding: gzip`. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the page unloads. Then nothing reads the answer, and only data that the browser receives within the call arrives. */
  readonly leaving: boolean;
  /** `same-origin` with `cookieDomain`, whose cookie a relay renews. Otherwise the browser sends no cookie. */
  readonly credentials?: 'same-origin';
}

/** The result of a request. */
export interface Answer {
  /**
   * - `delivered`: the service confirmed the events, except the `rejected` ones.
   * - `rejected`: the service refused the request because of its content.
   * - `refused`: the service refused the request because of the key or the address.
   * - `failed`: the service did not confirm the request. clew retries.
   */
  readonly outcome: 'delivered' | 'rejected' | 'refused' | 'failed';
  /** The HTTP status, 0 if the transport broke its contract. clew sends smaller batches after 413, and may bisect a batch after 500. */
  readonly status?: number | undefined;
  /** How long the service asks clew to wait, in ms. */
  readonly retryAfter?: number | undefined;
  /** Events of a batch that the relay refused while it took the others. */
  readonly rejected?: Rejections['rejected'] | undefined;
  /** The relay's states of the handovers that the request asked about, in their order. Without them, clew sends those events again. */
  readonly handovers?: readonly HandoverState[] | undefined;
  /** The cause of a failure, for people. In the text of a relay, `renewTokens` finds that a token of properties has expired. */
  readonly message?: string | undefined;
}

/**
 * Sends one request, and resolves to its result once the answer has been read completely. If the promise rejects, clew retries
 * the request. While a page unloads, only data that the browser receives within the call arrives. `false` means that the browser
 * did not take the request.
 *
 * Wrap the default (`fetchTransport`) to extend it.
 */
export type Transport = (request: TransportRequest) => Promise<Answer> | false;

/** `Retry-After` in ms, from seconds or an HTTP date (RFC 9110, section 10.2.3). Without a valid value it is 0. */
export const parseRetryAfter = (value: string | null): number =>
  Number(value) * 1000 || Date.parse(value ?? '') - Date.now() || 0;

/** The outcome of an HTTP status. */
export const outcomeOf = (status: number): Answer['outcome'] => {
  if (status < 300) return 'delivered';
  if (/400|413|415|422/.test(`${status}`)) return 'rejected';
  return /408|425|429|5../.test(`${status}`) ? 'failed' : 'refused';
};

/** From how many bytes an ordinary request is not kept alive, so that the page has room for handovers. */
const LARGE = 6e4;

const sizeOf = (body: TransportRequest['body']): number => (typeof body === 'string' ? byteLength(body) : body.length);

/** Whether the browser keeps an ordinary request of this size alive after its page. */
export const isKeptAlive = (bytes: number): boolean => bytes < LARGE;

/**
 * A path is one of the page's own origin. `fetch` would resolve it against `<base>`, and against the address of a page that was
 * opened with a user name and a password, which it then refuses.
 */
const addressOf = ({ url }: TransportRequest): string => {
  // A global variable of the site may replace `globalThis.origin`.
  const origin = `${globalThis.location?.origin}`;
  // The origin of `about:srcdoc` and `about:blank` is `null`.
  return /^\/(?!\/)/.test(url) && /^http/.test(origin) ? origin + url : url;
};

const init = (request: TransportRequest, signal: AbortSignal): RequestInit => ({
  credentials: 'omit',
  ...request,
  method: 'POST',
  // The browser keeps the request alive when the page unloads. Above the quota, it rejects the request, and it counts a request
  // until its answer has been read.
  keepalive: request.leaving || isKeptAlive(sizeOf(request.body)),
  redirect: 'error',
  signal,
});

const post = async (request: TransportRequest): Promise<Answer> => {
  const response = await fetch(addressOf(request), init(request, AbortSignal.timeout(REQUEST_TIMEOUT)));
  const { status, headers } = response;
  const text = await response.text();
  // A service worker, a proxy, a CDN or a captive portal may answer in place of the relay or the service.
  const isForeign = request.headers.Authorization
    ? /^text\/html/i.test(headers.get('Content-Type') ?? '')
    : !headers.get(RELAY_HEADER);
  if (status < 300 && isForeign)
    return { outcome: 'failed', status, message: `${status} of another server: no ${RELAY_HEADER}, or HTML` };
  const answer = parseJson<Partial<Rejections & Answer>>(text || '{}');
  return {
    outcome: outcomeOf(status),
    // A relay reports the status of the service's own answer. A service's body may have a field of that name.
    status: (headers.get(RELAY_HEADER) && answer?.status) || status,
    retryAfter: parseRetryAfter(headers.get('Retry-After')),
    rejected: answer?.rejected,
    handovers: headers.get(HANDOVERS_HEADER)?.split(/, */) as HandoverState[] | undefined,
    message: `${status} ${text}`,
  };
};

/**
 * Sends a request by `fetch`, with a time-out of 20 s. The browser keeps the request alive if the page unloads meanwhile. While the
 * page unloads, the transport uses a beacon, unless the request needs the header `Authorization`.
 */
export const fetchTransport: Transport = (request) =>
  request.leaving && !request.headers.Authorization
    ? navigator.sendBeacon(addressOf(request), request.body) && Promise.resolve({ outcome: 'delivered' })
    : post(request);

/** Compresses the text with gzip. Rejects if the browser has no CompressionStream. */
export const gzip = async (text: string): Promise<Uint8Array<ArrayBuffer>> =>
  // The stream of a response needs no reader of its own. The stream of a blob would pass through another process.
  new Uint8Array(await new Response(new Response(text).body?.pipeThrough(new CompressionStream('gzip'))).arrayBuffer());

/**
 * Leaves a request with the browser, which sends it when the page ends, also after a crash. Returns a function that takes it back.
 * Throws without `fetchLater` and without room: https://developer.mozilla.org/docs/Web/API/Window/fetchLater
 */
export const fetchAtEnd = (request: TransportRequest): (() => void) => {
  const taking = new AbortController();
  fetchLater(addressOf(request), init(request, taking.signal));
  return () => taking.abort();
};

declare const fetchLater: (url: string, init: RequestInit) => unknown;
