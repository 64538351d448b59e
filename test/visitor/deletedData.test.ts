// @module-tag promise
import { expect, it, vi } from 'vitest';
import { epochIn } from '../../src/visitor/stored.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

/** Two tabs of one visitor. Messages to the first one can be late, as to a frozen page. */
const openTabs = async () => {
  const tabs = connectTabs();
  const page = openPage();
  const first = start({ baseUrl: '/clew' });
  const { store, transport } = first;
  await first.tracker.flush();
  openPage();
  const second = start({ baseUrl: '/clew', store, transport });
  await second.tracker.flush();
  await later();
  const clearRecord = () => store.clear('/other', ['visitor']);
  const clearAll = () => {
    for (const key of Object.keys(localStorage)) delete localStorage[key];
    store.clear('/clew', ['visitor', 'link /clew']);
  };
  return { ...tabs, page, first, second, store, clearRecord, clearAll };
};

it.each([
  ['', false],
  [', although the visitor has refused long before', true],
])(
  'an open tab drops nothing if a page from the back/forward cache takes the deletion for a refusal%s',
  async (_what, hasRefused) => {
    const { page, first, second, clearAll } = await openTabs();
    if (hasRefused) {
      first.tracker.consent(false);
      await later();
      second.tracker.consent(true);
      await later();
    }
    page.leave();
    await later();
    first.fail();
    second.tracker.track('unsent');
    await later();
    clearAll();
    page.restore();
    await later();
    first.tracker.consent(true);
    await later();
    first.recover();
    await later(20_000);
    await second.tracker.flush();
    expect([second.dropped, first.events('unsent').length]).toEqual([[], 1]);
    const ids = await Promise.all([first.tracker.correlationValue(), second.tracker.correlationValue()]);
    expect(ids[0]).toBe(ids[1]);
  },
);

it('an open tab takes another page’s mark without a record for no refusal', async () => {
  const { freeze, thaw, first, clearRecord, clearAll } = await openTabs();
  freeze();
  clearAll();
  openPage();
  const third = start({ baseUrl: '/clew', store: first.store, transport: first.transport });
  await third.tracker.flush();
  first.tracker.track('unsent');
  clearRecord();
  await thaw();
  await later(20_000);
  expect([first.dropped, first.events('unsent').length]).toEqual([[], 1]);
});

it('a tab that has missed a refusal identifies no visitor of the later consent', async () => {
  const { freeze, thaw, first, second, clearRecord } = await openTabs();
  clearRecord();
  freeze();
  second.tracker.consent(false);
  await later();
  second.tracker.consent(true);
  await later();
  second.tracker.reset();
  await later();
  first.tracker.identify('bob');
  await later(20);
  await thaw();
  await later();
  second.tracker.identify('ann');
  await later(20_000);
  const id = await second.tracker.correlationValue();
  const persons = first
    .events('$identify')
    .flatMap(({ correlationValue, payload }) => (correlationValue === id ? payload : []));
  expect(persons).toEqual([{ distinct_id: 'ann' }]);
});

it.each(['identify', 'reset'] as const)(
  'after a deletion and a refusal, a tab that learns of both late does not come back with %s()',
  async (method) => {
    const { freeze, thaw, first, second, clearAll } = await openTabs();
    second.tracker.stop();
    const refused = await first.tracker.correlationValue();
    freeze();
    clearAll();
    openPage();
    const third = start({ baseUrl: '/clew', store: first.store, transport: first.transport });
    await later();
    third.tracker.consent(false);
    third.tracker.consent(true);
    await later(5);
    first.tracker[method]('bob');
    await later(60);
    await thaw();
    await later(5000);
    const fresh = await third.tracker.correlationValue();
    expect([await first.tracker.correlationValue(), fresh === refused]).toEqual([fresh, false]);
  },
);

it('a tracker that was stopped after localStorage.clear() stores and sends nothing after a refusal', async () => {
  const { first, second, store } = await openTabs();
  first.fail();
  second.tracker.track('before');
  await later(5);
  for (const key of Object.keys(localStorage)) delete localStorage[key];
  second.tracker.stop();
  await later();
  first.tracker.consent(false);
  await later();
  second.tracker.track('after');
  await later();
  const stored = JSON.stringify([await store.read('/clew'), { ...localStorage }]);
  first.recover();
  first.tracker.consent(true);
  await later(20_000);
  expect([stored, first.names()]).toEqual(['[[],{}]', []]);
});

