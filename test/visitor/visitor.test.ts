// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Store, Tracker, TrackerOptions } from '../../src/index.ts';
import { markOf } from '../../src/visitor/record.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

type Test = ReturnType<typeof start>;

/** Time passes until the next page is loaded. */
const later = () => vi.advanceTimersByTimeAsync(1000);

/** The same store, whose database answers this page when `answer` is called. After the page has left, transactions fail. */
const slow = (store: Store) => {
  let answer = () => {};
  let isLeft = false;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const late: Store = {
    ...store,
    async transact(...what) {
      await answered;
      return isLeft ? undefined : store.transact(...what);
    },
    isOpen: () => false,
    abort() {
      isLeft = true;
    },
  };
  return { late, answer };
};

/** Opens a page, whose network is away if it `isOffline`. */
const open = (store: Store, options: Partial<TrackerOptions> = {}, isOffline = false) => {
  const page = openPage();
  page.navigator.onLine = !isOffline;
  const test = start({ baseUrl: '/clew', store, ...options });
  if (isOffline) test.fail();
  return { page, ...test };
};

/** A page that leaves before the database has answered, after these calls in one task. */
const leaveEarly = async (store: Store, calls: (tracker: Tracker) => void, isOffline = false, isAnswered = true) => {
  const { late, answer } = slow(store);
  const test = open(late, {}, isOffline);
  calls(test.tracker);
  test.page.leave();
  if (isAnswered) answer();
  await later();
  return test;
};

/** Opens a page, waits until everything is sent, and closes it. */
const visit = async (store: Store, calls: (tracker: Tracker) => void = () => {}) => {
  const test = open(store);
  calls(test.tracker);
  await test.tracker.flush();
  test.page.leave();
  await later();
  return test;
};

/** All events that have arrived, each once, in the order of their pages. A duplicate has the visitor id of the first. */
const eventsOf = (...tests: Pick<Test, 'events'>[]) => {
  const found = new Map<string, ReturnType<Test['events']>[number]>();
  for (const event of tests.flatMap(({ events }) => events())) {
    const first = found.get(event.uuid) ?? event;
    expect([event.event, event.correlationValue]).toEqual([first.event, first.correlationValue]);
    found.set(event.uuid, first);
  }
  return [...found.values()];
};
/** Which customers have been identified with each visitor id. */
const customers = (...tests: Pick<Test, 'events'>[]) => {
  const found: Record<string, string[]> = {};
  for (const { event, correlationValue, payload } of eventsOf(...tests))
    if (event === '$identify')
      found[correlationValue] = [...(found[correlationValue] ?? []), (payload as { distinct_id: string }).distinct_id];
  return found;
};
/** The customers of each visitor id, in the order of `$identify`. */
const identified = (...tests: Pick<Test, 'events'>[]) => Object.values(customers(...tests));

const journals = () => Object.keys(localStorage).filter((key) => key.startsWith('clew.page'));

