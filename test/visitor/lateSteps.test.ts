// @module-tag promise
import { expect, it, vi } from 'vitest';
import { sessions } from '../../src/plugins.ts';
import { createTestTransport } from '../../src/testing.ts';
import { connectTabs, createMemoryStore, openPage, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

it('a consent after a refusal counts while the page is prerendering', async () => {
  const page = openPage();
  page.document.prerendering = true;
  const { tracker, names, dropped } = start({ baseUrl: '/clew', consent: 'required' });
  tracker.consent(false);
  tracker.consent(true);
  tracker.track('prerendered');
  tracker.identify('ann');
  await later();
  page.document.prerendering = false;
  page.document.dispatchEvent(new Event('prerenderingchange'));
  await later();
  tracker.track('seen');
  await later(20_000);
  expect([names(), dropped]).toEqual([['prerendered', '$identify', 'seen'], []]);
});

it('stats add up if a listener refuses at a filtered event', async () => {
  openPage();
  const { tracker } = start({ baseUrl: '/clew', beforeSend: () => null });
  await later();
  tracker.on('dropped', () => tracker.consent(false));
  tracker.track('x');
  await later();
  expect(tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { filtered: 1 } });
});

it('stats add up if a listener refuses at an event that is too large', async () => {
  openPage();
  const { tracker } = start({ baseUrl: '/clew', maxBatchBytes: 1000 });
  await later();
  tracker.on('dropped', () => tracker.consent(false));
  tracker.track('x', { x: 'x'.repeat(2000) });
  await later();
  expect(tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { 'too-large': 1 } });
});

it.each([
  ['waits for the database', 0, 1, 1],
  ['is stored, and in memory', 1000, 1, 1],
  ['is one of many that only the database has', 1000, 100, 1000],
])('a listener may consent again at a dropped event that %s', async (_, wait, count, size) => {
  openPage();
  const service = createTestTransport();
  let isUp = false;
  const { tracker, store } = start({
    baseUrl: '/clew',
    transport: (request) => {
      if (!isUp) throw new TypeError('offline');
      return service.transport(request);
    },
  });
  await later(wait);
  tracker.on('dropped', () => {
    if (tracker.stats().tracked > count) return;
    tracker.consent(true);
    tracker.track('after');
  });
  for (let n = 0; n < count; n++) tracker.track('before', { text: 'x'.repeat(size) });
  await later(wait);
  tracker.consent(false);
  await later();
  // The browser may crash now: the next page has to find what this one has stored.
  const id = await tracker.correlationValue();
  isUp = true;
  for (const key of Object.keys(localStorage)) delete localStorage[key];
  openPage();
  const next = start({ baseUrl: '/clew', store, transport: service.transport });
  await later(20_000);
  expect([service.events().map(({ event }) => event), await next.tracker.correlationValue()]).toEqual([['after'], id]);
  await later(200_000);
  expect(tracker.stats()).toEqual({ tracked: count + 1, delivered: 1, queued: 0, dropped: { consent: count } });
});

it('a refusal in another tab that arrives after a later consent in this tab ends nothing', async () => {
  const { freeze, thaw } = connectTabs();
  openPage();
  const first = start({ baseUrl: '/clew' });
  await later();
  openPage();
  const second = start({ baseUrl: '/clew', store: first.store, transport: first.transport });
  await later();
  freeze();
  second.tracker.consent(false);
  await later(10);
  first.tracker.consent(true);
  await later(10);
  await thaw();
  await later();
  first.tracker.track('first');
  second.tracker.track('second');
  await later(20_000);
  expect([first.names().sort(), first.dropped, second.dropped]).toEqual([['first', 'second'], [], []]);
});

it.each([['identify'], ['reset']] as const)(
  '%s() on a page that may have missed a refusal stores nothing before the database has answered',
  async (method) => {
    connectTabs();
    const page = openPage();
    const old = start({ baseUrl: '/clew' });
    await later();
    page.leave();
    openPage();
    const other = start({ baseUrl: '/clew', store: old.store, transport: old.transport });
    await later();
    other.tracker.consent(false);
    await later();
    other.tracker.stop();
    expect({ ...localStorage }).toEqual({});
    page.restore();
    old.tracker[method]('ann');
    const now = { ...localStorage };
    page.leave();
    await later();
    expect([now, { ...localStorage }]).toEqual([{}, {}]);
  },
);

it('identify() on a page that may have missed a refusal brings no refused visitor back', async () => {
  connectTabs();
  const page = openPage();
  const old = start({ baseUrl: '/clew' });
  const { store, transport } = old;
  const refused = await old.tracker.correlationValue();
  await later();
  page.leave();
  openPage();
  const other = start({ baseUrl: '/clew', store, transport });
  await later();
  other.tracker.consent(false);
  await later();
  other.tracker.stop();
  page.restore();
  old.tracker.identify('ann');
  page.leave();
  await later();
  openPage();
  const next = start({ baseUrl: '/clew', store, transport, consent: 'required' });
  next.tracker.consent(true);
  next.tracker.track('after');
  await later(20_000);
  expect([old.events('after').map(({ correlationValue }) => correlationValue === refused)]).toEqual([[false]]);
});

it('a page that returns while the browser deletes the database, and leaves at once, stores and sends nothing', async () => {
  connectTabs();
  const page = openPage();
  const base = createMemoryStore();
  const old = start({ baseUrl: '/clew', store: base });
  const { transport } = old;
  await later();
  page.leave();
  openPage();
  // The browser deletes the database a moment after the page that has refused.
  const clear: typeof base.clear = (...what) => void setTimeout(() => base.clear(...what), 40);
  const other = start({ baseUrl: '/clew', store: { ...base, clear }, transport });
  await later();
  other.tracker.consent(false);
  other.tracker.stop();
  page.restore();
  await later(10);
  old.tracker.track('in doubt');
  await later(1);
  const open = Object.keys(localStorage);
  page.leave();
  await later();
  expect([open, Object.keys(localStorage), old.names()]).toEqual([[], [], []]);
});

it('a plugin of a page that may have missed a refusal stores nothing', async () => {
  connectTabs();
  const page = openPage();
  const plugins = [sessions()];
  const old = start({ baseUrl: '/clew', plugins });
  const { store, transport } = old;
  await later();
  page.leave();
  openPage();
  const other = start({ baseUrl: '/clew', store, transport });
  await later();
  other.tracker.consent(false);
  await later();
  other.tracker.stop();
  page.restore();
  old.tracker.track('in doubt');
  page.leave();
  await later();
  expect({ ...localStorage }).toEqual({});
});

it.each(['required', 'granted'] as const)(
  'a consent as the page leaves (%s) ends with a later refusal in another tab',
  async (consent) => {
    connectTabs();
    const base = createMemoryStore();
    let release = () => {};
    let held: Promise<void> | undefined;
    // A frozen page's transaction goes on when the page is back.
    const transact: typeof base.transact = async (...what) => {
      await held;
      return base.transact(...what);
    };
    const page = openPage();
    const old = start({ baseUrl: '/clew', store: { ...base, transact }, consent });
    const { transport } = old;
    await later();
    if (consent === 'granted') old.tracker.consent(false);
    await later();
    held = new Promise((resolve) => {
      release = resolve;
    });
    page.leave();
    old.tracker.consent(true);
    openPage();
    const other = start({ baseUrl: '/clew', store: base, transport });
    await later();
    other.tracker.consent(false);
    await later();
    held = undefined;
    page.restore();
    release();
    await later();
    old.tracker.track('after');
    await later(20_000);
    expect([old.names(), old.dropped, Object.keys(localStorage)]).toEqual([[], [['after', 'consent']], []]);
  },
);

it('a call while the page is away does not end the page that returns in the same task', async () => {
  const page = openPage();
  const { tracker, names } = start({ baseUrl: '/clew' });
  await later();
  page.leave();
  await later();
  tracker.track('away');
  page.restore();
  await later();
  const known: unknown[] = [];
  tracker.correlationValue().then(
    (id) => known.push(typeof id),
    () => {},
  );
  await later(20_000);
  expect([names(), known]).toEqual([['away'], ['string']]);
});

