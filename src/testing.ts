import { v4 as uuid } from 'uuid';
import type { Store } from './pipeline/store.js';
import { createMemoryStore } from './testing/memoryStore.js';
import { createTestTransport, type TestTransport } from './testing/testTransport.js';
import { checkOptions, normaliseOptions, type TrackerOptions } from './tracker/options.js';
import { stepsOf } from './tracker/prepare.js';
import { startTracker } from './tracker/tracker.js';
import type { AnyEvents, EventMap, Tracker } from './tracker/types.js';

export { createMemoryStore, createTestTransport, type TestTransport };

/** A real tracker with a service and a store in memory. */
export interface TestTracker<Events extends EventMap = AnyEvents> extends TestTransport {
  readonly tracker: Tracker<Events>;
  readonly store: Store;
}

/**
 * A tracker for an app's own tests: the real one, but what it sends and stores stays in memory. It works in a browser, in jsdom
 * and happy-dom, and in plain Node, where there is no page: nothing leaves or comes back, and `page()` knows what is passed to
 * it. `stop()` it when the test ends: until then its timers, and its line to other tabs, keep a process alive.
 *
 * @param options any of `createTracker`'s; without `baseUrl` no other tracker hears of this one, whatever tab it is in
 * @throws TypeError for an option that cannot be meant, naming what was expected
 * @example
 * const { tracker, events } = createTestTracker<Events>();
 * tracker.track('signup', { plan: 'pro' });
 * await tracker.flush();
 * expect(events()).toMatchObject([{ event: 'signup', payload: { plan: 'pro' } }]);
 */
export const createTestTracker = <Events extends EventMap = AnyEvents>(
  options: Partial<TrackerOptions> = {},
): TestTracker<Events> => {
  const service = createTestTransport();
  const { transport = service.transport, store = createMemoryStore() } = options;
  const all = { baseUrl: `/${uuid()}`, compress: false, ...options, transport, store };
  checkOptions(all);
  const settings = normaliseOptions(all);
  return { ...service, store, tracker: startTracker(settings, stepsOf(settings)) };
};
