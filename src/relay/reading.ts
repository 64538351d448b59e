import type { Share } from './budget.js';
import { Refusal, type RelayRequest, readBody } from './request.js';

/**
 * Reads bodies, each for at most `timeout` ms, until it is closed.
 *
 * @param onError receives why this runtime cannot inflate a body
 */
export const createReading = (maxBodyBytes: number, timeout: number, onError: (error: unknown) => void) => {
  /** Ends the reading of each request whose body has not arrived in full. */
  const reading = new Set<(reason: Refusal) => void>();
  let closed: Refusal | undefined;
  return {
    /** The JSON object in the body. Rejects with a `Refusal`: that request was not served. */
    read: (request: RelayRequest, { take }: Share): Promise<Record<string, unknown>> =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        reading.add(reject);
        // Made only when it is needed: an error collects its stack.
        const giveUp = () => reject(new Refusal(408, `expected the whole body within ${timeout} ms`));
        const timer = setTimeout(giveUp, timeout);
        readBody(request, maxBodyBytes, take, onError)
          .then(resolve, reject)
          .finally(() => {
            clearTimeout(timer);
            reading.delete(reject);
          });
      }),
    close(reason: Refusal): void {
      closed = reason;
      for (const end of reading) end(reason);
    },
  };
};
