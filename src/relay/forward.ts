import { withoutKey } from '../service/address.js';
import { inTime, Late } from '../service/inTime.js';
import { EVENT_PATH, joinUrl } from '../wire.js';
import type { ServicePath } from './job.js';
import { Refusal } from './request.js';
import { type Sent, sendAsHostDoes, sendByFetch } from './send.js';

/** A request that the relay has checked, without the fields that the service does not know (`seq`, `signature`). */
export interface ForwardRequest {
  /** The service's path, with a leading slash. */
  readonly path: ServicePath;
  /** The body, as JSON. */
  readonly body: string;
}

/** The answer to a forwarded request. Every `Response` is one. */
export interface ForwardAnswer {
  /** True for 2xx. */
  readonly ok: boolean;
  /** The HTTP status. */
  readonly status: number;
  /** The relay reads `Retry-After` and `Content-Type`. A 2xx with a page of `text/html` confirms nothing. */
  readonly headers: Pick<Headers, 'get'>;
  /** Resolves to the body. */
  text(): Promise<string>;
}

/** An answer to a forwarded request, read and checked: no later step can fail on what a `forward` returns. */
export interface Answer {
  readonly status: number;
  /** Seconds or a date. Undefined if there is neither. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export const isOk = ({ status }: Pick<Answer, 'status'>): boolean => status >= 200 && status < 300;

/** Whether an answer is HTML. A page of a captive portal, a CDN or a parked domain in place of the service is, and its 2xx is none. */
export const isHtml = ({ headers }: Pick<ForwardAnswer, 'headers'>): boolean =>
  /^text\/html/i.test(headers.get('Content-Type') ?? '');

/**
 * Takes a request in place of the service. Resolve to a 2xx only when the request can no longer be lost: a queue has
 * written it, or the service has taken it. With any other status, or a rejection, the page keeps its events.
 */
export type Forward = (request: ForwardRequest) => Promise<ForwardAnswer>;

/** The service's addresses and key, for `toService`. `createRelay` makes it of its options. */
export interface ServiceAddress {
  /** Full prefix of the service's addresses. */
  readonly baseUrl: string;
  /** Full prefix of the single-event endpoint. */
  readonly eventsUrl: string;
  /** The service's key, sent as `Authorization: Api-Key <key>`. */
  readonly apiKey: string;
  /** How long the service may take to answer, in ms. */
  readonly timeout: number;
  /**
   * Sends the requests.
   *
   * @default Node's own `http` and `https`, or the global `fetch` elsewhere
   */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Creates a `Forward` that sends to the service with the key, as a relay without `forward` does. This `Forward` removes the
 * key from answers. Wrap the `Forward` to add to it. Then `timeout` has to be shorter than the relay's, which ends all that your
 * function waits for. An answer whose body breaks off, or does not end within `timeout`, has the text that has arrived.
 *
 * @throws (rejects) when the service does not answer within `timeout`, or answers with a redirect
 */
export const toService = ({ baseUrl, eventsUrl, apiKey, timeout, fetch }: ServiceAddress): Forward => {
  const send = fetch ? sendByFetch(fetch) : sendAsHostDoes();
  const headers = { Authorization: `Api-Key ${apiKey}`, 'Content-Type': 'application/json' };
  return async ({ path, body }) => {
    const { answered, arrived, cancel } = send(joinUrl(path === EVENT_PATH ? eventsUrl : baseUrl, path), headers, body);
    /** The status is the answer. To forward the request again could store its events twice. A 2xx of HTML may be another server's page. */
    const withoutRest = (cause: unknown): Sent => {
      cancel();
      const sent = arrived();
      if (!sent || (isOk(sent) && isHtml(sent))) throw cause;
      return sent;
    };
    try {
      const sent = await inTime(answered, timeout, 'the service').catch(withoutRest);
      const { status, headers: came, text } = sent;
      if (status >= 300 && status < 400) throw Error('a redirect');
      const safe = withoutKey(text, apiKey);
      return { ok: isOk(sent), status, headers: came, text: async () => safe };
    } catch (cause) {
      cancel();
      const isLate = cause instanceof Late;
      const reason = isLate ? cause.message : 'the service did not answer';
      throw Object.assign(new Refusal(isLate ? 504 : 502, reason, 1), { cause });
    }
  };
};
