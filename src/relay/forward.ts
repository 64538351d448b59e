import { EVENT_PATH, joinUrl } from '../wire.js';
import type { ServicePath } from './job.js';
import { Refusal } from './request.js';
import { sendAsHostDoes, sendByFetch } from './send.js';

/** What a relay forwards: checked, and without what the service does not know. */
export interface ForwardRequest {
  readonly path: ServicePath;
  /** JSON. */
  readonly body: string;
}

/** What is asked of an answer. Every `Response` is one. */
export interface ForwardAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** The body, read to its end. */
  text(): Promise<string>;
}

/**
 * Takes a request on. A response of 2xx means that it cannot be lost any more: a queue has written it down, or the service
 * has taken it. Any other status, and to reject, mean that whoever sent it has to keep it.
 */
export type Forward = (request: ForwardRequest) => Promise<ForwardAnswer>;

/** Where the service is, and what it asks for: what `createRelay` makes of its options. */
export interface ServiceAddress {
  readonly baseUrl: string;
  readonly eventsUrl: string;
  readonly apiKey: string;
  /** How long it may take to answer, in ms. */
  readonly timeout: number;
  /** Sends the requests; without it, as `createRelay` does. */
  readonly fetch?: typeof fetch | undefined;
}

/** Straight to the service, with the key. */
export const toService = ({ baseUrl, eventsUrl, apiKey, timeout, fetch }: ServiceAddress): Forward => {
  const send = fetch ? sendByFetch(fetch) : sendAsHostDoes();
  const headers = { Authorization: `Api-Key ${apiKey}`, 'Content-Type': 'application/json' };
  return async ({ path, body }) => {
    let isLate = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const { answered, cancel } = send(joinUrl(path === EVENT_PATH ? eventsUrl : baseUrl, path), headers, body);
      // Not AbortSignal.timeout: its timer would hold on to a request that has long been answered.
      timer = setTimeout(() => {
        isLate = true;
        cancel();
      }, timeout);
      const { status, headers: came, text } = await answered;
      if (status >= 300 && status < 400) throw Error('a redirect');
      return { ok: status >= 200 && status < 300, status, headers: came, text: async () => text };
    } catch (cause) {
      const reason = isLate ? `the service did not answer within ${timeout} ms` : 'the service did not answer';
      throw Object.assign(new Refusal(isLate ? 504 : 502, reason, 1), { cause });
    } finally {
      clearTimeout(timer);
    }
  };
};