it('consent(true) in the task of a return from the back/forward cache counts after a deletion', async () => {
  connectTabs();
  const page = openPage();
  const { tracker, store, names, dropped } = start({ baseUrl: '/clew' });
  await later();
  page.leave();
  await later();
  for (const key of Object.keys(localStorage)) delete localStorage[key];
  store.clear('/clew', ['visitor', 'link /clew']);
  page.restore();
  tracker.consent(true);
  await later();
  tracker.track('since');
  await later(5000);
  expect([names(), dropped]).toEqual([['since'], []]);
});

it.each([true, false])(
  'a refusal from before the back/forward cache does not count after a deletion, of the record too: %s',
  async (isWhole) => {
    connectTabs();
    const page = openPage();
    const old = start({ baseUrl: '/clew' });
    const { store, transport } = old;
    await later();
    old.tracker.consent(false);
    await later();
    page.leave();
    const next = openPage();
    const fresh = start({ baseUrl: '/clew', store, transport, consent: 'required' });
    fresh.tracker.consent(true);
    await later();
    old.fail();
    fresh.tracker.track('unsent');
    await later(5);
    for (const key of Object.keys(localStorage)) delete localStorage[key];
    if (isWhole) store.clear('/clew', ['visitor', 'link /clew']);
    page.restore();
    old.tracker.consent(true);
    if (!isWhole) next.leave();
    await later();
    old.recover();
    await later(20_000);
    expect([fresh.dropped, old.events('unsent').length]).toEqual([[], 1]);
  },
);

it('a refusal ends an epoch whose name only a first page has guessed', async () => {
  openPage();
  const base = createMemoryStore();
  let release = () => {};
  let held: Promise<void> | undefined = new Promise((resolve) => {
    release = resolve;
  });
  // The transaction is complete, and its page learns of that a moment later.
  const transact: typeof base.transact = async (...what) => {
    const waits = held;
    const done = await base.transact(...what);
    await waits;
    return done;
  };
  const { tracker } = start({ baseUrl: '/clew', store: { ...base, transact } });
  const epoch = () =>
    new Promise<unknown>(
      (resolve) => void base.transact([], 'visitor', (stored) => void resolve(epochIn(stored, '/clew'))),
    );
  await settle();
  const refused = await epoch();
  held = undefined;
  tracker.consent(false);
  tracker.consent(true);
  release();
  await later();
  expect([refused, await epoch()]).toEqual([
    expect.stringMatching(/^\d+$/),
    expect.stringMatching(`^\\d{16}!${refused}$`),
  ]);
});

it('a page that comes back without its mark asks again after a transaction that failed', async () => {
  const base = createMemoryStore();
  const transact: typeof base.transact = (entries, name, change, query) => {
    const changeTwice: typeof change = (...found) => {
      change?.(...found);
      return change?.(...found);
    };
    return base.transact(entries, name, change && changeTwice, query);
  };
  const page = openPage();
  const { tracker, names } = start({ baseUrl: '/clew', store: { ...base, transact } });
  await tracker.flush();
  page.leave();
  await later();
  for (const key of Object.keys(localStorage)) delete localStorage[key];
  page.restore();
  await later(20_000);
  tracker.track('after');
  await tracker.flush();
  expect([await tracker.correlationValue(), names()]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), ['after']]);
});

it('a refusal while a doubtful page waits to ask again counts, and so does a later consent', async () => {
  const base = createMemoryStore();
  let isSlow = false;
  // The transaction is complete, and its page learns of that a moment later.
  const transact: typeof base.transact = async (...what) => {
    const done = await base.transact(...what);
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 10));
    return done;
  };
  const page = openPage();
  const { tracker, names, dropped } = start({ baseUrl: '/clew', store: { ...base, transact } });
  await tracker.flush();
  page.leave();
  await later();
  for (const key of Object.keys(localStorage)) delete localStorage[key];
  isSlow = true;
  page.restore();
  await later(5);
  tracker.consent(false);
  tracker.track('refused');
  await later();
  tracker.track('refused, too');
  tracker.consent(true);
  tracker.track('after');
  await later(20_000);
  expect([names(), dropped]).toEqual([
    ['after'],
    [
      ['refused', 'consent'],
      ['refused, too', 'consent'],
    ],
  ]);
});

it('an open tab takes the first visitor id that another tab has stored since the record was deleted', async () => {
  const { first, second, store, clearRecord } = await openTabs();
  const deleted = await first.tracker.correlationValue();
  clearRecord();
  delete localStorage['clew.hint'];
  openPage();
  const third = start({ baseUrl: '/clew', store, transport: first.transport });
  await later();
  const ids = await Promise.all([first, second, third].map(({ tracker }) => tracker.correlationValue()));
  const [id] = ids;
  expect([ids, id === deleted]).toEqual([[id, id, id], false]);
});
