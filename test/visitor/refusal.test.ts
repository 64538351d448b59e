// @module-tag promise
import { expect, it, vi } from 'vitest';
import type { Store, TrackerOptions } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = () => vi.advanceTimersByTimeAsync(1000);

/** The same store, whose transactions with the visitor's record wait while `hold` has been called, until `release`. */
const holdable = (store: Store) => {
  let held: Promise<void> | undefined;
  let release = () => {};
  const transact: Store['transact'] = async (...what) => {
    await held;
    return store.transact(...what);
  };
  return {
    store: { ...store, transact },
    hold: () => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
  };
};

const open = (store: Store, options: Partial<TrackerOptions> = {}) => {
  openPage();
  return start({ baseUrl: '/clew', store, ...options });
};

it.each([
  ['that is asking the database', true],
  ['without a channel to other tabs', false],
])('a tab %s does not write the visitor again after a refusal in another tab', async (_what, isConnected) => {
  if (isConnected) connectTabs();
  const shared = createMemoryStore();
  const { store, hold, release } = holdable(shared);
  const asking = open(store);
  await asking.tracker.flush();
  const other = open(shared);
  await other.tracker.flush();
  hold();
  // The other tab’s hint has only the mark of the key, so this tab asks for the key.
  other.tracker.identify('ann');
  asking.tracker.setProperties({ plan: 'pro' });
  await vi.advanceTimersByTimeAsync(0);
  other.tracker.consent(false);
  release();
  await later();
  asking.tracker.track('after');
  await later();
  const found: unknown[] = [];
  await shared.transact([], 'visitor', (stored) => void found.push(stored));
  expect(found).toEqual([undefined]);
  expect(Object.keys(localStorage)).toEqual([]);
  expect(asking.names()).not.toContain('after');
  await expect(asking.tracker.correlationValue()).rejects.toThrow('refused');
});
