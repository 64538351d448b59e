import { EVENT_PATH, joinUrl } from '../wire.js';
import type { ServicePath } from './job.js';
import { Refusal } from './request.js';

/** What a relay forwards: checked, and without what the service does not know. */
export interface ForwardRequest {
  readonly path: ServicePath;
  /** JSON. */
  readonly body: string;
}

/** What is asked of an answer. Every `Response` is one. */
export type ForwardAnswer = Pick<Response, 'ok' | 'status' | 'headers' | 'text'>;

/**
 * Takes a request on. A response of 2xx means that it cannot be lost any more: a queue has written it down, or the service
 * has taken it. Any other status, and to reject, mean that whoever sent it has to keep it.
 */
export type Forward = (request: ForwardRequest) => Promise<ForwardAnswer>;

export interface ServiceAddress {
  readonly baseUrl: string;
  readonly eventsUrl: string;
  readonly apiKey: string;
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

/** Straight to the service, with the key. */
export const toService =
  ({ baseUrl, eventsUrl, apiKey, timeout, fetch }: ServiceAddress): Forward =>
  async ({ path, body }) => {
    const late = new AbortController();
    // Not AbortSignal.timeout: its timer would hold on to a request that has long been answered.
    const timer = setTimeout(() => late.abort(), timeout);
    try {
      const answer = await fetch(joinUrl(path === EVENT_PATH ? eventsUrl : baseUrl, path), {
        method: 'POST',
        headers: { Authorization: `Api-Key ${apiKey}`, 'Content-Type': 'application/json' },
        body,
        // Followed by none of us: a POST would become a GET. Not every runtime knows `error`.
        redirect: 'manual',
        signal: late.signal,
      });
      if (answer.type === 'opaqueredirect' || (answer.status >= 300 && answer.status < 400)) throw Error('a redirect');
      const { ok, status, headers } = answer;
      // Read to its end: what comes later must not fail any more.
      const text = await answer.text();
      return { ok, status, headers, text: async () => text };
    } catch {
      const isLate = late.signal.aborted;
      throw new Refusal(isLate ? 504 : 502, `the service did not answer${isLate ? ` within ${timeout} ms` : ''}`, 1);
    } finally {
      clearTimeout(timer);
    }
  };
