// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Answer, TransportRequest } from '../../src/index.ts';
import { createTestTransport } from '../../src/testing.ts';
import { cookieDomain } from '../../src/visitor/cookieDomain.ts';
import { connectTabs, createMemoryStore, openPage, slowed, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

const offline = (): never => {
  throw new TypeError('offline');
};

describe('a listener that refuses while the tracker works on a refusal or an answer', () => {
  const REFUSED = { tracked: 1, delivered: 0, queued: 0, dropped: { consent: 1 } };
  /** Refuses the first time that it is called. */
  const refuseOnce = (tracker: ReturnType<typeof start>['tracker']) => {
    let isFirst = true;
    return () => {
      if (isFirst) tracker.consent(false);
      isFirst = false;
    };
  };

  /** A page in the back/forward cache that misses a refusal, and the names of the events that it has tracked before. */
  const missRefusal = async (options = {}, ...names: string[]) => {
    connectTabs();
    const page = openPage();
    const first = start({ baseUrl: '/clew', transport: offline, ...options });
    for (const name of names) first.tracker.track(name);
    await later();
    page.leave();
    openPage();
    const other = start({ baseUrl: '/clew', store: first.store });
    await later();
    other.tracker.consent(false);
    await later();
    return { page, other, ...first };
  };

  it('at the new visitor id after a missed refusal ends each event once', async () => {
    const { page, other, tracker, dropped } = await missRefusal();
    other.tracker.consent(true);
    await later();
    page.restore();
    tracker.on('change', refuseOnce(tracker));
    tracker.track('in doubt');
    await later(20_000);
    expect([tracker.stats(), dropped]).toEqual([REFUSED, [['in doubt', 'consent']]]);
  });

  it('at a cookie that the browser refuses ends each event once', async () => {
    const page = openPage();
    const { tracker, dropped } = start({
      baseUrl: '/clew',
      consent: 'required',
      cookieDomain: cookieDomain('shop.example'),
    });
    Object.defineProperty(page.document, 'cookie', { get: () => 'clew=x', set() {} });
    tracker.track('held');
    tracker.on('error', refuseOnce(tracker));
    await later();
    tracker.consent(false);
    await later(20_000);
    expect([tracker.stats(), dropped]).toEqual([REFUSED, [['held', 'consent']]]);
  });

  it('at a cookie that the browser refuses ends what came after a consent in doubt', async () => {
    const { page, tracker, dropped } = await missRefusal({ cookieDomain: cookieDomain('shop.example') });
    Object.defineProperty(page.document, 'cookie', { get: () => 'clew=x', set() {} });
    vi.stubGlobal('document', page.document);
    page.restore();
    tracker.on('error', refuseOnce(tracker));
    tracker.consent(true);
    tracker.track('after');
    await later(20_000);
    expect([tracker.stats(), dropped]).toEqual([REFUSED, [['after', 'consent']]]);
  });

  it('as the visitor becomes known ends each event once, and a later consent sends none of them', async () => {
    openPage();
    const { tracker, dropped, names } = start({ baseUrl: '/clew' });
    const refuse = refuseOnce(tracker);
    tracker.on('trace', (trace) => trace.step === 'visitor' && trace.visitorId && refuse());
    tracker.track('before');
    await later();
    tracker.consent(true);
    await later(20_000);
    expect([names(), tracker.stats(), dropped]).toEqual([[], REFUSED, [['before', 'consent']]]);
  });

  it('as an $identify is tracked ends all events, and leaves no cookie', async () => {
    const page = openPage();
    const { tracker, dropped, names, store } = start({
      baseUrl: '/clew',
      cookieDomain: cookieDomain('shop.example'),
    });
    const refuse = refuseOnce(tracker);
    tracker.on('trace', (trace) => trace.step === 'tracked' && trace.event.event === '$identify' && refuse());
    tracker.track('before');
    tracker.identify('ann');
    tracker.track('after');
    await later(20_000);
    expect([page.document.cookie, Object.keys(localStorage), await store.read('/clew')]).toEqual(['', [], []]);
    tracker.consent(true);
    await later(20_000);
    expect([names(), dropped.map(([name]) => name), tracker.stats()]).toEqual([
      [],
      ['before', '$identify', 'after'],
      { tracked: 3, delivered: 0, queued: 0, dropped: { consent: 3 } },
    ]);
  });

  it('at one of two events without room ends each event once', async () => {
    openPage();
    const { tracker, dropped } = start({ baseUrl: '/clew', maxQueuedEvents: 1 });
    tracker.on('dropped', refuseOnce(tracker));
    tracker.track('before');
    tracker.identify('ann');
    tracker.identify('bob');
    await later(20_000);
    expect([tracker.stats(), dropped.map(([name]) => name).sort(), Object.keys(localStorage)]).toEqual([
      { tracked: 3, delivered: 0, queued: 0, dropped: { full: 2, consent: 1 } },
      ['$identify', '$identify', 'before'],
      [],
    ]);
  });

  /** Rejects the events that are called `bad`. */
  const rejecting = async ({ body }: TransportRequest): Promise<Answer> => {
    const bad = JSON.parse(`${body}`).batch.filter(({ event }: { event: string }) => event === 'bad');
    const rejected = bad.map(({ uuid }: { uuid: string }) => ({ uuid, reason: 'invalid' }));
    return { outcome: 'delivered', status: 200, rejected };
  };

  it('at the delivered events of an answer ends each of its rejected events once', async () => {
    openPage();
    const { tracker, dropped } = start({ baseUrl: '/clew', transport: rejecting });
    tracker.on('delivered', refuseOnce(tracker));
    for (const name of ['good', 'bad']) tracker.track(name);
    await later(20_000);
    expect([tracker.stats(), dropped, Object.keys(localStorage)]).toEqual([
      { tracked: 2, delivered: 1, queued: 0, dropped: { rejected: 1 } },
      [['bad', 'rejected']],
      [],
    ]);
  });

  it("at another page's rejected event leaves nothing", async () => {
    const page = openPage();
    const before = start({ baseUrl: '/clew', transport: offline });
    await later();
    for (const name of ['bad', 'good']) before.tracker.track(name);
    await later();
    vi.stubGlobal('navigator', { onLine: false });
    page.leave();
    await later();
    openPage();
    const { tracker, dropped, store } = start({ baseUrl: '/clew', store: before.store, transport: rejecting });
    tracker.on('dropped', refuseOnce(tracker));
    tracker.track('own');
    await later(20_000);
    expect([tracker.stats(), dropped]).toEqual([
      { tracked: 2, delivered: 1, queued: 0, dropped: { rejected: 1 } },
      [['bad', 'rejected']],
    ]);
    expect([Object.keys(localStorage), await store.read('/clew')]).toEqual([[], []]);
  });

  it('as the visitor changes ends the change', async () => {
    openPage();
    const { tracker, names } = start({ baseUrl: '/clew' });
    await later();
    const refuse = refuseOnce(tracker);
    tracker.on('trace', (trace) => trace.step === 'visitor' && trace.visitorId && refuse());
    tracker.identify('ann');
    await later();
    tracker.consent(true);
    await later(20_000);
    expect([names(), Object.keys(JSON.parse(localStorage['clew.hint']).keys)]).toEqual([[], []]);
  });

  it('at a dropped event keeps its refusal, although the visitor has consented before in doubt', async () => {
    const { page, tracker } = await missRefusal({}, 'before');
    tracker.on('dropped', refuseOnce(tracker));
    page.restore();
    tracker.consent(true);
    tracker.track('after');
    await later(20_000);
    expect([Object.keys(localStorage), tracker.stats()]).toEqual([
      [],
      { tracked: 2, delivered: 0, queued: 0, dropped: { consent: 2 } },
    ]);
  });

  it('at the new visitor id ends the events from before, although it consents again', async () => {
    const { page, tracker, dropped } = await missRefusal({}, 'before');
    const refuse = refuseOnce(tracker);
    const seen: (number | undefined)[] = [];
    tracker.on('change', () => {
      seen.push(tracker.stats().tracked);
      refuse();
      tracker.consent(true);
    });
    page.restore();
    tracker.consent(true);
    tracker.track('after');
    tracker.identify('ann');
    await later(20_000);
    expect([seen[0], dropped.sort(), tracker.stats()]).toEqual([
      2,
      [
        ['after', 'consent'],
        ['before', 'consent'],
      ],
      { tracked: 2, delivered: 0, queued: 0, dropped: { consent: 2 } },
    ]);
  });
});

describe('a listener that refuses as the page leaves', () => {
  /** A page that leaves with one event, and refuses at the first signal that `isRefusing` selects. */
  const leaveRefusing = async (options: object, isRefusing: (signal: object) => boolean) => {
    connectTabs();
    const page = openPage();
    const { tracker, store } = start({ baseUrl: '/clew', ...options });
    tracker.track('before');
    await later(5000);
    let isLeaving = false;
    const listen = (signal: object) => {
      if (!isLeaving || !isRefusing(signal)) return;
      isLeaving = false;
      tracker.consent(false);
    };
    tracker.on('delivered', listen);
    tracker.on('trace', listen);
    tracker.track('last');
    isLeaving = true;
    page.leave();
    await later(5000);
    expect([isLeaving, Object.keys(localStorage), await store.read('/clew')]).toEqual([false, [], []]);
  };

  it('with a relay leaves nothing', () => leaveRefusing({}, (signal) => 'step' in signal && signal.step === 'sent'));

  it('without a relay leaves nothing', () => leaveRefusing({ apiKey: 'key' }, (signal) => 'events' in signal));

  it('before its database has answered leaves nothing, and ends its transactions', async () => {
    connectTabs();
    const page = openPage();
    const store = slowed(createMemoryStore(), 500);
    const abort = vi.fn(store.abort);
    const { tracker } = start({ baseUrl: '/clew', store: { ...store, abort } });
    tracker.on('dropped', () => tracker.consent(false));
    tracker.identify('x'.repeat(70_000));
    page.leave();
    await later(5000);
    expect([abort.mock.calls.length, Object.keys(localStorage), await store.read('/clew')]).toEqual([1, [], []]);
  });
});

it('a trace listener may consent again as the visitor is forgotten', async () => {
  openPage();
  const { tracker, names } = start({ baseUrl: '/clew' });
  await later();
  tracker.track('before');
  let isFirst = true;
  tracker.on('trace', (trace) => {
    if (trace.step !== 'visitor' || trace.visitorId || !isFirst) return;
    isFirst = false;
    tracker.consent(true);
    tracker.track('after');
  });
  tracker.consent(false);
  await later(20_000);
  expect([names(), tracker.stats()]).toEqual([
    ['after'],
    { tracked: 2, delivered: 1, queued: 0, dropped: { consent: 1 } },
  ]);
});

describe('a tab that gets a consent, a refusal and a later consent late', () => {
  it.each([
    ['in one task', (answer: (isGranted: boolean) => void) => [true, false, true].forEach(answer)],
    [
      'one after the other',
      async (answer: (isGranted: boolean) => void) => {
        for (const isGranted of [true, false, true]) {
          answer(isGranted);
          await later();
        }
      },
    ],
    [
      'of a visitor whose site has deleted its data meanwhile',
      async (answer: (isGranted: boolean) => void) => {
        answer(true);
        await later();
        delete localStorage['clew.used /clew'];
        for (const isGranted of [false, true]) answer(isGranted);
      },
    ],
  ])('erases nothing of the later consent (%s)', async (_, answerAll) => {
    const { freeze, thaw } = connectTabs();
    const service = createTestTransport();
    let isUp = false;
    const transport: typeof service.transport = (request) => (isUp ? service.transport(request) : offline());
    openPage();
    const late = start({ baseUrl: '/clew', consent: 'required', transport });
    const { store } = late;
    await later();
    freeze();
    const page = openPage();
    const { tracker } = start({ baseUrl: '/clew', store, consent: 'required', transport });
    await answerAll(tracker.consent);
    tracker.identify('ann');
    for (let n = 0; n < 300; n++) tracker.track('valid', { text: 'x'.repeat(1000) });
    await later();
    const id = await tracker.correlationValue();
    page.leave();
    await later();
    await thaw();
    await later();
    isUp = true;
    late.tracker.track('late');
    await later(600_000);
    const names = service.events().map(({ event }) => event);
    expect([names.length, await late.tracker.correlationValue()]).toEqual([302, id]);
  });
});

it('a refusal that is later than the latest consent counts, although its tab names an earlier epoch', async () => {
  connectTabs();
  openPage();
  const { tracker, dropped, store } = start({ baseUrl: '/clew', transport: offline });
  await later();
  const ended = JSON.parse(localStorage['clew.used /clew']);
  tracker.consent(false);
  tracker.consent(true);
  await later();
  openPage();
  const other = start({ baseUrl: '/clew', store, transport: offline });
  await later();
  for (const one of [tracker, other.tracker]) one.track('after');
  await later();
  const line = new BroadcastChannel('clew /clew');
  line.postMessage({ at: Date.now(), ended: `${ended}` });
  line.postMessage(false);
  await later();
  expect([dropped, other.dropped, Object.keys(localStorage)]).toEqual([
    [['after', 'consent']],
    [['after', 'consent']],
    [],
  ]);
});

describe('a refusal counts, although the clock is set back before it', () => {
  /** A tab, and another one that opens later. Both have no answer yet. */
  const openTwo = async (isConsented: boolean) => {
    const { freeze, thaw } = connectTabs();
    openPage();
    const first = start({ baseUrl: '/clew', consent: 'required' });
    await later();
    if (isConsented) first.tracker.consent(true);
    await later(10);
    openPage();
    const other = start({ baseUrl: '/clew', store: first.store, consent: 'required' });
    await later(10);
    return { freeze, thaw, first, other };
  };
  const setBack = (ms: number) => vi.setSystemTime(Date.now() - ms);
  /** The clock is set back, the other tab refuses, and the frozen tabs get that so many ms later. */
  const refuseLate = async ({ thaw, other }: Awaited<ReturnType<typeof openTwo>>, back: number, wait: number) => {
    setBack(back);
    other.tracker.consent(false);
    await later(wait);
    await thaw();
    await later();
  };
  const expectRefused = async ({ tracker, names }: Awaited<ReturnType<typeof openTwo>>['first']) => {
    tracker.track('after');
    await later(20_000);
    expect([names(), Object.keys(localStorage)]).toEqual([[], []]);
  };

  it.each([
    [60_000, 120_000],
    [60_000, 50],
    [2000, 2500],
  ])("by %i ms, and a frozen tab gets the other one's answers %i ms later", async (back, wait) => {
    const tabs = await openTwo(false);
    tabs.freeze();
    tabs.other.tracker.consent(true);
    await later(50);
    await refuseLate(tabs, back, wait);
    await expectRefused(tabs.first);
  });

  it.each([
    [60_000, 120_000],
    [1500, 600],
    [900, 0],
    [200, 0],
  ])('by %i ms, and the tab that has consented gets it %i ms later', async (back, wait) => {
    const tabs = await openTwo(true);
    tabs.freeze();
    await refuseLate(tabs, back, wait);
    await expectRefused(tabs.first);
  });

  it('and another tab had received the consent in time', async () => {
    const tabs = await openTwo(false);
    tabs.other.tracker.consent(true);
    await later(50);
    tabs.freeze();
    await refuseLate(tabs, 60_000, 70_000);
    await expectRefused(tabs.first);
  });

  it('and an earlier consent of the other tab arrives after it', async () => {
    const { freeze, thaw, first, other } = await openTwo(true);
    freeze();
    other.tracker.consent(true);
    await later(50);
    first.tracker.consent(false);
    await later(50);
    setBack(60_000);
    await thaw();
    await expectRefused(first);
  });
});

it.each(['granted', 'required'] as const)(
  'a refusal that overtakes an older consent of a third tab counts (consent: %s)',
  async (consent) => {
    connectTabs();
    openPage();
    const { tracker, names } = start({ baseUrl: '/clew', consent });
    await later();
    const line = new BroadcastChannel('clew /clew');
    const at = Date.now();
    const messages = [{ at }, false, { at: at - 5 }, true];
    for (const message of messages) line.postMessage(message);
    await later();
    tracker.track('after');
    await later(20_000);
    expect([names(), Object.keys(localStorage)]).toEqual([[], []]);
  },
);

it('a consent in another tab counts soon after a refusal, although the clock was set back', async () => {
  connectTabs();
  openPage();
  const { tracker, store, names } = start({ baseUrl: '/clew', consent: 'required' });
  tracker.consent(true);
  await later(10);
  openPage();
  const other = start({ baseUrl: '/clew', store });
  await later(10);
  vi.setSystemTime(Date.now() - 60_000);
  tracker.consent(false);
  await later(300);
  other.tracker.consent(true);
  await later(10);
  tracker.track('after');
  await later(20_000);
  expect(names()).toEqual(['after']);
});
