import { BOOKS_HEADER, HANDOVERS_HEADER, type HandoverState, parseJson, RELAY_HEADER } from '../wire.js';
import { type Answer, isOk } from './forward.js';
import type { Job } from './job.js';
import type { Counts } from './load.js';
import { Refusal } from './request.js';

/** An answer to a forwarded request that is no success. */
export class ForwardError extends Error {
  override name = 'ForwardError';
  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The answer's text, at most 1,000 characters. The text may repeat what a page has sent. `toService` removes the key. */
    readonly detail: string,
  ) {
    super(`the service answered ${status}`);
  }
}

/** Characters of the service's text in a `ForwardError`. */
const MAX_DETAIL = 1000;

const json = (status: number, body: unknown) => Response.json(body, { status });

/** Whatever the service answers appears under the site's origin, where it must be no page. */
const asJson = (text: string): string =>
  !text || parseJson(text) !== undefined ? text : JSON.stringify({ message: text });

/** The answer to a request with nothing to forward. */
export const answerOfNothing = (rejected: Job['rejected']): Response => json(200, { rejected });

/** Statuses of answers without a body. */
const BODILESS = [204, 205, 304];

/**
 * The relay's answer to the page, made of the service's answer.
 *
 * @param onError receives a `ForwardError` if the answer is no success
 * @throws Refusal for 5xx. The text of the service's answer stays here, because it may name internal addresses
 */
export const answerOf = (
  answer: Answer,
  rejected: Job['rejected'],
  onError: (error: ForwardError) => void,
): Response => {
  const { status, retryAfter, text } = answer;
  if (!isOk(answer)) onError(new ForwardError(status, text.slice(0, MAX_DETAIL)));
  if (status >= 500)
    throw new Refusal(status === 503 ? 503 : 502, `the service answered ${status}`, retryAfter ?? 1, status);
  const isBodiless = BODILESS.includes(status);
  const response =
    isOk(answer) && rejected.length
      ? json(isBodiless ? 200 : status, { rejected })
      : new Response((!isBodiless && asJson(text)) || null, { status });
  if (text) response.headers.set('Content-Type', 'application/json');
  if (retryAfter) response.headers.set('Retry-After', retryAfter);
  return response;
};

/** Adds the answer to the request's `handovers`. */
export const withStates = (response: Response, states: readonly HandoverState[] | undefined): Response => {
  if (states) response.headers.set(HANDOVERS_HEADER, `${states}`);
  return response;
};

/** Adds the answer to the request's `books`: how many events of each have no end yet. An unreadable book has none. */
export const withCounts = (response: Response, counts: readonly (Counts | undefined)[]): Response => {
  const open = counts.map((one) => (one ? (one.missing ?? 0) + (one.unknown ?? 0) : ''));
  if (open[0] !== undefined) response.headers.set(BOOKS_HEADER, open.join(', '));
  return response;
};

export const refusalOf = ({ status, message, retryAfter, serviceStatus }: Refusal): Response => {
  const response = json(status, { error: message, status: serviceStatus });
  if (retryAfter !== undefined) response.headers.set('Retry-After', `${retryAfter}`);
  return response;
};

/** Lets pages of `origin` read the answer. */
export const allow = (origin: string, response: Response): Response => {
  const headers = {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'content-type, content-encoding',
    'Access-Control-Expose-Headers': `Retry-After, ${RELAY_HEADER}, ${HANDOVERS_HEADER}`,
    // As long as Chromium lets it hold: https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Access-Control-Max-Age
    'Access-Control-Max-Age': '7200',
    Vary: 'Origin',
  };
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
};
