// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { cookieDomain, linkDomains, type Store, type TrackerOptions } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, start } from '../tracker/page.ts';
import { visitorId, visitorOf } from './visitorOf.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = () => vi.advanceTimersByTimeAsync(1000);
const GIVEN = visitorId(1);
const OTHER = visitorId(2);

/** Opens a page whose server has given it this visitor id. */
const open = (store: Store, options: Partial<TrackerOptions> = {}, at?: Parameters<typeof openPage>) => {
  const page = openPage(...(at ?? []));
  return { page, ...start({ baseUrl: '/clew', visitorId: GIVEN, store, ...options }) };
};
/** Tracks an event, and returns the visitor ids of all events that have arrived. */
const visitorsOf = async ({ tracker, events }: ReturnType<typeof open>) => {
  tracker.track('seen');
  await tracker.flush();
  return [...new Set(events().map(({ correlationValue }) => correlationValue))];
};

describe('`visitorId`', () => {
  it('is the first visitor id of a browser without one', async () => {
    const store = createMemoryStore();
    const first = open(store);
    expect(await first.tracker.correlationValue()).toBe(GIVEN);
    expect(await visitorsOf(first)).toEqual([GIVEN]);
    first.page.leave();
    expect(await visitorsOf(open(store, { visitorId: OTHER }))).toEqual([GIVEN]);
  });

  it('is the first visitor id after consent, and of events before it', async () => {
    const test = open(createMemoryStore(), { consent: 'required' });
    test.tracker.track('before');
    test.tracker.consent(true);
    expect(await visitorsOf(test)).toEqual([GIVEN]);
  });

  it.each<[where: string, stored: (store: Store) => unknown]>([
    ['in the database', (store) => store.transact([['visitor', visitorOf(2, 0)]])],
    ['in the database, and identified', (store) => store.transact([['visitor', visitorOf(2, 7, 'ann')]])],
    ['in the hint', () => Object.assign(localStorage, { 'clew.hint': JSON.stringify(visitorOf(2, 0)) })],
    [
      'in a journal',
      () =>
        Object.assign(localStorage, { 'clew.page /clew x': JSON.stringify({ visitor: visitorOf(2, 0), items: [] }) }),
    ],
    ['in the cookie', () => Object.assign(document, { cookie: `clew=${OTHER}.0.; Domain=shop.example` })],
  ])('is not used if there is one %s', async (_where, stored) => {
    const store = createMemoryStore();
    openPage();
    await stored(store);
    const test = open(store, { cookieDomain: cookieDomain('shop.example') });
    expect(await visitorsOf(test)).toEqual([OTHER]);
  });

  it('is not used if a link has brought one', async () => {
    // The age of a link counts from the page load. Here that is the start of Node, which may be minutes ago.
    const seconds = Math.floor((Date.now() - performance.now()) / 1000).toString(36);
    const url = `https://www.shop.example/?clew_link=${OTHER}.${seconds}.`;
    const linked = { linkDomains: linkDomains(['help.example']) };
    const test = open(createMemoryStore(), linked, [url, 'https://help.example/']);
    expect(await visitorsOf(test)).toEqual([OTHER]);
  });

  it('is not used after a reset, on this page, in another tab and on the next page', async () => {
    connectTabs();
    const store = createMemoryStore();
    const first = open(store);
    const second = open(store);
    await visitorsOf(first);
    await visitorsOf(second);
    first.tracker.identify('ann');
    first.tracker.reset();
    await later();
    const after = await first.tracker.correlationValue();
    expect(after).not.toBe(GIVEN);
    expect(await second.tracker.correlationValue()).toBe(after);
    expect(await open(store).tracker.correlationValue()).toBe(after);
  });

  it('is not used for a second customer', async () => {
    const store = createMemoryStore();
    const test = open(store);
    test.tracker.identify('ann');
    test.tracker.identify('bob');
    await test.tracker.flush();
    const [ann, bob] = test.events('$identify').map(({ correlationValue }) => correlationValue);
    expect(ann).toBe(GIVEN);
    expect(bob).not.toBe(GIVEN);
  });

  it.each(['granted', 'required'] as const)('is not used after a refusal and a later consent (%s)', async (consent) => {
    const test = open(createMemoryStore(), { consent });
    if (consent === 'granted') await visitorsOf(test);
    test.tracker.consent(false);
    test.tracker.consent(true);
    expect(await test.tracker.correlationValue()).not.toBe(GIVEN);
  });

  it('is not used on a tab that waits for consent, after a refusal in another tab', async () => {
    connectTabs();
    const store = createMemoryStore();
    const waiting = open(store, { consent: 'required' });
    const other = open(store, { visitorId: OTHER });
    other.tracker.consent(false);
    await later();
    waiting.tracker.consent(true);
    expect(await waiting.tracker.correlationValue()).not.toBe(GIVEN);
  });

  it('is not used by a page that waited for consent in the back/forward cache', async () => {
    const store = createMemoryStore();
    const { page, tracker } = open(store, { consent: 'required' });
    page.leave();
    // Meanwhile a customer had the id, and has refused.
    page.restore();
    tracker.consent(true);
    expect(await tracker.correlationValue()).not.toBe(GIVEN);
  });

  it('is not used again by a page that comes back from the back/forward cache after a log-out', async () => {
    const store = createMemoryStore();
    const first = open(store);
    await visitorsOf(first);
    first.page.leave();
    const second = open(store);
    second.tracker.reset();
    const after = await second.tracker.correlationValue();
    await second.tracker.flush();
    second.page.leave();
    first.page.restore();
    expect(await first.tracker.correlationValue()).toBe(after);
  });

  it('begins one visitor id in two tabs that open at once', async () => {
    connectTabs();
    const store = createMemoryStore();
    const tabs = [open(store), open(store, { visitorId: OTHER })];
    await later();
    const ids = await Promise.all(tabs.map(({ tracker }) => tracker.correlationValue()));
    expect(ids).toEqual([GIVEN, GIVEN]);
  });
});
