// @module-tag promise
import { expect, it, vi } from 'vitest';
import { createMemoryStore, openPage, slowed, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

it('properties reach their customer although a page that leaves identifies another one while the database is asked', async () => {
  const store = createMemoryStore();
  const options = { baseUrl: '/clew', store };
  openPage();
  const first = start({ ...options, store: slowed(store, 5) });
  const { transport } = first;
  openPage();
  const other = start({ ...options, transport });
  const page = openPage();
  const leaving = start({ ...options, transport, store: slowed(store, 50) });
  await later();
  other.tracker.identify('bob');
  await later();
  // Without BroadcastChannel, the page learns of bob by the hint, and asks the database for the primary key.
  first.tracker.setProperties({ plan: 'pro' });
  await later(1);
  leaving.tracker.identify('ann');
  page.leave();
  await later();
  first.tracker.flush();
  await later(5000);
  expect(first.upserts()).toEqual([{ primary_key: 'bob', properties: { plan: 'pro' } }]);
});
