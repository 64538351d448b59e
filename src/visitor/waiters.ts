/** Those who wait for the visitor id. */
export const createWaiters = () => {
  const waiters: (readonly [resolve: (visitorId: string) => void, reject: (cause: Error) => void])[] = [];
  return {
    wait: () => new Promise<string>((...waiter) => waiters.push(waiter)),
    give(visitorId: string) {
      for (const [resolve] of waiters.splice(0)) resolve(visitorId);
    },
    /** There will be no visitor id. */
    end(cause: string) {
      for (const [, reject] of waiters.splice(0)) reject(new Error(`clew: correlationValue: ${cause}`));
    },
  };
};
