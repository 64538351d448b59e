/**
 * Settles as `asked` does, or rejects if that takes more than `ms`.
 *
 * @param what names the store that did not answer
 */
export const inTime = <T>(asked: Promise<T>, ms: number, what: string): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not answer within ${ms} ms`)), ms);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });
