// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { createTestTransport } from '../../src/testing.ts';
import { cookieDomain } from '../../src/visitor/cookieDomain.ts';
import { connectTabs, openPage, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

const offline = (): never => {
  throw new TypeError('offline');
};

describe('a listener that refuses while the tracker works on a refusal', () => {
  const REFUSED = { tracked: 1, delivered: 0, queued: 0, dropped: { consent: 1 } };
  /** Refuses the first time that it is called. */
  const refuseOnce = (tracker: ReturnType<typeof start>['tracker']) => {
    let isFirst = true;
    return () => {
      if (isFirst) tracker.consent(false);
      isFirst = false;
    };
  };

  it('at the new visitor id after a missed refusal ends each event once', async () => {
    connectTabs();
    const page = openPage();
    const { store, tracker, dropped } = start({ baseUrl: '/clew', transport: offline });
    await later();
    page.leave();
    openPage();
    const other = start({ baseUrl: '/clew', store });
    await later();
    other.tracker.consent(false);
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

  it('at a dropped event keeps its refusal, although the visitor has consented before in doubt', async () => {
    connectTabs();
    const page = openPage();
    const { store, tracker } = start({ baseUrl: '/clew', transport: offline });
    tracker.track('before');
    await later();
    page.leave();
    openPage();
    const other = start({ baseUrl: '/clew', store });
    await later();
    other.tracker.consent(false);
    await later();
    other.tracker.stop();
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

it('a refusal counts, although the clock is set back before an earlier consent arrives', async () => {
  const { freeze, thaw } = connectTabs();
  openPage();
  const { tracker, store, names } = start({ baseUrl: '/clew' });
  await later();
  openPage();
  const other = start({ baseUrl: '/clew', store });
  await later();
  freeze();
  other.tracker.consent(true);
  await later(50);
  tracker.consent(false);
  await later(50);
  vi.setSystemTime(Date.now() - 60_000);
  await thaw();
  tracker.track('after');
  await later(20_000);
  expect([names(), Object.keys(localStorage)]).toEqual([[], []]);
});
