import { inTime, Late } from '../service/inTime.js';
import { type Answer, type Forward, type ForwardAnswer, type ForwardRequest, isHtml, isOk } from './forward.js';
import { Refusal } from './request.js';
import { forwardBeacon } from './retry.js';

/** Options for the forwarding of requests. */
export interface ForwardingOptions {
  readonly forward: Forward;
  /** How long each answer may take, in ms. */
  readonly timeout: number;
  /** Requests that are forwarded at a time. */
  readonly maxForwards: number;
  isClosing(): boolean;
  /** Notes each answer, or that there was none, and how long it took, in ms. */
  onAnswer(status: number | undefined, ms: number): void;
  onError(error: unknown): void;
}

/** Seconds, or a date as HTTP writes it. Anything else may be an echo of the request, with the key. */
const RETRY_AFTER = /^(\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;

/** Forwards requests to the service, or to the option `forward`. */
export const createForwarding = (options: ForwardingOptions) => {
  const { timeout, maxForwards, isClosing, onAnswer, onError } = options;
  let inFlight = 0;

  const ask = async (request: ForwardRequest): Promise<Answer> => {
    const answer = await options.forward(request);
    const { status } = Object(answer) as ForwardAnswer;
    if (!Number.isInteger(status) || status < 200)
      throw new TypeError(`forward: expected a status of at least 200, got ${status}`);
    const text = `${await answer.text()}`;
    // Django, Flask and PHP send an empty body as HTML, too.
    if (isOk(answer) && isHtml(answer) && text.trim())
      throw new TypeError(`forward: expected an answer of the service, got ${status} with HTML`);
    const retryAfter = answer.headers.get('Retry-After') ?? '';
    return {
      status,
      retryAfter: RETRY_AFTER.test(retryAfter) ? retryAfter : undefined,
      text,
    };
  };

  /** Forwards once. */
  const forward = async (request: ForwardRequest): Promise<Answer> => {
    const start = performance.now();
    let status: number | undefined;
    try {
      const answer = await inTime(ask(request), timeout, 'the service');
      status = answer.status;
      return answer;
    } finally {
      onAnswer(status, Math.round(performance.now() - start));
    }
  };

  const refusalOf = (error: unknown): Refusal => {
    if (error instanceof Refusal) return error;
    if (error instanceof Late) return new Refusal(504, error.message, 1);
    return new Refusal(502, 'the relay could not forward the request', 1);
  };

  return {
    /** Requests that are being forwarded. */
    inFlight: () => inFlight,
    /**
     * The answer of the service. Rejects with a `Refusal` if there is none, or the request does not go.
     *
     * @param isOver ends the retries of a beacon
     */
    async send(
      request: ForwardRequest,
      isFromBeacon: boolean,
      isOver: () => boolean | Promise<boolean> = () => false,
    ): Promise<Answer> {
      if (inFlight >= maxForwards) throw new Refusal(503, 'the relay is busy', 1);
      inFlight++;
      try {
        return await (isFromBeacon ? forwardBeacon(forward, request, () => isClosing() || isOver()) : forward(request));
      } catch (error) {
        onError(error instanceof Refusal ? error.cause : error);
        throw refusalOf(error);
      } finally {
        inFlight--;
      }
    },
  };
};
