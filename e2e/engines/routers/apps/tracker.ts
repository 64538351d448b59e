import { createTracker } from 'clew';

export const tracker = createTracker({ baseUrl: '/clew', flushInterval: 200 });

/** Sets `window.clew` for the test, as the script tag does. */
export const expose = (): void => {
  const call = (method: string, ...args: unknown[]) =>
    (tracker as unknown as Record<string, (...args: unknown[]) => unknown>)[method]?.(...args);
  Object.assign(window, { clew: call });
};