it.each(['returns', 'loads'] as const)(
  'a record that a leaving page writes after a refusal brings no visitor back when a page %s',
  async (how) => {
    connectTabs();
    const base = createMemoryStore();
    let isBusy = false;
    // The page leaves before its transaction is done, or the database fails.
    const transact: typeof base.transact = async (...what) => (isBusy ? undefined : base.transact(...what));
    openPage();
    const first = start({ baseUrl: '/clew', store: { ...base, transact } });
    const { transport } = first;
    await later();
    const page = openPage();
    const second = start({ baseUrl: '/clew', store: base, transport });
    await later();
    // Both in one moment: the message about the refusal has not arrived yet.
    second.tracker.reset();
    const refused = second.tracker.correlationValue();
    first.tracker.consent(false);
    page.leave();
    await later();
    isBusy = true;
    first.tracker.consent(true);
    await later(1);
    const mark = localStorage['clew.used /clew'];
    first.tracker.stop();
    let last = second;
    if (how === 'returns') page.restore();
    else {
      openPage();
      last = start({ baseUrl: '/clew', store: base, transport });
    }
    await later(5000);
    expect([mark, await last.tracker.correlationValue()]).toEqual([
      expect.stringContaining('!'),
      expect.not.stringMatching(await refused),
    ]);
  },
);

it.each(['leave', 'stop'] as const)(
  'a refusal after its page has left or stopped (%s) reaches the other tabs',
  async (how) => {
    connectTabs();
    const page = openPage();
    const first = start({ baseUrl: '/clew' });
    const { store, transport } = first;
    await later();
    openPage();
    const second = start({ baseUrl: '/clew', store, transport });
    await later();
    if (how === 'leave') page.leave();
    else first.tracker.stop();
    first.tracker.consent(false);
    await later();
    second.tracker.track('after');
    await later(20_000);
    expect([first.names(), second.dropped, Object.keys(localStorage)]).toEqual([[], [['after', 'consent']], []]);
  },
);

it('a page that left before the database had answered brings no refused visitor back when it returns', async () => {
  const base = createMemoryStore();
  const page = openPage();
  const hanging: typeof base.transact = () => new Promise(() => {});
  const old = start({ baseUrl: '/clew', store: { ...base, transact: hanging } });
  const { transport } = old;
  old.tracker.identify('bob');
  await later(5);
  page.leave();
  openPage();
  const other = start({ baseUrl: '/clew', store: base, transport });
  const refused = await other.tracker.correlationValue();
  await later();
  other.tracker.consent(false);
  other.tracker.consent(true);
  const renewed = await other.tracker.correlationValue();
  await later();
  page.restore();
  other.tracker.track('after');
  await later(20_000);
  const [after] = old.events('after');
  expect([renewed === refused, after?.correlationValue === renewed]).toEqual([false, true]);
});

it('a page whose mark a crash of the browser has brought back goes on with the record', async () => {
  openPage();
  const base = createMemoryStore();
  const first = start({ baseUrl: '/clew', store: base });
  const { transport } = first;
  await later();
  first.tracker.consent(false);
  first.tracker.consent(true);
  const known = await first.tracker.correlationValue();
  await later();
  const [, ended] = JSON.parse(localStorage['clew.used /clew']).split('!');
  first.tracker.stop();
  await later();
  localStorage['clew.used /clew'] = ended;
  openPage();
  const transact = vi.fn(base.transact) as unknown as typeof base.transact;
  const next = start({ baseUrl: '/clew', store: { ...base, transact }, transport });
  next.tracker.track('after');
  await later(20_000);
  expect([first.names(), next.dropped, await next.tracker.correlationValue()]).toEqual([['after'], [], known]);
  expect(vi.mocked(transact).mock.calls.length).toBeLessThan(20);
});
