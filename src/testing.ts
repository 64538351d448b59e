import { v4 as uuid } from 'uuid';
import { checkOptions, normaliseOptions, type TrackerOptions } from './api/options.js';
import type { AnyEvents, EventMap, Tracker } from './api/types.js';
import { eraseTab } from './outbox/local.js';
import type { Store } from './outbox/store.js';
import { stepsOf } from './recorder/prepare.js';
import type { RehearsedFault } from './testing/faults.js';
import type { JourneyStart, RehearsedJourney } from './testing/ledger.js';
import { createMemoryStore } from './testing/memoryStore.js';
import { type Rehearsal, type RehearsalOptions, type RehearsedRun, rehearse } from './testing/rehearse.js';
import { createTestTransport, type TestTransport } from './testing/testTransport.js';
import { startTracker } from './tracker.js';

export {
  createMemoryStore,
  createTestTransport,
  type JourneyStart,
  type Rehearsal,
  type RehearsalOptions,
  type RehearsedFault,
  type RehearsedJourney,
  type RehearsedRun,
  rehearse,
  type TestTransport,
};

/** The real tracker, with a service and a store in memory. */
export interface TestTracker<Events extends EventMap = AnyEvents> extends TestTransport {
  /** The tracker for the app under test. */
  readonly tracker: Tracker<Events>;
  /** The store in memory, which takes the place of localStorage, too. Pass it to a second tracker to simulate the next page. */
  readonly store: Store;
}

/**
 * Creates the real tracker for an app's own tests. Requests and stored data stay in memory. The tracker works in browsers, in
 * jsdom and happy-dom, and in plain Node. In plain Node there is no page, so `page()` tracks only the properties that you pass.
 * Call `stop()` at the end of a test. Until then, the tracker's timers and its channel to other tabs keep a process alive.
 *
 * @param options all options of `createTracker`, none required. Without `baseUrl`, other trackers do not affect this one.
 * @throws TypeError for an invalid option, with the expected and the given value
 * @example
 * const { tracker, events } = createTestTracker<Events>();
 * tracker.track('signup', { plan: 'pro' });
 * await tracker.flush();
 * expect(events()).toMatchObject([{ event: 'signup', payload: { plan: 'pro' } }]);
 */
export const createTestTracker = <Events extends EventMap = AnyEvents>(
  options: { [Name in keyof TrackerOptions]?: TrackerOptions[Name] | undefined } = {},
): TestTracker<Events> => {
  const service = createTestTransport();
  const { baseUrl = `/${uuid()}`, compress = false } = options;
  const { transport = service.transport, store = createMemoryStore() } = options;
  // A new visitor comes in a new tab. The campaign and the link are in sessionStorage also if the store is in memory.
  if (!options.store) eraseTab();
  const all = { ...options, baseUrl, compress, transport, store };
  checkOptions(all);
  const settings = normaliseOptions(all);
  return { ...service, store, tracker: startTracker(settings, stepsOf(settings)) };
};
