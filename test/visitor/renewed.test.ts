// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Store } from '../../src/index.ts';
import { clearLocal, connectTabs, createMemoryStore, openPage, settle, slowed, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

/** The visitor refuses in a second page, and consents again. The first page receives neither. */
const refuseAndConsent = async (store: Store, transport: ReturnType<typeof start>['transport']) => {
  openPage();
  const second = start({ baseUrl: '/clew', store, transport });
  await later();
  second.tracker.consent(false);
  await later();
  second.tracker.consent(true);
  await later();
  return second;
};

const openFirst = (store: Store = createMemoryStore()) => {
  connectTabs();
  const page = openPage();
  return { page, ...start({ baseUrl: '/clew', store }) };
};

/** A page that leaves with an event that it could not send. */
const leaveWithEvent = async (leave: (first: ReturnType<typeof openFirst>) => void) => {
  const first = openFirst();
  await first.tracker.flush();
  first.fail();
  first.tracker.track('before');
  await later();
  first.page.navigator.onLine = false;
  leave(first);
  await later();
  first.page.navigator.onLine = true;
  const second = await refuseAndConsent(first.store, first.transport);
  first.recover();
  return { first, second };
};

describe('after a refusal and another consent, a page from the back/forward cache that has missed both', () => {
  it('does not bring back the visitor who has refused', async () => {
    const { store, page, tracker, transport, events } = openFirst();
    tracker.identify('ann');
    await tracker.flush();
    const refused = await tracker.correlationValue();
    page.leave();
    await later();
    const second = await refuseAndConsent(store, transport);
    const fresh = await second.tracker.correlationValue();
    expect(fresh).not.toBe(refused);
    page.restore();
    await later();
    second.tracker.track('there');
    tracker.track('here');
    await second.tracker.flush();
    await tracker.flush();
    expect(await Promise.all([second.tracker.correlationValue(), tracker.correlationValue()])).toEqual([fresh, fresh]);
    const ids = ['there', 'here'].map((name) => events(name).map(({ correlationValue }) => correlationValue));
    expect(ids).toEqual([[fresh], [fresh]]);
  });

  it.each([
    ['in another tab and in this page', true],
    ['in this page only', false],
  ])('keeps the calls after a consent %s, before the database has answered', async (_, isRenewed) => {
    const { store, page, tracker, transport, events, dropped } = openFirst();
    await tracker.flush();
    tracker.track('sent');
    await tracker.flush();
    const refused = await tracker.correlationValue();
    page.leave();
    await later();
    const second = await refuseAndConsent(store, transport);
    if (!isRenewed) second.tracker.consent(false);
    await later();
    page.restore();
    tracker.track('in doubt');
    tracker.identify('bob');
    tracker.consent(true);
    tracker.track('after');
    tracker.consent(true);
    tracker.setProperties({ plan: 'pro' });
    tracker.identify('ann');
    tracker.track('later');
    await later();
    tracker.track('next');
    await later(20_000);
    expect([dropped, tracker.stats()]).toEqual([
      [['in doubt', 'consent']],
      { tracked: 6, delivered: 5, queued: 0, dropped: { consent: 1 } },
    ]);
    const id = await tracker.correlationValue();
    expect(id).not.toBe(refused);
    const load = events('after')[0]?.seq?.[0];
    expect(events().slice(1)).toMatchObject([
      { event: 'after', correlationValue: id, seq: [load, 1] },
      { event: '$identify', correlationValue: id, payload: { distinct_id: 'ann' } },
      { event: 'later', correlationValue: id, seq: [load, 2] },
      { event: 'next', correlationValue: id, seq: [load, 4] },
    ]);
    expect(events('sent')[0]?.seq?.[0]).not.toBe(load);
  });

  it('drops the events that the refusal has erased', async () => {
    const { first } = await leaveWithEvent(({ page }) => page.leave());
    first.page.restore();
    await later(20_000);
    expect(first.events('before')).toEqual([]);
    expect(first.tracker.stats()).toMatchObject({ delivered: 0, dropped: { consent: 1 } });
  });

  it('sends none of them if it leaves again at once', async () => {
    const { first } = await leaveWithEvent(({ page }) => page.leave());
    first.page.restore();
    first.page.leave();
    await later();
    expect(first.events('before')).toEqual([]);
  });

  it('keeps what another page has stored since', async () => {
    const { first, second } = await leaveWithEvent(({ page }) => page.leave());
    first.fail();
    second.tracker.setProperties({ plan: 'pro' });
    second.tracker.track('since');
    await later();
    first.page.restore();
    await later();
    first.recover();
    second.tracker.identify('ann');
    await second.tracker.flush();
    expect(first.events('since')).toHaveLength(1);
    expect(first.upserts().map(({ properties }) => properties)).toEqual([{ plan: 'pro' }]);
  });

  it('keeps it also if the site has deleted the record', async () => {
    const { first, second } = await leaveWithEvent(({ page }) => page.leave());
    first.fail();
    second.tracker.track('since');
    await later();
    const id = await second.tracker.correlationValue();
    first.store.clear('/other', ['visitor']);
    first.page.restore();
    await later();
    first.recover();
    first.tracker.consent(true);
    await later();
    await second.tracker.flush();
    await later(20_000);
    expect([first.events('since').length, second.dropped]).toEqual([1, []]);
    expect(await Promise.all([first.tracker.correlationValue(), second.tracker.correlationValue()])).toEqual([id, id]);
  });
});

describe("the visitor's first page, which has left into the back/forward cache before the database has answered", () => {
  /** The visitor refuses and consents again in another page, so often. */
  const openBefore = async (times: number) => {
    const first = openFirst(slowed(createMemoryStore(), 5));
    first.tracker.identify('ann');
    first.page.leave();
    await later();
    const options = { baseUrl: '/clew', store: first.store, transport: first.transport };
    openPage();
    const { tracker } = start(options);
    await later(5000);
    for (let n = 0; n < times; n++) {
      tracker.consent(false);
      await later(5000);
      tracker.consent(true);
      await later(5000);
    }
    /** The visitor id of the event with this name. */
    const idOf = (name: string) => first.events().find(({ event }) => event === name)?.correlationValue;
    return { first, other: tracker, options, idOf };
  };

  it.each([1, 2, 3])('does not go on as the customer from before %i refusals', async (times) => {
    const { first, other, idOf } = await openBefore(times);
    other.track('other');
    await later(5000);
    first.page.restore();
    await later(5000);
    first.tracker.track('after');
    other.track('later');
    await later(20_000);
    expect(idOf('other')).not.toBe(idOf('$identify'));
    expect([idOf('after'), idOf('later')]).toEqual([idOf('other'), idOf('other')]);
  });

  it('erases no journal of the new consent', async () => {
    const { first, options, idOf } = await openBefore(1);
    const page = openPage();
    const last = start(options);
    page.navigator.onLine = false;
    last.tracker.track('journaled');
    page.leave();
    first.page.restore();
    await later(5000);
    openPage();
    start(options);
    await later(20_000);
    expect(idOf('journaled')).toBeTruthy();
  });
});

it("the visitor's first page drops its events although the page of the later consent knows of no refusal", async () => {
  const first = openFirst(slowed(createMemoryStore(), 500));
  const { page, store, transport } = first;
  first.fail();
  first.tracker.track('refused');
  page.leave();
  await later();
  const refusing = openPage();
  const second = start({ baseUrl: '/clew', store, transport });
  await later(5000);
  second.tracker.consent(false);
  await later();
  refusing.leave();
  openPage();
  start({ baseUrl: '/clew', store, transport });
  first.recover();
  await later(5000);
  page.restore();
  await later(20_000);
  expect([first.names(), first.dropped]).toEqual([[], [['refused', 'consent']]]);
});

it('a page that leaves, and then learns that its transaction was complete before a refusal, leaves nothing', async () => {
  const base = createMemoryStore();
  const transact: Store['transact'] = async (...what) => {
    const done = await base.transact(...what);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return done;
  };
  const { page, tracker, transport, fail, recover, names } = openFirst({ ...base, transact });
  openPage();
  const other = start({ baseUrl: '/clew', store: base, transport });
  await later(5);
  fail();
  tracker.track('refused');
  page.leave();
  other.tracker.consent(false);
  await later();
  expect(Object.keys(localStorage)).toEqual([]);
  recover();
  page.restore();
  await later(20_000);
  expect(names()).toEqual([]);
});

describe('a page that has guessed its epoch keeps its events after the back/forward cache', () => {
  /** A page that the database answers, and that comes back from the back/forward cache. */
  const openNext = async ({ transport, names }: ReturnType<typeof openFirst>, store: Store) => {
    const page = openPage();
    const { tracker, dropped } = start({ baseUrl: '/clew', store, transport });
    await later(5000);
    tracker.track('before');
    page.leave();
    await later();
    page.restore();
    await later(100);
    tracker.track('after');
    await later(10_000);
    expect([dropped, names()]).toEqual([[], ['before', 'after']]);
  };
  const answerAgain = async (first: ReturnType<typeof openFirst>) => {
    await later(5000);
    first.tracker.consent(false);
    await later(5000);
    first.tracker.consent(true);
  };

  it.each([0, 3_600_000])(
    'although the clock is set back by %i ms, and the site deletes its localStorage',
    async (back) => {
      const first = openFirst();
      await answerAgain(first);
      await later(5000);
      first.tracker.stop();
      await later();
      vi.setSystemTime(Date.now() - back);
      clearLocal();
      await openNext(first, first.store);
    },
  );

  it.each([1, 2])('although a SIGKILL brings back the guess from before %i refusals', async (times) => {
    const base = createMemoryStore();
    const first = openFirst(slowed(base, 50));
    await later(10);
    const before = { ...localStorage };
    for (let n = 0; n < times; n++) await answerAgain(first);
    await later(5000);
    first.tracker.stop();
    await later();
    clearLocal();
    Object.assign(localStorage, before);
    await openNext(first, base);
  });
});

describe('after a refusal and another consent, a tracker that was stopped', () => {
  it('sends no event with the visitor id that was refused', async () => {
    const { store, tracker, transport, events } = openFirst();
    tracker.identify('ann');
    await tracker.flush();
    const refused = await tracker.correlationValue();
    tracker.stop();
    const second = await refuseAndConsent(store, transport);
    tracker.track('stopped');
    await later();
    second.tracker.track('since');
    await second.tracker.flush();
    expect(events('stopped')).toEqual([]);
    expect(events('since').map(({ correlationValue }) => correlationValue)).not.toContain(refused);
  });

  it('sends no event that the refusal has erased', async () => {
    const { first } = await leaveWithEvent(({ tracker }) => tracker.stop());
    first.tracker.track('after');
    await later();
    expect(first.events('before')).toEqual([]);
  });
});

it('the entries of a late tab bring back no visitor who has refused and consented again', async () => {
  const { freeze, thaw } = connectTabs();
  openPage();
  const first = start({ baseUrl: '/clew' });
  const { store, transport } = first;
  await first.tracker.flush();
  const second = start({ baseUrl: '/clew', store, transport });
  await second.tracker.flush();
  const refused = await second.tracker.correlationValue();
  freeze();
  second.tracker.consent(false);
  await later();
  first.tracker.identify('ann');
  expect(localStorage['clew.hint']).toContain(refused);
  second.tracker.consent(true);
  await later();
  const fresh = await second.tracker.correlationValue();
  await thaw();
  await later();
  expect([fresh === refused, await first.tracker.correlationValue()]).toEqual([false, fresh]);
});

it('a visitor who refuses while identify() is being stored, and consents at once, does not come back', async () => {
  openPage();
  const base = createMemoryStore();
  let held: Promise<void> | undefined;
  let release = () => {};
  // The transaction is complete, and its page learns of that a moment later.
  const transact: Store['transact'] = async (...what) => {
    const waits = held;
    const done = await base.transact(...what);
    await waits;
    return done;
  };
  const { tracker } = start({ baseUrl: '/clew', store: { ...base, transact } });
  await tracker.flush();
  held = new Promise((resolve) => {
    release = resolve;
  });
  tracker.identify('ann');
  await settle();
  held = undefined;
  tracker.consent(false);
  tracker.consent(true);
  await settle();
  const fresh = await tracker.correlationValue();
  release();
  await later();
  expect(await tracker.correlationValue()).toBe(fresh);
});

it.each([false, true])(
  'a record that a crashed page could not erase as the visitor refused counts as refused (back/forward cache: %s)',
  async (isCached) => {
    connectTabs();
    openPage();
    const base = createMemoryStore();
    const first = start({ baseUrl: '/clew', store: base });
    const refused = await first.tracker.correlationValue();
    await later();
    const mark = JSON.parse(localStorage['clew.used /clew']);
    first.tracker.stop();
    await later();
    // The page has refused and consented, and has crashed while the database was busy.
    clearLocal();
    localStorage['clew.used /clew'] = JSON.stringify(`5c9003bf!${mark}`);
    const page = openPage();
    const second = start({ baseUrl: '/clew', store: slowed(base, 500) });
    await later(100);
    if (isCached) page.leave();
    await later(100);
    if (isCached) page.restore();
    second.tracker.track('after');
    await later(10_000);
    expect([second.dropped, second.names()]).toEqual([[], ['after']]);
    expect(await second.tracker.correlationValue()).not.toBe(refused);
  },
);

it('a page in doubt takes no visitor whom a tab of an earlier version reports', async () => {
  const { freeze } = connectTabs();
  openPage();
  const store = createMemoryStore();
  const other = start({ baseUrl: '/clew', store });
  await later();
  const page = openPage();
  const { tracker } = start({ baseUrl: '/clew', store: slowed(store, 30), transport: other.transport });
  await later();
  page.leave();
  await later();
  other.tracker.consent(false);
  await later();
  other.tracker.consent(true);
  await later();
  const id = await other.tracker.correlationValue();
  freeze();
  page.restore();
  tracker.consent(true);
  // That tab has missed the refusal, and reports no epoch.
  const thread = '01234567-89ab-4cde-8f01-23456789abcd';
  new BroadcastChannel('clew /clew').postMessage({ thread, turn: 9e8, keys: {}, pages: 1 });
  await later(20_000);
  expect(await tracker.correlationValue()).toBe(id);
});
