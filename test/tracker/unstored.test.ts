// @module-tag promise
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

const journaled = () =>
  Object.entries<string>(localStorage)
    .filter(([key]) => key.startsWith('clew.page'))
    .flatMap(([, text]) => JSON.parse(text).texts.map((one: string) => JSON.parse(one).event));

/** A database that answers after 100 ms, and stores nothing. */
const refusing = () => ({
  ...createMemoryStore(),
  transact: () => new Promise<undefined>((resolve) => setTimeout(resolve, 100)),
  read: async () => [],
  isOpen: () => false,
});

it.each([200, 250, 900])('without a database, %i calls that have waited for it stay in the journal', async (count) => {
  openPage();
  const page = start({ baseUrl: '/clew', store: refusing() });
  page.fail();
  for (let n = 0; n < count; n++) page.tracker.track(`e${n}`);
  await vi.advanceTimersByTimeAsync(90);
  expect(journaled()).toHaveLength(count);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(journaled()).toHaveLength(count);
});

it('a call behind others that have waited for the database is in the journal at once', async () => {
  openPage();
  const memory = createMemoryStore();
  const rest = () => new Promise((resolve) => setTimeout(resolve, 100));
  const transact: typeof memory.transact = async (...work) => {
    await rest();
    const answer = await memory.transact(...work);
    await rest();
    return answer;
  };
  const { tracker } = start({ baseUrl: '/clew', store: { ...memory, transact } });
  for (let n = 0; n < 250; n++) tracker.track(`e${n}`);
  // The database has answered, and its transaction is not done yet.
  await vi.advanceTimersByTimeAsync(150);
  tracker.track('late');
  await vi.advanceTimersByTimeAsync(1);
  expect(journaled()).toContain('late');
});
