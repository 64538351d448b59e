import { withoutKey } from '../service/address.js';
import { parseJson, RELAY_HEADER } from '../wire.js';
import type { ForwardAnswer } from './forward.js';
import type { Job } from './job.js';
import { Refusal } from './request.js';

/** An answer to a forwarded request that is no success. */
export class ForwardError extends Error {
  override name = 'ForwardError';
  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The answer's text, at most 1,000 characters. It may repeat what a page has sent, but not the key. */
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

/**
 * The relay's answer to the page, made of the service's answer.
 *
 * @param onError receives a `ForwardError` if the answer is no success
 * @throws Refusal for 5xx. Its text stays here, because it may name internal addresses
 */
export const answerOf = async (
  answer: ForwardAnswer,
  rejected: Job['rejected'],
  apiKey: string,
  onError: (error: ForwardError) => void,
): Promise<Response> => {
  const { ok, status } = answer;
  const text = withoutKey(await answer.text(), apiKey);
  const retryAfter = answer.headers.get('Retry-After');
  if (!ok) onError(new ForwardError(status, text.slice(0, MAX_DETAIL)));
  if (status >= 500)
    throw new Refusal(status === 503 ? 503 : 502, `the service answered ${status}`, retryAfter ?? 1, status);
  const response =
    ok && rejected.length
      ? json(status === 204 ? 200 : status, { rejected })
      : new Response(asJson(text) || null, { status });
  if (text) response.headers.set('Content-Type', 'application/json');
  if (retryAfter) response.headers.set('Retry-After', retryAfter);
  return response;
};

export const refusalOf = (error: unknown): Response => {
  // Any other exception comes from a body that broke off, or from JSON nested too deeply for `JSON.stringify`.
  const refusal = error instanceof Refusal ? error : new Refusal(400, `unreadable body: ${error}`);
  const { status, message, retryAfter, serviceStatus } = refusal;
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
    'Access-Control-Expose-Headers': `Retry-After, ${RELAY_HEADER}`,
    // As long as Chromium lets it hold: https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Access-Control-Max-Age
    'Access-Control-Max-Age': '7200',
    Vary: 'Origin',
  };
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
};
