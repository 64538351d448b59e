import { type Answer, outcomeOf, parseRetryAfter, type TransportRequest } from '../courier/transport.js';
import type { Relay } from '../relay.js';
import { HANDOVERS_HEADER, type HandoverState, parseJson, type Rejections } from '../wire.js';

/** The origin of the page, unless the relay expects another one. */
export const ORIGIN = 'https://site.example';

const bytesOf = (body: TransportRequest['body']): Uint8Array =>
  typeof body === 'string' ? new TextEncoder().encode(body) : body;

const chunksOf = async function* (bytes: Uint8Array) {
  yield bytes;
};

/** Sends a request of a page of `origin` to a relay in this process, and reads its answer as the tracker reads one of `fetch`. */
export const sendToRelay = async (relay: Relay, request: TransportRequest, origin: string): Promise<Answer> => {
  const { url, body, headers, leaving } = request;
  const all = new Headers({
    ...headers,
    ...(leaving && { 'content-type': 'text/plain;charset=UTF-8' }),
    origin,
  });
  const address = new URL(url, origin).href;
  const response = await relay({ method: 'POST', url: address, headers: all, body: chunksOf(bytesOf(body)) });
  const text = await response.text();
  const answer = parseJson<Partial<Rejections & Answer>>(text || '{}');
  return {
    outcome: outcomeOf(response.status),
    status: answer?.status || response.status,
    retryAfter: parseRetryAfter(response.headers.get('Retry-After')),
    rejected: answer?.rejected,
    handovers: response.headers.get(HANDOVERS_HEADER)?.split(/, */) as HandoverState[] | undefined,
    message: `${response.status} ${text}`,
  };
};
