import { RELAY_HEADER, type Rejections, TOKEN_EXPIRED } from '../../src/wire.ts';
import { type NetworkAnswer, type NetworkRequest, parseBody } from './network.ts';

/** The outcome of a request, as clew has to judge the answer. */
export interface Outcome {
  readonly isFailed: boolean;
  /** The pause (ms) that the answer asks for. */
  readonly retryAfter: number;
  readonly status: number;
  /** The status of the service, which a relay reports. Without a relay, the same as `status`. */
  readonly serviceStatus: number;
  readonly handovers: readonly string[];
  /** Ids of events whose identity token has expired: they wait for a new one. */
  readonly expired: readonly string[];
  /** For how long (ms) clew may wait because of the answer, besides the back-off after a failure. */
  readonly pause: number;
}

/** Longest pause (ms) that clew keeps. */
const LONGEST_PAUSE = 3_600_000;

/** Whether the browser follows the answer to another address, or fails the request with `redirect: 'error'`. */
export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** Whether the key, the address or the content is wrong. Then clew retries the request only after a pause of up to an hour. */
const isRefusal = (status: number): boolean =>
  status >= 300 && !isRedirect(status) && !/408|425|429|5../.test(`${status}`);

/** Whether clew does not trust a success with these headers. Each answer of a relay has its header, and a service sends no HTML. */
const isForeign = ({ headers }: NetworkRequest, answered: NetworkAnswer['headers']): boolean =>
  headers.Authorization ? /^text\/html/i.test(answered['Content-Type'] ?? '') : !answered[RELAY_HEADER];

const expiredIn = (text = ''): readonly string[] => {
  const { rejected } = Object(parseBody(text)) as Partial<Rejections>;
  return Array.isArray(rejected)
    ? (rejected as Rejections['rejected']).flatMap(({ reason, uuid }) => (reason === TOKEN_EXPIRED ? uuid : []))
    : [];
};

/** The pause (ms) that `Retry-After` asks for at this time (ms since the epoch): https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 */
const pauseOf = (value = '', now: number): number => {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  return /GMT$/.test(value) ? Math.max(Date.parse(value) - now, 0) : 0;
};

const serviceStatusIn = (text = ''): number => Number(Object(parseBody(text)).status) || 0;

/**
 * @param answer undefined if there was none
 * @param now ms since the epoch, by the clock of the servers
 */
export const outcomeOf = (request: NetworkRequest, answer: NetworkAnswer | undefined, now: number): Outcome => {
  const { status = 0, headers = {}, isCut, text } = answer ?? {};
  // clew does not read the headers of an answer whose body breaks off.
  const retryAfter = isCut ? 0 : pauseOf(headers['Retry-After'], now);
  const isFailed = status === 0 || status >= 300 || !!isCut || isForeign(request, headers);
  return {
    isFailed,
    retryAfter,
    status,
    // The body of another server may have a field of that name.
    serviceStatus: (headers[RELAY_HEADER] && serviceStatusIn(text)) || status,
    handovers: isFailed ? [] : (headers['clew-handovers'] ?? '').split(','),
    expired: expiredIn(text),
    pause: !isCut && isRefusal(status) ? LONGEST_PAUSE : Math.min(retryAfter, LONGEST_PAUSE),
  };
};
