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
  const record = () =>
    new Promise<unknown>((resolve) => void store.transact([], 'visitor', (stored) => void resolve(stored)));
  return { ...tabs, page, first, second, clearRecord, clearAll, record };
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
    expect.stringMatching(`^[\\da-f]{8}!${refused}$`),
  ]);
});
