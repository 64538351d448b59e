import { afterEach, describe, expect, it, vi } from 'vitest';
import { normaliseOptions } from '../../src/api/options.ts';
import type { TrackerOptions } from '../../src/index.ts';
import type { Store } from '../../src/outbox/store.ts';
import { engagement } from '../../src/plugins/engagement.ts';
import { type SessionOptions, sessions } from '../../src/plugins/sessions.ts';
import { createMemoryStore, createTestTracker, createTestTransport } from '../../src/testing.ts';
import { startTracker } from '../../src/tracker.ts';
import { openPage, settle } from './page.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Opens pages of one browser: they share the store, and each has a tab of its own. */
const openBrowser = (given?: Partial<TrackerOptions>, options?: SessionOptions) => {
  const store = createMemoryStore();
  const openTab = (path = '/', tab: object = {}) => {
    const page = openPage(path, tab);
    const { tracker, events } = createTestTracker({
      baseUrl: '/clew',
      store,
      plugins: [sessions(options), engagement()],
      ...given,
    });
    stops.push(tracker.stop);
    return { page, tracker, events };
  };
  type Tab = ReturnType<typeof openTab>;
  /** Tracks an event, and returns its session. */
  const track = async ({ tracker, events }: Tab): Promise<{ sessionId: string; sessionNumber: number }> => {
    tracker.track('clicked');
    await tracker.flush();
    await settle();
    return events('clicked').at(-1)?.payload as never;
  };
  return { openTab, track };
};

it('all events of all tabs have the session, which ends after 30 minutes without an event', async () => {
  const { openTab, track } = openBrowser();
  const tab = openTab();
  const first = await track(tab);
  expect(first).toMatchObject({ sessionId: expect.stringMatching(/^[a-z\d]{21}$/), sessionNumber: 1 });
  tab.page.pass(29 * 60_000);
  const other = openTab();
  expect(await track(other)).toEqual(first);
  other.page.pass(29 * 60_000);
  expect(await track(other)).toEqual(first);
  other.page.pass(30 * 60_000);
  const second = await track(other);
  expect(second).toMatchObject({ sessionNumber: 2 });
  expect(second.sessionId).not.toBe(first.sessionId);
  expect(await track(tab)).toEqual(second);
});

it('a campaign counts that the app removes from the address before the first event, once', async () => {
  const { openTab, track } = openBrowser();
  expect(await track(openTab('/?utm_source=one'))).toMatchObject({ sessionNumber: 1 });
  const tab = openTab('/?utm_source=two');
  tab.page.push('/', 'replace');
  expect(await track(tab)).toMatchObject({ sessionNumber: 2 });
  expect(await track(openTab('/?utm_source=three'))).toMatchObject({ sessionNumber: 3 });
  expect(await track(tab)).toMatchObject({ sessionNumber: 3 });
});

describe('a call that is replayed', () => {
  /** A page that first replays calls of its stub, `ago` ms old, and then tracks an event of its own. */
  const replayOn = async (path: string, store: Store, ...ago: number[]) => {
    const page = openPage(path);
    page.pass(5000);
    const now = Date.now();
    const service = createTestTransport();
    let at: number | undefined;
    const settings = normaliseOptions({ baseUrl: '/clew', store, transport: service.transport, compress: false });
    const replayed = () => (at === undefined ? undefined : { at });
    const tracker = startTracker({ ...settings, plugins: [sessions()] }, [], replayed);
    stops.push(tracker.stop);
    for (const ms of ago) {
      at = now - ms;
      tracker.track('replayed');
    }
    at = undefined;
    tracker.track('live');
    await tracker.flush();
    await settle();
    return service.events().map(({ event, payload }) => [event, (payload as { sessionNumber: number }).sessionNumber]);
  };
  const HOUR = 3_600_000;

  it('has the session of its own time', async () => {
    expect(await replayOn('/', createMemoryStore(), 2 * HOUR, 2 * HOUR - 60_000, 60_000)).toEqual([
      ['replayed', 1],
      ['replayed', 1],
      ['replayed', 2],
      ['live', 2],
    ]);
  });

  it('of an earlier page is not of the campaign that has brought the visitor now', async () => {
    expect(await replayOn('/?utm_source=mail', createMemoryStore(), 60_000)).toEqual([
      ['replayed', 1],
      ['live', 2],
    ]);
  });

  it('of this page is of its campaign', async () => {
    expect(await replayOn('/?utm_source=mail', createMemoryStore(), 2000)).toEqual([
      ['replayed', 1],
      ['live', 1],
    ]);
  });

  it('from before a session that is stored does not end that', async () => {
    const store = createMemoryStore();
    await replayOn('/', store);
    expect(await replayOn('/', store, 2 * HOUR)).toEqual([
      ['replayed', 1],
      ['live', 1],
    ]);
  });
});

