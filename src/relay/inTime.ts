/** Why a promise was not waited for any longer. */
export class Late extends Error {}

/**
 * Settles as `asked` does, or rejects with `Late` if that takes more than `ms`.
 *
 * @param what names the party that did not answer
 */
export const inTime = <T>(asked: Promise<T>, ms: number, what: string): Promise<T> =>
  new Promise((resolve, reject) => {
    // AbortSignal.timeout cannot be cleared: its timer would keep an answered request in memory.
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
