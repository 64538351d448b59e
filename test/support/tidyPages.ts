import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { cookies, cookiesWritten, stops, storages } from './pageState.ts';

/** Each test finds no page of an earlier one, and the next file of the same worker finds the globals and clocks of Node. */

// Node's own BroadcastChannel connects all test files that run at the same time: a test connects its tabs with `connectTabs`.
beforeEach(() => void vi.stubGlobal('BroadcastChannel', undefined));

afterEach(() => {
  // A tracker that stops offline hands nothing over, so no answer arrives after its page is gone.
  vi.stubGlobal('navigator', { onLine: false });
  for (const stop of stops.splice(0)) stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  storages.clear();
  cookies.clear();
  cookiesWritten.length = 0;
});

afterAll(() => void vi.useRealTimers());