describe('identify and a departure in one task', () => {
  it.each([
    ['is open already', true],
    ['answers after the departure', false],
  ])('give another customer a new visitor id, if the database %s', async (_what, isOpen) => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.identify('ann'));
    const bob = (tracker: Tracker) => {
      tracker.identify('bob');
      tracker.track('of bob');
    };
    let second: Test;
    if (isOpen) {
      const test = open(store);
      await test.tracker.flush();
      bob(test.tracker);
      test.page.leave();
      await later();
      second = test;
    } else second = await leaveEarly(store, bob);
    const third = await visit(store, (tracker) => tracker.track('after'));
    expect(identified(first, second, third)).toEqual([['ann'], ['bob']]);
    const [id] = Object.entries(customers(second, third)).find(([, keys]) => keys.includes('bob')) ?? [];
    for (const { event, correlationValue } of eventsOf(second, third))
      expect([event, correlationValue]).toEqual([event, id]);
    expect(
      eventsOf(second, third)
        .map(({ event }) => event)
        .sort(),
    ).toEqual(['$identify', 'after', 'of bob']);
  });

  it('do so if the network is away, too: the next page sends them', async () => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.identify('ann'));
    const second = await leaveEarly(store, (tracker) => tracker.identify('bob'), true);
    expect(second.names()).toEqual([]);
    const third = await visit(store);
    expect(identified(first, third)).toEqual([['ann'], ['bob']]);
  });

  it('do so after the site has deleted its database, but not its localStorage', async () => {
    const first = await visit(createMemoryStore(), (tracker) => tracker.identify('ann'));
    const store = createMemoryStore();
    const second = await leaveEarly(store, (tracker) => tracker.identify('bob'));
    const third = await visit(store, (tracker) => tracker.track('after'));
    expect(identified(first, second, third)).toEqual([['ann'], ['bob']]);
    expect(customers(first, second, third)[third.events('after')[0]?.correlationValue ?? '']).toEqual(['bob']);
  });

  it('do so after the site has deleted both, since the visitor id is new', async () => {
    const first = await visit(createMemoryStore(), (tracker) => tracker.identify('ann'));
    for (const key of Object.keys(localStorage)) delete localStorage[key];
    const store = createMemoryStore();
    const second = await leaveEarly(store, (tracker) => tracker.identify('bob'));
    const third = await visit(store);
    expect(identified(first, second, third)).toEqual([['ann'], ['bob']]);
  });

  it('do so after the site has deleted its localStorage, but not its database', async () => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.identify('ann'));
    for (const key of Object.keys(localStorage)) delete localStorage[key];
    const second = await leaveEarly(store, (tracker) => tracker.identify('bob'));
    const third = await visit(store);
    // Bob keeps the id of the page that left.
    expect(identified(first, second, third)).toEqual([['ann'], ['bob']]);
    expect(await third.tracker.correlationValue()).toBe(second.events()[0]?.correlationValue);
  });

  it('do so if an earlier version has left the visitor id only', async () => {
    const store = createMemoryStore();
    const visitorId = '01234567-89ab-4cde-8f01-23456789abcd';
    openPage();
    localStorage['clew.thread'] = JSON.stringify(visitorId);
    await store.transact([['visitor', { thread: visitorId, turn: 0, keys: { '/clew': ['ann', null] }, pages: 3 }]]);
    const second = await leaveEarly(store, (tracker) => tracker.identify('bob'));
    const third = await visit(store);
    expect(identified(second, third)).toEqual([['bob']]);
    expect(customers(second, third)).not.toHaveProperty(visitorId);
  });

  it.each([
    ['has answered', true],
    ['has not answered', false],
  ])('do so if identify comes after the departure, and the database %s', async (_what, isAnswered) => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.identify('ann'));
    const { late, answer } = slow(store);
    const second = open(late);
    if (isAnswered) {
      answer();
      await second.tracker.flush();
    }
    second.page.leave();
    second.tracker.identify('bob');
    second.tracker.track('of bob');
    await later();
    const third = await visit(store, (tracker) => tracker.track('after'));
    expect(identified(first, second, third)).toEqual([['ann'], ['bob']]);
    const [id] = Object.entries(customers(second, third)).find(([, keys]) => keys.includes('bob')) ?? [];
    expect(eventsOf(second, third).map(({ correlationValue }) => correlationValue)).toEqual([id, id, id]);
  });

  it('keep the visitor id of an anonymous visitor, and send $identify once', async () => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.track('before'));
    const second = await leaveEarly(store, (tracker) => tracker.identify('ann'));
    const third = await visit(store, (tracker) => tracker.identify('ann'));
    const [before] = first.events();
    expect(customers(second, third)).toEqual({ [before?.correlationValue ?? '']: ['ann'] });
  });

  it('send no second $identify of the same customer', async () => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.identify('ann'));
    const second = await leaveEarly(store, (tracker) => tracker.identify('ann'));
    const third = await visit(store);
    expect(Object.keys(customers(first, second, third))).toHaveLength(1);
  });

  it('on a page before the next one, too: each customer has a visitor id', async () => {
    const store = createMemoryStore();
    const tests = [await visit(store, (tracker) => tracker.identify('ann'))];
    for (const key of ['bob', 'ann', 'cid']) tests.push(await leaveEarly(store, (tracker) => tracker.identify(key)));
    tests.push(await visit(store));
    expect(identified(...tests)).toEqual([['ann'], ['bob'], ['ann'], ['cid']]);
  });
});

