import { afterAll, vi } from 'vitest';

/** The next file of the same worker finds globals, functions and clocks as Node has them. */
afterAll(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
