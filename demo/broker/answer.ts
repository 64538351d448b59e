import { parseRetryAfter } from '../../src/courier/transport.ts';
import type { Forward, ForwardRequest } from '../../src/relay.ts';

/** The outcome of a request, as in the tracker: `refused` is about the key or the address, `rejected` about the content. */
export type Outcome = 'delivered' | 'rejected' | 'refused' | 'failed';

/** As in the relay: a 2xx with a page of HTML comes from another server than the service. */
export const outcomeOf = (status: number, contentType: string | null = null, text = ''): Outcome => {
  if (status < 300) return /^text\/html/i.test(contentType ?? '') && text.trim() ? 'failed' : 'delivered';
  if ([400, 413, 415, 422].includes(status)) return 'rejected';
  return [408, 425, 429].includes(status) || status >= 500 ? 'failed' : 'refused';
};

/** How long a worker waits, all in ms. */
export interface Waits {
  /** After the first failure, before the jitter. Each further failure doubles it. @default 1000 */
  readonly first: number;
  /** The longest wait after a failure. @default 300000 (5 min) */
  readonly most: number;
  /** After the first refusal of the key or the address. Each further refusal doubles it. @default 300000 (5 min) */
  readonly refused: number;
  /** The longest wait, even if `Retry-After` asks for more. @default 3600000 (1 h) */
  readonly limit: number;
}

export const WAITS: Waits = { first: 1000, most: 300_000, refused: 300_000, limit: 3_600_000 };

/** A failure, from which the next wait follows. */
export interface Failure {
  /** How many failures in a row came before. */
  readonly before: number;
  readonly isRefused: boolean;
  /** The wait (ms) that the service asked for. */
  readonly retryAfter: number;
}

/** Full jitter: workers that fail at the same time do not retry at the same time. */
export const waitAfter = ({ before, isRefused, retryAfter }: Failure, waits: Waits, random = Math.random): number => {
  const doubled = 2 ** before;
  const wait = isRefused ? waits.refused * doubled : Math.min(waits.first * doubled, waits.most) * random();
  return Math.min(Math.max(wait, retryAfter), waits.limit);
};

/** The service's answer to a request. */
export interface Answer {
  readonly outcome: Outcome;
  readonly status?: number;
  readonly retryAfter: number;
  readonly message: string;
}

/** Sends a request. If `forward` rejects, the request has failed, and is sent again. */
export const ask = async (forward: Forward, request: ForwardRequest): Promise<Answer> => {
  try {
    const answer = await forward(request);
    const { status } = answer;
    const retryAfter = parseRetryAfter(answer.headers.get('Retry-After'));
    const text = await answer.text();
    const outcome = outcomeOf(status, answer.headers.get('Content-Type'), text);
    return { outcome, status, retryAfter, message: `${status} ${text}`.trim() };
  } catch (error) {
    return { outcome: 'failed', retryAfter: 0, message: `${error}` };
  }
};
