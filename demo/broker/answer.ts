import { parseRetryAfter } from '../../src/courier/transport.ts';
import type { Forward, ForwardRequest } from '../../src/relay.ts';

/** What came of a request to the service, as in the tracker: `refused` is about key or address, `rejected` about the content. */
export type Outcome = 'delivered' | 'rejected' | 'refused' | 'failed';

/** As in the tracker's `src/courier/transport.ts`: a 2xx that is HTML comes from another server than the service. */
export const outcomeOf = (status: number, contentType: string | null = null): Outcome => {
  if (status < 300) return /^text\/html/i.test(contentType ?? '') ? 'failed' : 'delivered';
  if ([400, 413, 415, 422].includes(status)) return 'rejected';
  return [408, 425, 429].includes(status) || status >= 500 ? 'failed' : 'refused';
};

/** How long a worker waits, all in ms. */
export interface Waits {
  /** After the first failure, before the jitter; doubled by each further one. @default 1000 */
  readonly first: number;
  /** At most after a failure. @default 300000 (5 min) */
  readonly most: number;
  /** After the first refusal of key or address; doubled by each further one. @default 300000 (5 min) */
  readonly refused: number;
  /** Never longer, whatever `Retry-After` says. @default 3600000 (1 h) */
  readonly limit: number;
}

export const WAITS: Waits = { first: 1000, most: 300_000, refused: 300_000, limit: 3_600_000 };

/** What the next wait depends on. */
export interface Failure {
  /** So many failures in a row came before. */
  readonly before: number;
  readonly isRefused: boolean;
  /** Ms the service asked for. */
  readonly retryAfter: number;
}

/** Full jitter keeps workers that have failed together from coming back together. */
export const waitAfter = ({ before, isRefused, retryAfter }: Failure, waits: Waits, random = Math.random): number => {
  const doubled = 2 ** before;
  const wait = isRefused ? waits.refused * doubled : Math.min(waits.first * doubled, waits.most) * random();
  return Math.min(Math.max(wait, retryAfter), waits.limit);
};

/** What the service said to a request. */
export interface Answer {
  readonly outcome: Outcome;
  readonly status?: number;
  readonly retryAfter: number;
  readonly message: string;
}

/** To reject is to have failed: the same goes out again. */
export const ask = async (forward: Forward, request: ForwardRequest): Promise<Answer> => {
  try {
    const answer = await forward(request);
    const { status } = answer;
    const retryAfter = parseRetryAfter(answer.headers.get('Retry-After'));
    const outcome = outcomeOf(status, answer.headers.get('Content-Type'));
    return { outcome, status, retryAfter, message: `${status} ${await answer.text()}`.trim() };
  } catch (error) {
    return { outcome: 'failed', retryAfter: 0, message: `${error}` };
  }
};
