// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { normaliseOptions } from '../../src/api/options.ts';
import { watchRefusals } from '../../src/page/address.ts';
import { createViews } from '../../src/page/views.ts';
import { createTestTransport } from '../../src/testing.ts';
import { startTracker } from '../../src/tracker.ts';
import { createMemoryStore, openPage, start } from '../tracker/page.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_770_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const ACCOUNT = { path: '/account', url: 'https://www.shop.example/account', referrer: '' };

const views = async (act: (tracker: ReturnType<typeof start>['tracker']) => void) => {
  openPage();
  const { tracker, events } = start({ store: createMemoryStore() });
  const former = await tracker.correlationValue();
  createViews().see(tracker, ACCOUNT);
  vi.advanceTimersByTime(50);
  act(tracker);
  document.title = 'Bye';
  vi.advanceTimersByTime(100);
  await tracker.flush();
  const views = events().filter(({ event }) => event === 'page_view');
  return { former, views };
};

it('a view that waits for its title belongs to the visitor before `reset()`', async () => {
  const { former, views: seen } = await views((tracker) => tracker.reset());
  expect(seen).toMatchObject([{ correlationValue: former, payload: { ...ACCOUNT, title: 'Yarns' } }]);
});

it('a view that waits for its title belongs to the customer before `identify` of another one', async () => {
  const { former, views: seen } = await views((tracker) => {
    tracker.identify('ann');
    tracker.identify('bob');
  });
  expect(seen).toMatchObject([{ correlationValue: former, payload: { title: 'Yarns' } }]);
});

it('a view waits for its title also if the same visitor is identified', async () => {
  const { former, views: seen } = await views((tracker) => {
    tracker.identify('ann');
    tracker.identify('ann');
  });
  expect(seen).toMatchObject([{ correlationValue: former, payload: { title: 'Bye' } }]);
});

it('the signal `change` has the visitor id until then, and comes once', async () => {
  openPage();
  const { tracker } = start({ store: createMemoryStore() });
  const former = await tracker.correlationValue();
  const changes: unknown[] = [];
  tracker.on('change', (change) => changes.push(change));
  tracker.track('seen');
  tracker.identify('ann');
  tracker.setProperties({ plan: 'pro' });
  expect(changes).toEqual([]);
  tracker.reset();
  expect(changes).toEqual([{ visitorId: former }]);
});

it('the signal `change` is not for a call that is older than a change by another page', async () => {
  openPage();
  const store = createMemoryStore();
  const baseUrl = '/clew';
  const other = start({ baseUrl, store });
  other.tracker.identify('ann');
  other.tracker.identify('bob');
  await other.tracker.flush();
  let at = Date.now();
  const { transport } = createTestTransport();
  const tracker = startTracker(normaliseOptions({ baseUrl, store, transport }), [], () => ({ at }));
  await tracker.flush();
  const changes: unknown[] = [];
  tracker.on('change', (change) => changes.push(change));
  at = Date.now() - 60_000;
  tracker.identify('ann');
  expect(changes).toEqual([]);
  at = Date.now();
  tracker.identify('ann');
  expect(changes).toHaveLength(1);
  tracker.stop();
});

it.each([
  ['the last view is tracked when the visitor sees it', false],
  ['no view is tracked if the app has ended before the visitor sees it', true],
])('of a prerendered page, %s', (_, isEnded) => {
  const { document: page } = openPage();
  page.prerendering = true;
  const track = vi.fn();
  const router = createViews();
  const tracker = { page: track, on: () => () => {} };
  router.see(tracker, { ...ACCOUNT, path: '/' });
  router.see(tracker, ACCOUNT);
  vi.advanceTimersByTime(2000);
  if (isEnded) router.end();
  expect(track).not.toHaveBeenCalled();
  page.prerendering = false;
  page.dispatchEvent(new Event('prerenderingchange'));
  vi.advanceTimersByTime(100);
  expect(track.mock.calls).toEqual(isEnded ? [] : [[{ ...ACCOUNT, title: 'Yarns' }]]);
});

it('a refusal is reported to a router once a view is dropped', async () => {
  openPage();
  const { tracker } = start({ store: createMemoryStore() });
  const forget = vi.fn();
  const stop = watchRefusals(tracker, forget);
  tracker.consent(false);
  expect(forget).not.toHaveBeenCalled();
  tracker.page();
  vi.advanceTimersByTime(0);
  await tracker.flush();
  expect(forget).toHaveBeenCalledTimes(1);
  stop();
});