describe('two trackers of two services on one page', () => {
  /** Both trackers, on a page and a store that they share. */
  const openBoth = (store: Store) => {
    const page = openPage();
    return { page, both: [start({ baseUrl: '/one', store }), start({ baseUrl: '/two', store })] as const };
  };

  it.each([
    ['one after the other', true],
    ['in one task', false],
  ])('never give a visitor id to two customers of a service, if they identify %s', async (_what, isApart) => {
    const store = createMemoryStore();
    const tests: Test[][] = [[], []];
    for (const key of ['ann', 'bob', 'ann']) {
      const { page, both } = openBoth(store);
      for (const [i, test] of both.entries()) {
        tests[i]?.push(test);
        if (isApart) await test.tracker.flush();
        test.tracker.identify(key);
        if (isApart) await test.tracker.flush();
      }
      await Promise.all(both.map(({ tracker }) => tracker.flush()));
      page.leave();
      await later();
    }
    for (const ofService of tests) expect(identified(...ofService)).toEqual([['ann'], ['bob'], ['ann']]);
  });

  it('never do so if the pages leave before the database answers', async () => {
    const store = createMemoryStore();
    const tests: Test[][] = [[], []];
    for (const key of ['ann', 'bob', 'cid']) {
      const { late, answer } = slow(store);
      const { page, both } = openBoth(late);
      for (const [i, test] of both.entries()) {
        tests[i]?.push(test);
        test.tracker.identify(key);
      }
      page.leave();
      answer();
      await later();
    }
    const { both } = openBoth(store);
    for (const [i, test] of both.entries()) {
      tests[i]?.push(test);
      await test.tracker.flush();
    }
    for (const ofService of tests) {
      const persons = identified(...ofService);
      expect([...new Set(persons.flat())]).toEqual(['ann', 'bob', 'cid']);
      expect(persons.every(({ length }) => length === 1)).toBe(true);
    }
  });

  it.each([
    ['a first visit', false],
    ['a later visit', true],
  ])('keep the visitor id if they identify while a tab with one of them starts, on %s', async (_what, isLater) => {
    const store = createMemoryStore();
    if (isLater) await visit(store);
    const { late, answer } = slow(store);
    const { both } = openBoth(late);
    for (const { tracker } of both) tracker.identify('ann');
    await open(store, { baseUrl: '/one' }).tracker.flush();
    answer();
    for (const { tracker } of both) await tracker.flush();
    const [one, two] = both.map((test) => Object.entries(customers(test)));
    expect(one).toEqual([[await both[0].tracker.correlationValue(), ['ann']]]);
    expect(two).toEqual(one);
  });

  it('both remember their customer', async () => {
    const store = createMemoryStore();
    const first = openBoth(store);
    for (const { tracker } of first.both) tracker.identify('ann');
    for (const { tracker } of first.both) await tracker.flush();
    first.page.leave();
    await later();
    const second = openBoth(store);
    for (const { tracker } of second.both) {
      tracker.identify('ann');
      tracker.setProperties({ plan: 'pro' });
    }
    for (const { tracker } of second.both) await tracker.flush();
    for (const { names, upserts } of second.both) {
      expect(names()).toEqual([]);
      expect(upserts()).toMatchObject([{ primary_key: 'ann' }]);
    }
  });

  it('keep nothing of the customer of the refused service, and give the visitor id to no other one', async () => {
    const store = createMemoryStore();
    const first = openBoth(store);
    first.both[1].tracker.identify('ann', undefined, { signature: 'proof' });
    for (const { tracker } of first.both) await tracker.flush();
    first.page.leave();
    await later();
    const { page, both } = openBoth(store);
    const [one, two] = both;
    for (const { tracker } of both) await tracker.flush();
    two.tracker.consent(false);
    one.tracker.identify('cid', undefined, { signature: 'other' });
    await one.tracker.flush();
    let record: unknown;
    await store.transact([], 'visitor', (old) => {
      record = old;
      return undefined;
    });
    const theirs = new RegExp(`ann|proof|${markOf('ann')}`);
    const kept = () => JSON.stringify([record, { ...localStorage }]);
    expect(kept()).toContain('cid');
    expect(kept()).not.toMatch(theirs);
    page.leave();
    expect(kept()).not.toMatch(theirs);
    await later();
    const third = openBoth(store);
    third.both[1].tracker.identify('bob');
    for (const { tracker } of third.both) await tracker.flush();
    expect(identified(first.both[1], two, third.both[1])).toEqual([['ann'], ['bob']]);
  });
});

describe('a change on a page that leaves before the database answers', () => {
  const CHANGES: [string, (tracker: Tracker) => void][] = [
    ['reset()', (tracker) => tracker.reset()],
    ['identify() of another customer', (tracker) => tracker.identify('bob')],
  ];

  it.each(CHANGES)('reaches an open tab that asks for the visitor id: %s', async (_what, change) => {
    const store = createMemoryStore();
    const tab = open(store);
    tab.tracker.identify('ann');
    await tab.tracker.flush();
    const ann = await tab.tracker.correlationValue();
    await leaveEarly(store, change);
    expect(await tab.tracker.correlationValue()).not.toBe(ann);
    tab.tracker.track('after');
    await tab.tracker.flush();
    const after = await tab.tracker.correlationValue();
    expect(after).not.toBe(ann);
    expect(tab.events('after')).toMatchObject([{ correlationValue: after }]);
    const next = await visit(store, (tracker) => tracker.track('next'));
    expect(next.events('next')).toMatchObject([{ correlationValue: after }]);
  });

  it.each(CHANGES)('reaches an open tab at its next call, without a channel: %s', async (_what, change) => {
    const store = createMemoryStore();
    const tab = open(store);
    tab.tracker.identify('ann');
    await tab.tracker.flush();
    const ann = await tab.tracker.correlationValue();
    const gone = await leaveEarly(store, change);
    tab.tracker.track('after');
    await tab.tracker.flush();
    const after = await tab.tracker.correlationValue();
    expect(after).not.toBe(ann);
    expect(tab.events('after')).toMatchObject([{ correlationValue: after }]);
    const next = await visit(store, (tracker) => tracker.track('next'));
    expect(next.events('next')).toMatchObject([{ correlationValue: after }]);
    for (const keys of identified(tab, gone, next)) expect(keys).toHaveLength(1);
  });

  it.each(CHANGES)('reaches an open tab even if it is made after the departure: %s', async (_what, change) => {
    const store = createMemoryStore();
    const tab = open(store);
    tab.tracker.identify('ann');
    await tab.tracker.flush();
    const ann = await tab.tracker.correlationValue();
    const gone = open(slow(store).late);
    gone.page.leave();
    change(gone.tracker);
    await later();
    tab.tracker.track('after');
    await tab.tracker.flush();
    expect(tab.events('after')[0]?.correlationValue).not.toBe(ann);
    const next = await visit(store, (tracker) => tracker.track('next'));
    expect(next.events('next')[0]?.correlationValue).toBe(tab.events('after')[0]?.correlationValue);
    for (const keys of identified(tab, gone, next)) expect(keys).toHaveLength(1);
  });

  it('reaches an open tab whose next call identifies a third customer', async () => {
    const store = createMemoryStore();
    const tab = open(store);
    tab.tracker.identify('ann');
    await tab.tracker.flush();
    const gone = await leaveEarly(store, (tracker) => tracker.identify('bob'));
    tab.tracker.identify('cid');
    await tab.tracker.flush();
    expect(identified(tab, gone).flat().sort()).toEqual(['ann', 'bob', 'cid']);
    expect(identified(tab, gone)).toHaveLength(3);
  });

  it('is not overwritten by an open tab that leaves after it', async () => {
    const store = createMemoryStore();
    const tab = open(store);
    tab.tracker.identify('ann');
    await tab.tracker.flush();
    const ann = await tab.tracker.correlationValue();
    await leaveEarly(store, (tracker) => tracker.reset());
    tab.page.leave();
    await later();
    const next = await visit(store, (tracker) => tracker.track('next'));
    expect(next.events('next')[0]?.correlationValue).not.toBe(ann);
  });
});

