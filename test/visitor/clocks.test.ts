// @module-tag promise
import { expect, it, vi } from 'vitest';
import { createTestTransport } from '../../src/testing.ts';
import { clearLocal, connectTabs, openPage, start as startTracker } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);
const setBack = (ms: number) => vi.setSystemTime(Date.now() - ms);

/** Tabs of one origin, and the events that all of them have sent. */
const openTabs = () => {
  connectTabs();
  const service = createTestTransport();
  let store: ReturnType<typeof startTracker>['store'] | undefined;
  const open = (consent: 'granted' | 'required' = 'required') => {
    openPage();
    const { tracker, ...tab } = startTracker({
      baseUrl: '/clew',
      consent,
      transport: service.transport,
      ...(store && { store }),
    });
    store ??= tab.store;
    return tracker;
  };
  const sent = () =>
    service
      .events()
      .map(({ event }) => event)
      .sort();
  return { open, sent };
};
const post = (...messages: unknown[]) => {
  const line = new BroadcastChannel('clew /clew');
  for (const message of messages) line.postMessage(message);
};

it.each([
  ['has the epoch from the record', 'granted'],
  ['knows of no epoch', 'required'],
] as const)(
  'the clock is set back, the site deletes its localStorage, and a tab that %s refuses',
  async (_, consent) => {
    const { open, sent } = openTabs();
    const first = open();
    first.consent(true);
    await later();
    const other = open(consent);
    await later();
    setBack(5000);
    clearLocal();
    other.consent(false);
    await later(100);
    first.track('after');
    await later(20_000);
    expect([sent(), Object.keys(localStorage)]).toEqual([[], []]);
  },
);

// By more than 10 s, the time of the first consent is in the future, too.
it.each([5000, 60_000, 3_600_000])(
  'the clock is set back by %i ms, and a tab refuses that does not know the second consent',
  async (back) => {
    const { open, sent } = openTabs();
    const first = open();
    first.consent(true);
    await later(10_000);
    first.consent(true);
    await later(10);
    setBack(back);
    const other = open();
    await later(10);
    other.consent(false);
    await later(10);
    first.track('after');
    await later(20_000);
    expect([sent(), Object.keys(localStorage)]).toEqual([[], []]);
  },
);

it('each tab consents, the clock is set back by an hour, and a third tab consents and refuses', async () => {
  const { open, sent } = openTabs();
  open().consent(true);
  await later(60_000);
  const second = open();
  second.consent(true);
  await later(60_000);
  setBack(3_600_000);
  const third = open();
  third.consent(true);
  await later(5000);
  third.consent(false);
  await later();
  second.track('after');
  await later(20_000);
  expect([sent(), Object.keys(localStorage)]).toEqual([[], []]);
});

it('the clock is set back after a refusal, and an older consent arrives after that', async () => {
  const { open, sent } = openTabs();
  const tracker = open();
  await later();
  const at = Date.now();
  setBack(5000);
  post({ at }, false, { at: at - 10_000 }, true);
  await later();
  tracker.track('after');
  await later(20_000);
  expect([sent(), Object.keys(localStorage)]).toEqual([[], []]);
});

it.each([60_000, 900])('the clock is set back by %i ms after a refusal, and a new tab consents', async (back) => {
  const { open, sent } = openTabs();
  const first = open();
  const second = open();
  first.consent(true);
  await later(10);
  first.consent(false);
  await later(10);
  setBack(back);
  const other = open();
  await later(100);
  other.consent(true);
  await later(100);
  for (const tracker of [first, second, other]) tracker.track('after');
  await later(20_000);
  expect(sent()).toEqual(['after', 'after', 'after']);
});

it.each([Number.NaN, -1, 1e14, 1e17, Number.MAX_VALUE])(
  'later answers count, although one has the time %d',
  async (at) => {
    const { open, sent } = openTabs();
    const trackers = [open(), open()];
    for (const isGranted of [false, true]) post({ at }, isGranted);
    await later();
    const other = open();
    await later();
    other.consent(false);
    await later(100);
    for (const tracker of trackers) tracker.track('refused');
    await later(5000);
    expect([sent(), Object.keys(localStorage)]).toEqual([[], []]);
    trackers[0]?.consent(true);
    await later(100);
    for (const tracker of trackers) tracker.track('granted');
    await later(5000);
    expect(sent()).toEqual(['granted', 'granted']);
  },
);

it.each([
  '"9999999999999123"',
  '9999999999999123',
  '"4102444800000123"',
  '"0000000000000123"',
  '"1e+21123"',
  '0',
  '{}',
])('each answer of a new tab counts, although the mark was %s', async (mark) => {
  const { open, sent } = openTabs();
  const first = open('granted');
  localStorage['clew.used /clew'] = mark;
  const second = open();
  await later();
  second.consent(true);
  await later();
  const refuse = async () => {
    const other = open();
    await later();
    other.consent(false);
    await later(100);
    for (const tracker of [first, second]) tracker.track('refused');
    await later(5000);
    expect([sent().includes('refused'), Object.keys(localStorage)]).toEqual([false, []]);
  };
  await refuse();
  open().consent(true);
  await later();
  for (const tracker of [first, second]) tracker.track('granted');
  await later(5000);
  expect(sent()).toEqual(['granted', 'granted']);
  await refuse();
});
