import { expect, it, vi } from 'vitest';
import { createTestTransport } from '../../src/testing.ts';
import { createMemoryStore, openPage, start } from './page.ts';

const NOW = 1_770_000_000_000;
vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

it.each([
  ['with a database', createMemoryStore()],
  ['without a database', { ...createMemoryStore(), transact: async () => undefined, read: async () => [] }],
])('%s, events that trickle in cause one request per flushInterval', async (_, store) => {
  openPage();
  const service = createTestTransport();
  const sent: number[] = [];
  const { tracker } = start({
    baseUrl: '/clew',
    store,
    flushInterval: 3000,
    transport(...request) {
      sent.push(Date.now() - NOW);
      return new Promise((resolve) =>
        setTimeout(() => resolve(service.transport(...request) || { outcome: 'failed' }), 150),
      );
    },
  });
  for (let n = 0; n < 200; n++) {
    tracker.track('trickle', { n });
    await vi.advanceTimersByTimeAsync(100);
  }
  // The first ones prove the link.
  expect(sent.filter((at) => at > 1000).length).toBeLessThan(8);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(tracker.stats()).toMatchObject({ tracked: 200, delivered: 200, queued: 0 });
});