describe('a $identify that is dropped as rejected', () => {
  /** A page whose `$identify` of Ann has been rejected. */
  const openRejected = async (store: Store) => {
    const test = open(store);
    await test.tracker.flush();
    test.fail(422);
    test.tracker.identify('ann', undefined, { signature: 'wrong' });
    await test.tracker.flush();
    test.recover();
    expect(test.dropped).toEqual([['$identify', 'rejected']]);
    return test;
  };

  it('is sent again by the next identify, with its signature and the same visitor id, and only once', async () => {
    const { tracker, events } = await openRejected(createMemoryStore());
    const id = await tracker.correlationValue();
    tracker.identify('ann', undefined, { signature: 'right' });
    tracker.identify('ann', undefined, { signature: 'right' });
    await tracker.flush();
    expect(events()).toMatchObject([{ event: '$identify', signature: 'right', correlationValue: id }]);
  });

  it('is sent again on a later page', async () => {
    const store = createMemoryStore();
    const { tracker, page } = await openRejected(store);
    const id = await tracker.correlationValue();
    await tracker.flush();
    page.leave();
    await later();
    const next = await visit(store, (one) => one.identify('ann', undefined, { signature: 'right' }));
    expect(next.events()).toMatchObject([{ event: '$identify', signature: 'right', correlationValue: id }]);
    const last = await visit(store, (one) => one.identify('ann', undefined, { signature: 'right' }));
    expect(last.events()).toEqual([]);
  });

  it('is sent again on a later page if its page leaves before the database has the drop', async () => {
    const store = createMemoryStore();
    let isStuck = false;
    const stuck: Store = {
      ...store,
      transact: (...what) => (isStuck && what[1] ? new Promise(() => {}) : store.transact(...what)),
    };
    const test = open(stuck);
    await test.tracker.flush();
    test.fail(422);
    const dropped = new Promise<void>((resolve) => {
      test.tracker.on('dropped', () => {
        isStuck = true;
        resolve();
      });
    });
    test.tracker.identify('ann', undefined, { signature: 'wrong' });
    test.tracker.flush();
    await dropped;
    test.page.leave();
    await later();
    const next = await visit(store, (tracker) => tracker.identify('ann', undefined, { signature: 'right' }));
    expect(next.events()).toMatchObject([{ event: '$identify', signature: 'right' }]);
  });

  it('is sent again on a later page if its page leaves in the task of the answer', async () => {
    const store = createMemoryStore();
    const test = open(store);
    await test.tracker.flush();
    test.fail(422);
    test.tracker.on('dropped', () => test.page.leave());
    test.tracker.identify('ann', undefined, { signature: 'wrong' });
    await test.tracker.flush();
    await later();
    expect(test.dropped).toEqual([['$identify', 'rejected']]);
    const next = await visit(store, (tracker) => tracker.identify('ann', undefined, { signature: 'right' }));
    expect(next.events()).toMatchObject([{ event: '$identify', signature: 'right' }]);
  });

  it('is sent again if a later page has sent it from the store, and it was rejected there', async () => {
    const store = createMemoryStore();
    const first = open(store, {}, true);
    await first.tracker.flush();
    first.tracker.identify('ann', undefined, { signature: 'wrong' });
    await settle();
    first.page.leave();
    await later();
    const second = open(store);
    second.fail(422);
    await second.tracker.flush();
    expect(second.requests.length).toBeGreaterThan(0);
    second.recover();
    second.tracker.identify('ann', undefined, { signature: 'right' });
    await second.tracker.flush();
    expect(second.events()).toMatchObject([{ event: '$identify', signature: 'right' }]);
  });

  it('is sent again by another tab', async () => {
    connectTabs();
    const store = createMemoryStore();
    const other = open(store);
    await other.tracker.flush();
    const { tracker } = await openRejected(store);
    await settle();
    other.tracker.identify('ann', undefined, { signature: 'right' });
    await other.tracker.flush();
    await tracker.flush();
    expect(eventsOf(other)).toMatchObject([{ event: '$identify', signature: 'right' }]);
  });

  it('leaves the visitor id to its customer', async () => {
    const store = createMemoryStore();
    const { tracker, events } = await openRejected(store);
    const id = await tracker.correlationValue();
    tracker.identify('bob');
    await tracker.flush();
    expect(events()).toHaveLength(1);
    expect(events()[0]?.correlationValue).not.toBe(id);
  });
});

