/** Why a promise was not waited for any longer. */
export class Late extends Error {
  override name = 'TimeoutError';
}

/**
 * Settles as `asked` does, or rejects with `Late` if that takes more than `ms`.
 *
 * @param what names the party that did not answer
 */
export const inTime = <T>(asked: Promise<T>, ms: number, what: string): Promise<T> =>
  new Promise((resolve, reject) => {
    // A timer of its own: a garbage collection of Node 20 and 22 ends `AbortSignal.timeout`, and a `fetch` may ignore its signal.
    const timer = setTimeout(() => reject(new Late(`${what} did not answer within ${ms} ms`)), ms);
    asked.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