it('another campaign begins another session, and a reload of an earlier page of a campaign does not', async () => {
  const { openTab, track } = openBrowser();
  const tab = {};
  expect(await track(openTab('/?utm_source=x', tab))).toMatchObject({ sessionNumber: 1 });
  const other = openTab('/?utm_source=y');
  expect(await track(other)).toMatchObject({ sessionNumber: 2 });
  expect(await track(openTab('/?utm_source=x', tab))).toMatchObject({ sessionNumber: 2 });
  expect(await track(openTab('/'))).toMatchObject({ sessionNumber: 2 });
  other.page.push('/cart?utm_source=z');
  expect(await track(other)).toMatchObject({ sessionNumber: 3 });
  expect(await track(openTab('/?utm_source=x'))).toMatchObject({ sessionNumber: 4 });
});

it('page_left neither begins nor extends a session', async () => {
  const { openTab, track } = openBrowser();
  const tab = openTab();
  const first = await track(tab);
  tab.page.pass(20 * 60_000);
  tab.page.look(false, false);
  tab.page.pass(11 * 60_000);
  tab.page.look(true, true);
  tab.page.pass(1000);
  tab.page.look(false, false);
  await settle();
  expect(tab.events('page_left').map(({ payload }) => payload)).toMatchObject([first, first]);
  expect(await track(tab)).toMatchObject({ sessionNumber: 2 });
});

it('a session goes on while the visitor is active, after the clock was set back by an hour', async () => {
  const { openTab, track } = openBrowser();
  const tab = openTab();
  const first = await track(tab);
  vi.setSystemTime(Date.now() - 3_600_000);
  // The tracker's clock does not fall back: the events of this page are an hour ahead.
  for (let n = 0; n < 3; n++) expect(await track(tab)).toEqual(first);
});

it('a session that begins after the clock was set back ends 30 minutes later', async () => {
  const { openTab, track } = openBrowser();
  const tab = openTab();
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await track(tab)).toMatchObject({ sessionNumber: 1 });
  const next = openTab();
  next.page.pass(31 * 60_000);
  expect(await track(next)).toMatchObject({ sessionNumber: 2 });
});

it('another visitor has sessions of their own', async () => {
  const { openTab, track } = openBrowser();
  const tab = openTab();
  const first = await track(tab);
  tab.tracker.reset();
  const second = await track(tab);
  expect(second).toMatchObject({ sessionNumber: 1 });
  expect(second.sessionId).not.toBe(first.sessionId);
});

it('nothing is stored before consent, and events from before consent have the session', async () => {
  const { openTab, track } = openBrowser({ consent: 'required' });
  const tab = openTab();
  tab.tracker.track('early');
  const next = openTab();
  next.tracker.consent(true);
  const later = await track(next);
  tab.tracker.consent(true);
  const own = await track(tab);
  // One tab sends for both.
  const [early] = [tab, next].flatMap(({ events }) => events('early'));
  expect(early?.payload).toMatchObject({ sessionNumber: 1 });
  expect(early?.payload).not.toEqual(later);
  expect(own.sessionNumber).toBe(1);
  expect(await track(next)).toEqual(await track(tab));
});

it('a refusal ends the session', async () => {
  const { openTab, track } = openBrowser();
  const tab = openTab();
  const first = await track(tab);
  tab.tracker.consent(false);
  tab.tracker.consent(true);
  const second = await track(tab);
  expect(second).toMatchObject({ sessionNumber: 1 });
  expect(second.sessionId).not.toBe(first.sessionId);
});

it('an event without an object for a payload stays as it is', async () => {
  const { tracker, events } = openBrowser().openTab();
  tracker.track('clicked', 'text');
  await tracker.flush();
  await settle();
  expect(events('clicked')[0]?.payload).toBe('text');
});

it.each([0, -1, Number.NaN, 'abc' as never, '1000' as never, null as never])(
  'a timeout of %s is an invalid option',
  (timeout) => {
    expect(() => sessions({ timeout })).toThrow(new TypeError('clew: timeout: expected a number of ms above 0'));
  },
);

it('a tracker that was stopped stores no session after a refusal in another tab', async () => {
  openPage();
  const store = createMemoryStore();
  const stopped = createTestTracker({ baseUrl: '/clew', store, plugins: [sessions()] });
  stopped.tracker.track('one');
  await settle();
  await stopped.tracker.flush();
  stopped.tracker.stop();
  const other = createTestTracker({ baseUrl: '/clew', store });
  stops.push(other.tracker.stop);
  await settle();
  other.tracker.consent(false);
  await settle();
  stopped.tracker.track('two');
  await settle();
  expect(Object.keys(store.local ?? {})).toEqual([]);
});