it('a $identify that is dropped as full is sent again by the next identify', async () => {
  const test = open(createMemoryStore(), { maxQueuedEvents: 1 });
  await test.tracker.flush();
  test.fail();
  test.tracker.track('first');
  test.tracker.identify('ann');
  await settle();
  expect(test.dropped).toEqual([['$identify', 'full']]);
  test.recover();
  await test.tracker.flush();
  test.tracker.identify('ann');
  await test.tracker.flush();
  expect(test.names()).toEqual(['first', '$identify']);
});

describe('a refusal and a consent in one task', () => {
  it('end in one new visitor id in two tabs', async () => {
    connectTabs();
    const store = createMemoryStore();
    const [one, two] = [open(store), open(store)];
    for (const { tracker } of [one, two]) await tracker.flush();
    const before = await one.tracker.correlationValue();
    one.tracker.consent(false);
    one.tracker.consent(true);
    await settle();
    for (const { tracker } of [one, two]) {
      tracker.track('after');
      await tracker.flush();
    }
    await settle();
    const ids = [...one.events('after'), ...two.events('after')].map(({ correlationValue }) => correlationValue);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe(before);
    expect(await one.tracker.correlationValue()).toBe(ids[0]);
    expect(await two.tracker.correlationValue()).toBe(ids[0]);
  });

  it('send nothing of before, not even from a page after a crash', async () => {
    const store = createMemoryStore();
    let isOpen = true;
    let isStuck = false;
    const stuck: Store = {
      ...store,
      isOpen: () => isOpen,
      transact: (...what) => (isStuck ? new Promise(() => {}) : store.transact(...what)),
    };
    const first = open(stuck);
    await first.tracker.flush();
    first.fail();
    isOpen = false;
    isStuck = true;
    first.tracker.track('refused');
    await Promise.resolve();
    expect(journals()).toHaveLength(1);
    first.tracker.consent(false);
    expect(journals()).toEqual([]);
    first.tracker.consent(true);
    first.tracker.track('accepted');
    expect(first.dropped).toEqual([['refused', 'consent']]);
    // The page crashes.
    vi.clearAllTimers();
    await later();
    const second = await visit(store);
    expect(second.names()).toEqual(['accepted']);
  });
});

describe('setProperties() and a departure in one task', () => {
  it.each([
    ['on a page that knows the customer', false],
    ['on a page that leaves before the database answers', true],
  ])('lose nothing %s', async (_what, isEarly) => {
    const store = createMemoryStore();
    await visit(store, (tracker) => tracker.identify('ann', undefined, { signature: 'proof' }));
    let page: Test;
    if (isEarly) page = await leaveEarly(store, (tracker) => tracker.setProperties({ plan: 'pro' }));
    else {
      const test = open(store);
      await test.tracker.flush();
      test.tracker.setProperties({ plan: 'pro' });
      test.page.leave();
      await later();
      page = test;
    }
    const next = await visit(store);
    const upserts = [...page.upserts(), ...next.upserts()];
    expect(upserts.length).toBeGreaterThan(0);
    for (const upsert of upserts)
      expect(upsert).toEqual({ primary_key: 'ann', properties: { plan: 'pro' }, signature: 'proof' });
    expect(journals()).toEqual([]);
  });

  it('lose nothing after identify in the same task', async () => {
    const store = createMemoryStore();
    const page = await leaveEarly(store, (tracker) => {
      tracker.identify('ann', { plan: 'pro' });
      tracker.setProperties({ seats: 2 });
    });
    const next = await visit(store);
    expect(identified(page, next)).toEqual([['ann']]);
    expect(next.upserts()).toEqual([
      { primary_key: 'ann', properties: { plan: 'pro' } },
      { primary_key: 'ann', properties: { seats: 2 } },
    ]);
  });

  it('lose nothing while the network is away', async () => {
    const store = createMemoryStore();
    await visit(store, (tracker) => tracker.identify('ann'));
    await leaveEarly(store, (tracker) => tracker.setProperties({ plan: 'pro' }), true);
    const next = await visit(store, (tracker) => tracker.setProperties({ plan: 'free' }));
    expect(next.upserts()).toEqual([
      { primary_key: 'ann', properties: { plan: 'pro' } },
      { primary_key: 'ann', properties: { plan: 'free' } },
    ]);
  });
});

it("another page's setProperties() that waits for the database blocks no handover", async () => {
  const store = createMemoryStore();
  const { late, answer } = slow(store);
  const waiting = open(late);
  waiting.tracker.setProperties({ plan: 'pro' });
  await later();
  const left = await leaveEarly(store, (tracker) => tracker.track('a'), false, false);
  expect(left.names()).toEqual(['a']);
  answer();
});

