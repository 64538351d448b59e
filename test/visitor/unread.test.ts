// @module-tag promise
import { expect, it, vi } from 'vitest';
import { createMemoryStore, openPage, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

it('a tracker reads nothing of the visitor before consent', async () => {
  openPage();
  const reads: PropertyKey[] = [];
  const watched = new Proxy(
    { ...localStorage },
    {
      get: (target, key) => {
        reads.push(key);
        return Reflect.get(target, key);
      },
    },
  );
  const store = { ...createMemoryStore(), local: watched };
  const { tracker } = start({ baseUrl: '/clew', consent: 'required', store });
  tracker.track('early');
  tracker.identify('ann');
  tracker.reset();
  await vi.advanceTimersByTimeAsync(1000);
  expect(reads).toEqual([]);
  tracker.consent(true);
  await vi.advanceTimersByTimeAsync(1000);
  expect(reads).toContain('clew.hint');
});
