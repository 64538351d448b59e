import type { Forward, ForwardAnswer, ForwardRequest } from './forward.js';
import { Refusal } from './request.js';
import { forwardBeacon } from './retry.js';

/** What the forwarding of requests needs. */
export interface ForwardingOptions {
  readonly forward: Forward;
  /** Bytes of a forwarded body. */
  readonly maxBodyBytes: number;
  /** Requests that are forwarded at a time. */
  readonly maxForwards: number;
  isClosing(): boolean;
  /** Notes each answer, or that there was none, and how long it took, in ms. */
  onAnswer(status: number | undefined, ms: number): void;
  onError(error: unknown): void;
}

const utf8 = new TextEncoder();

/** Forwards requests to the service, or to the option `forward`. */
export const createForwarding = (options: ForwardingOptions) => {
  const { maxBodyBytes, maxForwards, isClosing, onAnswer, onError } = options;
  let inFlight = 0;

  const forward: Forward = async (request) => {
    const start = Date.now();
    let status: number | undefined;
    try {
      const answer = await options.forward(request);
      status = answer.status;
      return answer;
    } finally {
      onAnswer(status, Date.now() - start);
    }
  };

  return {
    /** Requests that are being forwarded. */
    inFlight: () => inFlight,
    /** The answer of the service. Rejects with a `Refusal` if there is none, or the request does not go. */
    async send(request: ForwardRequest, isFromBeacon: boolean): Promise<ForwardAnswer> {
      const { body } = request;
      // `JSON.parse` and `JSON.stringify` make 22 characters of 1e21, and the service has the same limit as the relay.
      if (3 * body.length > maxBodyBytes && utf8.encode(body).length > maxBodyBytes)
        throw new Refusal(413, `expected events of at most ${maxBodyBytes} bytes as the relay writes them`);
      if (inFlight >= maxForwards) throw new Refusal(503, 'the relay is busy', 1);
      inFlight++;
      try {
        return await (isFromBeacon ? forwardBeacon(forward, request, isClosing) : forward(request));
      } catch (error) {
        onError(error instanceof Refusal ? error.cause : error);
        throw error instanceof Refusal ? error : new Refusal(502, 'the relay could not forward the request', 1);
      } finally {
        inFlight--;
      }
    },
  };
};