it('a new signature and a departure in one task: the next page sets properties with it', async () => {
  const store = createMemoryStore();
  await visit(store, (tracker) => tracker.identify('ann', undefined, { signature: 'old' }));
  const test = open(store);
  await test.tracker.flush();
  test.tracker.identify('ann', undefined, { signature: 'new' });
  test.page.leave();
  await later();
  const next = await visit(store, (tracker) => tracker.setProperties({ plan: 'pro' }));
  expect([...test.names(), ...next.names()]).toEqual([]);
  expect(next.upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' }, signature: 'new' }]);
});

describe('the journal of a page that has left', () => {
  it('is finished before the calls of the next page', async () => {
    const store = createMemoryStore();
    await leaveEarly(
      store,
      (tracker) => {
        tracker.track('a');
        tracker.identify('ann', { plan: 'pro' });
        tracker.track('b');
        tracker.reset();
        tracker.track('c');
      },
      true,
    );
    const next = await visit(store, (tracker) => {
      tracker.track('d');
      tracker.identify('bob', { plan: 'free' });
    });
    expect(next.names()).toEqual(['a', '$identify', 'b', 'c', 'd', '$identify']);
    const [a, ann, b, c, d, bob] = next.events().map(({ correlationValue }) => correlationValue);
    expect([ann, b]).toEqual([a, a]);
    expect([d, bob]).toEqual([c, c]);
    expect(c).not.toBe(a);
    expect(next.upserts().map(({ primary_key }) => primary_key)).toEqual(['ann', 'bob']);
    expect(journals()).toEqual([]);
  });

  it('is finished first if the next page begins in the same millisecond', async () => {
    const store = createMemoryStore();
    const first = open(slow(store).late, {}, true);
    first.tracker.track('a');
    first.tracker.reset();
    first.page.leave();
    const next = open(store);
    next.tracker.track('b');
    await next.tracker.flush();
    expect(next.names()).toEqual(['a', 'b']);
    const [a, b] = next.events().map(({ correlationValue }) => correlationValue);
    expect(b).not.toBe(a);
  });

  it('is known to a page that leaves before the database answers, too', async () => {
    const store = createMemoryStore();
    const first = await visit(store, (tracker) => tracker.track('x'));
    const early = await leaveEarly(store, (tracker) => {
      tracker.identify('ann');
      tracker.reset();
    });
    const second = await leaveEarly(store, (tracker) => tracker.track('y'));
    const third = await visit(store);
    const events = eventsOf(first, early, second, third);
    expect(events.map(({ event }) => event)).toEqual(['x', '$identify', 'y']);
    const [x, ann, y] = events.map(({ correlationValue }) => correlationValue);
    expect(ann).toBe(x);
    expect(y).not.toBe(x);
  });

  it('is finished with those of other pages in the order of time', async () => {
    const store = createMemoryStore();
    const pages = [slow(store), slow(store)].map(({ late }) => open(late, {}, true));
    const calls: [page: number, call: (tracker: Tracker) => void][] = [
      [0, (tracker) => tracker.track('a')],
      [1, (tracker) => tracker.identify('ann')],
      [0, (tracker) => tracker.track('b')],
      [1, (tracker) => tracker.reset()],
      [0, (tracker) => tracker.track('c')],
    ];
    for (const [page, call] of calls) {
      call((pages[page] as Test).tracker);
      await vi.advanceTimersByTimeAsync(10);
    }
    for (const { page } of pages) page.leave();
    await later();
    const next = await visit(store);
    expect(next.names()).toEqual(['a', '$identify', 'b', 'c']);
    const [a, ann, b, c] = next.events().map(({ correlationValue }) => correlationValue);
    expect([ann, b]).toEqual([a, a]);
    expect(c).not.toBe(a);
  });

  it('is finished in the order of the calls if the clock is set back between them', async () => {
    const store = createMemoryStore();
    await leaveEarly(
      store,
      (tracker) => {
        tracker.track('a');
        tracker.identify('ann');
        vi.setSystemTime(Date.now() - 60_000);
        tracker.track('b');
        tracker.reset();
        tracker.track('c');
      },
      true,
    );
    const next = await visit(store);
    expect(next.names()).toEqual(['a', '$identify', 'b', 'c']);
  });

  it.each([
    ['after a departure', true],
    ['after a crash', false],
  ])('is taken in once although two pages read it, %s', async (_what, isLeft) => {
    const store = createMemoryStore();
    const first = open(slow(store).late, {}, true);
    first.tracker.track('a');
    first.tracker.identify('ann', { plan: 'pro' });
    first.tracker.track('b');
    if (isLeft) first.page.leave();
    await later();
    const [second, third] = [open(store), open(store)];
    await Promise.all([second, third].map(({ tracker }) => tracker.flush()));
    await settle();
    expect([...second.names(), ...third.names()].sort()).toEqual(['$identify', 'a', 'b']);
    expect([...second.upserts(), ...third.upserts()]).toHaveLength(1);
    expect(await second.tracker.correlationValue()).toBe(await third.tracker.correlationValue());
    expect(second.tracker.stats().tracked + third.tracker.stats().tracked).toBe(3);
    await later();
    expect(journals()).toEqual([]);
  });

  it('is taken in once although the page that took it in crashed before it removed the journal', async () => {
    const store = createMemoryStore();
    await leaveEarly(
      store,
      (tracker) => {
        tracker.track('a');
        tracker.reset();
        tracker.track('b');
      },
      true,
    );
    const left = { ...localStorage };
    const second = await visit(store);
    const id = second.events('b')[0]?.correlationValue;
    Object.assign(
      localStorage,
      Object.fromEntries(Object.entries(left).filter(([key]) => key.startsWith('clew.page'))),
    );
    const third = await visit(store, (tracker) => tracker.track('c'));
    expect(second.names()).toEqual(['a', 'b']);
    expect(third.events()).toMatchObject([{ event: 'c', correlationValue: id }]);
    expect(journals()).toEqual([]);
  });

  it('has each event once, also if its own page returns from the back/forward cache', async () => {
    const store = createMemoryStore();
    const { late, answer } = slow(store);
    const first = open(late, {}, true);
    first.tracker.track('a');
    first.tracker.identify('ann');
    first.page.leave();
    await later();
    const second = await visit(store);
    expect(second.names()).toEqual(['a', '$identify']);
    first.recover();
    Object.assign(late, { transact: store.transact });
    answer();
    vi.stubGlobal('navigator', { onLine: true });
    first.page.restore();
    first.tracker.track('b');
    await first.tracker.flush();
    // A relay drops the duplicates of a page that was away.
    expect(eventsOf(second, first).map(({ event }) => event)).toEqual(['a', '$identify', 'b']);
    expect(new Set(eventsOf(second, first).map(({ correlationValue }) => correlationValue)).size).toBe(1);
    expect(journals()).toEqual([]);
  });

  it.each([
    ['of a customer', 'ann'],
    ['before identify', undefined],
  ])('is left to the page that has taken it in, properties %s included, and counts there', async (_what, key) => {
    const store = createMemoryStore();
    await visit(store, (tracker) => key && tracker.identify(key));
    const { late, answer } = slow(store);
    const first = open(late, {}, true);
    first.tracker.setProperties({ visits: 1 });
    first.tracker.track('a');
    first.page.leave();
    await later();
    const second = await visit(store, (tracker) => tracker.setProperties({ visits: 2 }));
    expect(second.names()).toEqual(['a']);
    first.recover();
    Object.assign(late, { transact: store.transact });
    answer();
    vi.stubGlobal('navigator', { onLine: true });
    first.page.restore();
    if (!key) first.tracker.identify('ann');
    first.tracker.track('b');
    await first.tracker.flush();
    expect(first.names()).toEqual(key ? ['b'] : ['$identify', 'b']);
    expect(first.tracker.stats()).toMatchObject({ tracked: key ? 1 : 2, queued: 0, delivered: key ? 1 : 2 });
    const visits = [...second.upserts(), ...first.upserts()].map(({ properties }) => properties?.visits);
    expect(visits.at(-1)).toBe(2);
    expect(visits).toHaveLength(key ? 2 : 1);
    expect(journals()).toEqual([]);
  });

  it('is finished by its own page if no other page has read it', async () => {
    const store = createMemoryStore();
    const { late } = slow(store);
    const first = open(late, {}, true);
    first.tracker.track('a');
    first.tracker.identify('ann', { plan: 'pro' });
    first.page.leave();
    await later();
    first.recover();
    Object.assign(late, { transact: store.transact });
    vi.stubGlobal('navigator', { onLine: true });
    first.page.restore();
    await first.tracker.flush();
    expect(first.names()).toEqual(['a', '$identify']);
    expect(first.upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
    expect(journals()).toEqual([]);
  });
});

describe('localStorage of other code or of an earlier version', () => {
  const visitorId = '01234567-89ab-4cde-8f01-23456789abcd';

  it.each<[string, string, string]>([
    ['a number as identity', 'clew.hint', `{"thread":"${visitorId}","turn":1,"keys":{"/clew":7},"pages":1}`],
    ['null as identity', 'clew.hint', `{"thread":"${visitorId}","turn":1,"keys":{"/clew":null},"pages":1}`],
    ['half a visitor', 'clew.page /clew other', `{"held":[{"index":1,"at":1,"visitor":{"thread":"${visitorId}"}}]}`],
    ['an invalid visitor id', 'clew.page /clew other', '{"held":[{"index":1,"at":1,"fresh":"nobody"}]}'],
  ])('with %s under %s affects no event and throws no error', async (_what, key, text) => {
    const page = openPage();
    localStorage[key] = text;
    const { tracker, names, errors, events } = start({ baseUrl: '/clew', store: createMemoryStore() });
    tracker.track('seen');
    await tracker.flush();
    expect(names()).toEqual(['seen']);
    expect(events()[0]?.correlationValue).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(errors).toEqual([]);
    page.leave();
  });

  it('with a changed visitor changes the visitor, each time that one is left', async () => {
    const store = createMemoryStore();
    const ids = [visitorId, visitorId.replace('0', '1')];
    for (const [i, id] of ids.entries()) {
      openPage();
      localStorage['clew.visitor'] = JSON.stringify({
        thread: id,
        turn: 3 + i,
        keys: { '/clew': ['ann', null] },
        pages: 1,
      });
      const { events } = await visit(store, (tracker) => tracker.track('seen'));
      expect(events()).toMatchObject([{ event: 'seen', correlationValue: id }]);
      expect(localStorage).not.toHaveProperty('clew.visitor');
    }
  });
});

describe('without a channel between two tabs', () => {
  it('a tab whose database answers late learns from the hint whom another one has identified', async () => {
    const store = createMemoryStore();
    const { late, answer } = slow(store);
    const first = open(late);
    const second = open(slow(store).late);
    second.tracker.identify('ann');
    answer();
    await later();
    second.page.leave();
    first.tracker.identify('bob');
    await later();
    expect(identified(second, first)).toEqual([['ann'], ['bob']]);
  });

  it('a tab that follows a change of another one has nothing of it to journal', async () => {
    const store = createMemoryStore();
    const [first, second] = [open(store), open(store)] as const;
    await Promise.all([first.tracker.flush(), second.tracker.flush()]);
    second.tracker.reset();
    await later();
    first.tracker.track('after');
    await first.tracker.flush();
    first.page.leave();
    expect(journals()).toEqual([]);
    await later();
    expect(first.events('after')[0]?.correlationValue).toBe(await second.tracker.correlationValue());
  });
});

it.each([
  ['when the database answers', false],
  ['before the database answers', true],
])(
  'a page that comes back, and sees %s that another tab has logged out, tracks for the visitor since',
  async (_when, isSeen) => {
    const store = createMemoryStore();
    const first = open(store);
    first.tracker.identify('ann');
    await first.tracker.flush();
    first.page.leave();
    await later();
    const stale = localStorage['clew.hint'];
    const second = open(store);
    second.tracker.reset();
    await second.tracker.flush();
    await later();
    const fresh = localStorage['clew.hint'];
    // A page that comes back may see the writes of other tabs a moment late.
    localStorage['clew.hint'] = stale;
    const { late, answer } = slow({ ...store });
    Object.assign(store, { transact: late.transact });
    first.page.restore();
    first.tracker.track('after');
    await Promise.resolve();
    localStorage['clew.hint'] = fresh;
    if (isSeen) first.tracker.track('seen');
    await Promise.resolve();
    answer();
    await first.tracker.flush();
    const id = await second.tracker.correlationValue();
    for (const event of first.events().slice(1)) expect(event).toMatchObject({ correlationValue: id });
    expect(first.names()).toEqual(['$identify', 'after', ...(isSeen ? ['seen'] : [])]);
    expect(await first.tracker.correlationValue()).toBe(id);
  },
);

it('flush() before the database has answered delivers all that was tracked before it', async () => {
  const { tracker, names } = open(createMemoryStore());
  const tracked = Array.from({ length: 950 }, (_, n) => `e${n}`);
  for (const name of tracked) tracker.track(name);
  const flushed = tracker.flush();
  await later();
  await flushed;
  expect(names()).toEqual(tracked);
  expect(tracker.stats()).toMatchObject({ delivered: 950, queued: 0 });
});

it('an event that another page has taken in is not dropped as full by its own page', async () => {
  const store = createMemoryStore();
  const { late, answer } = slow(store);
  const first = open(late, { maxQueuedEvents: 5 }, true);
  for (const name of ['a', 'b', 'c']) first.tracker.track(name);
  await later();
  const second = open(store, { maxQueuedEvents: 5 }, true);
  for (const name of ['d', 'e', 'f']) second.tracker.track(name);
  await later();
  answer();
  await later();
  expect([first.dropped, second.dropped]).toEqual([[], [['f', 'full']]]);
});

describe('a listener that tracks, called while calls that waited for the database are finished', () => {
  const namesOf = (test: Test) => test.events().map(({ event }) => event);

  it.each([
    ['error', 'too large', (tracker: Tracker) => tracker.identify('ann', { pad: '.'.repeat(3000) })],
    ['dropped', 'too large', (tracker: Tracker) => tracker.track('too large', { pad: '.'.repeat(3000) })],
  ] as const)('adds its event after them: %s, %s', async (signal, _what, call) => {
    const test = open(createMemoryStore(), { maxBatchBytes: 2000 });
    test.tracker.on(signal, () => test.tracker.track('of the listener'));
    call(test.tracker);
    test.tracker.track('of the page');
    await test.tracker.flush();
    expect(namesOf(test).filter((name) => name !== '$identify')).toEqual(['of the page', 'of the listener']);
  });

  it('adds its event after them, if an earlier page has left properties that are too large', async () => {
    const store = createMemoryStore();
    await visit(store, (tracker) => tracker.identify('ann'));
    await leaveEarly(store, (tracker) => tracker.setProperties({ pad: '.'.repeat(3000) }), false, false);
    const test = open(store, { maxBatchBytes: 2000 });
    test.tracker.on('error', () => test.tracker.track('of the listener'));
    test.tracker.track('of the page');
    await test.tracker.flush();
    expect(namesOf(test)).toEqual(['of the page', 'of the listener']);
  });
});
