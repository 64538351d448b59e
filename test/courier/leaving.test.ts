// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Link } from '../../src/courier/lease.ts';
import { createReceipts } from '../../src/outbox/receipts.ts';
import { BATCH_PATH } from '../../src/wire.ts';
import { createMemoryStore } from '../outbox/memoryStore.ts';
import { eventText, idOf, upsertText } from '../recorder/items.ts';
import { createTab, LINK, localOf, pendingAnswer, SERVICE } from './tab.ts';

// This runs before the imports, because delivery takes its clock as it loads.
vi.hoisted(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_770_000_000_000 }));

/** Lets everything run that waits for no time and no answer. */
const settle = () => vi.advanceTimersByTimeAsync(0);
/** After this time (ms) the browser has been given what it sends if the page ends. */
const ARMED = 100;
/** A tab keeps the lease for less time (ms). */
const LEASE = 25_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_770_000_000_000 });
  vi.stubGlobal('navigator', { onLine: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A tab whose link is proven, and which knows that no other page has stored anything. */
const open = async (options: Parameters<typeof createTab>[0] = {}) => {
  const { store = createMemoryStore() } = options;
  const link: Link = { by: '', until: 0, fails: 0, okAt: Date.now() };
  await store.transact([[LINK, link]]);
  const tab = createTab({ ...options, store });
  await tab.courier.flush();
  const receipts = createReceipts(SERVICE, localOf(store));
  return { tab, store, receipts };
};

it('a page that leaves after its lease has expired leaves the lease of another tab as it is', async () => {
  const { answer, give } = pendingAnswer();
  const { tab, store } = await open({ respond: () => answer, onDelivered: () => tab.leave() });
  tab.track(eventText());
  tab.courier.flush();
  await settle();
  expect(tab.sent).toHaveLength(1);
  vi.setSystemTime(Date.now() + LEASE);
  const theirs: Link = { by: 'other', until: Date.now() + 20_000, fails: 0, okAt: 0 };
  await store.transact([[LINK, theirs]]);
  give({ outcome: 'delivered' });
  await settle();
  expect(tab.delivered).toHaveLength(1);
  expect(store.record(LINK)).toEqual(theirs);
});

it('after a refusal and a new consent, no pass waits for a request from before', async () => {
  const { tab } = await open({ respond: () => pendingAnswer().answer });
  tab.track(eventText('before'));
  tab.courier.flush();
  await settle();
  tab.queue.clear();
  tab.courier.forget();
  const ids = tab.track(eventText('after'));
  tab.courier.flush(true);
  await settle();
  expect(tab.sent.at(-1)?.items.map(idOf)).toEqual(ids);
});

it('a page that leaves hands over no properties while those of another page are in flight', async () => {
  const { tab, receipts } = await open();
  // The pass reads that nothing of other pages is stored.
  tab.track(eventText());
  await tab.courier.flush();
  receipts.write({ id: receipts.makeId(), ids: ['theirs'], isUpsert: true });
  tab.track(upsertText());
  tab.leave();
  expect(tab.sent.map(({ path }) => path)).toEqual([BATCH_PATH]);
});

it('the browser is given no event that a page has handed over', async () => {
  const { tab, receipts } = await open();
  const handed = eventText('handed');
  receipts.write({ id: receipts.makeId(), ids: [idOf(handed)] });
  const [, id] = tab.track(handed, eventText());
  await vi.advanceTimersByTimeAsync(ARMED);
  expect(tab.deferred()?.items.map(idOf)).toEqual([id]);
});
