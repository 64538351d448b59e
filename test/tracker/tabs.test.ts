// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { cookieDomain, type Store, type TrackerOptions } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, type Receiver, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

/** Two tabs of one origin: they share a store, and receive each other's messages. */
const openTabs = async (options: Partial<TrackerOptions> = {}) => {
  connectTabs();
  const store = createMemoryStore();
  const open = async () => {
    const page = openPage();
    const test = start({ baseUrl: '/clew', store, ...options });
    await test.tracker.flush();
    return { page, ...test };
  };
  return { first: await open(), second: await open(), store };
};

/** Messages of an unknown form, as another version of clew may post them. */
const UNKNOWN: readonly [what: string, message: unknown][] = [
  ['null', null],
  ['nothing', undefined],
  ['a text', 'reset'],
  ['a number', 7],
  ['an empty object', {}],
  ['an object with a version', { version: 2, pages: 3 }],
  ['a visitor without keys', { thread: '00000000-0000-4000-8000-000000000000', pages: 1 }],
  ['a visitor without an id', { thread: 5, keys: {}, pages: 1 }],
  ['an empty list', []],
  ['a list of other things', [1, 2, 3]],
  ['a list with missing parts', [[], undefined, []]],
];

describe('two tabs', () => {
  it.each(UNKNOWN)('ignore %s from another version of clew', async (_what, message) => {
    const { first, second } = await openTabs();
    const visitor = await second.tracker.correlationValue();
    second.fail();
    second.tracker.track('queued');
    const uncaught: unknown[] = [];
    const line = new BroadcastChannel('clew /clew') as BroadcastChannel & { receivers(): Receiver[] };
    for (const receive of line.receivers())
      try {
        receive({ data: message });
      } catch (error) {
        uncaught.push(error);
      }
    expect(uncaught).toEqual([]);
    expect(await second.tracker.correlationValue()).toBe(visitor);
    expect(second.tracker.stats()).toMatchObject({ queued: 1 });
    expect([first.errors, second.errors]).toEqual([[], []]);
  });

  it('have one visitor id, and number their events by themselves', async () => {
    const { first, second } = await openTabs();
    first.tracker.track('a');
    second.tracker.track('b');
    await first.tracker.flush();
    await second.tracker.flush();
    const events = [...first.events(), ...second.events()].sort((a, b) => (a.event < b.event ? -1 : 1));
    expect(events.map(({ seq }) => seq?.[1])).toEqual([1, 1]);
    expect(new Set(events.map(({ seq }) => seq?.[0])).size).toBe(2);
    expect(new Set(events.map(({ correlationValue }) => correlationValue)).size).toBe(1);
  });

  it('send the events of both, and each counts its own as delivered', async () => {
    const { first, second } = await openTabs();
    second.tracker.track('of the second');
    await settle();
    first.tracker.track('of the first');
    await first.tracker.flush();
    await settle();
    expect(first.names().sort()).toEqual(['of the first', 'of the second']);
    expect(second.requests).toEqual([]);
    expect([first.delivered, second.delivered]).toEqual([['of the first'], ['of the second']]);
    expect([first.tracker.stats().queued, second.tracker.stats().queued]).toEqual([0, 0]);
  });

  it.each<[string, (tracker: Awaited<ReturnType<typeof openTabs>>['first']['tracker']) => void]>([
    ['reset()', (tracker) => tracker.reset()],
    ['identify() with another key', (tracker) => tracker.identify('ben')],
  ])('change the visitor id together: %s', async (_what, change) => {
    const { first, second } = await openTabs();
    first.tracker.identify('ann');
    await settle();
    const before = await second.tracker.correlationValue();
    change(first.tracker);
    await settle();
    second.tracker.track('seen');
    await second.tracker.flush();
    const after = await first.tracker.correlationValue();
    expect(after).not.toBe(before);
    expect(second.events('seen')).toMatchObject([{ correlationValue: after }]);
  });

  it('keep their back-off while the other one changes the visitor', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { first, second } = await openTabs();
    second.fail(503);
    second.tracker.track('queued');
    await second.tracker.flush();
    const { length } = second.requests;
    first.tracker.reset();
    await settle();
    expect(await second.tracker.correlationValue()).toBe(await first.tracker.correlationValue());
    expect([second.requests.length, first.requests.length]).toEqual([length, 0]);
  });

  it('both have the identified customer', async () => {
    const { first, second } = await openTabs();
    first.tracker.identify('ann');
    await settle();
    second.tracker.identify('ann');
    second.tracker.setProperties({ plan: 'pro' });
    await first.tracker.flush();
    await second.tracker.flush();
    expect([...first.names(), ...second.names()]).toEqual(['$identify']);
    expect([...first.upserts(), ...second.upserts()]).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  });

  it('both apply a refusal and drop their queues', async () => {
    const { first, second, store } = await openTabs();
    for (const { fail, tracker } of [first, second]) {
      fail();
      tracker.track('seen');
    }
    await settle();
    first.tracker.consent(false);
    await settle();
    second.tracker.track('later');
    expect(first.dropped).toEqual([['seen', 'consent']]);
    expect(second.dropped).toEqual([
      ['seen', 'consent'],
      ['later', 'consent'],
    ]);
    expect(await store.read('/clew')).toEqual([]);
  });

  it('both start when one of them gets consent', async () => {
    const { first, second } = await openTabs({ consent: 'required' });
    second.tracker.track('held');
    first.tracker.consent(true);
    await settle();
    await second.tracker.flush();
    expect([...first.names(), ...second.names()]).toEqual(['held']);
  });

  it('know the events in flight in the other tab, and do not hand them over', async () => {
    let answer = (_: { outcome: 'delivered' }) => {};
    const sent: [leaving: boolean, body: string][] = [];
    const { first, second } = await openTabs({
      transport: ({ leaving, body }) => {
        sent.push([leaving, String(body)]);
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    second.tracker.track('seen');
    await settle();
    const flushed = first.tracker.flush();
    await settle();
    expect(sent).toHaveLength(1);
    second.page.leave();
    expect(sent).toHaveLength(1);
    answer({ outcome: 'delivered' });
    await flushed;
    expect(sent).toHaveLength(1);
  });

  it('exchange nothing while one of them is in the back/forward cache, and synchronise afterwards', async () => {
    const { first, second } = await openTabs();
    second.page.leave();
    first.tracker.reset();
    await first.tracker.flush();
    const after = await first.tracker.correlationValue();
    second.page.restore();
    expect(await second.tracker.correlationValue()).toBe(after);
    first.tracker.reset();
    await settle();
    expect(await second.tracker.correlationValue()).toBe(await first.tracker.correlationValue());
  });
});

describe('two tabs without a visitor', () => {
  it('that begin with a first visitor id each go on with the one in the database', async () => {
    const { first, second } = await openTabs();
    first.tracker.consent(false);
    first.tracker.consent(true);
    // The second tab was busy, and now erases the visitor id that the first tab has just begun.
    second.tracker.consent(false);
    second.tracker.consent(true);
    await settle();
    await Promise.all([first.tracker.flush(), second.tracker.flush()]);
    expect(await first.tracker.correlationValue()).toBe(await second.tracker.correlationValue());
  });
});

describe('two tabs with one database that is slow', () => {
  /** A store that holds all transactions with a record until `go`, and then runs them in order. */
  const held = () => {
    const store = createMemoryStore();
    const waiting: (() => void)[] = [];
    let isHeld = false;
    const transact: Store['transact'] = async (...what) => {
      if (isHeld && what[1]) await new Promise<void>((resolve) => waiting.push(resolve));
      return store.transact(...what);
    };
    return {
      store: { ...store, transact },
      hold() {
        isHeld = true;
      },
      async go() {
        isHeld = false;
        for (const next of waiting.splice(0)) {
          next();
          await settle();
        }
        await settle();
      },
    };
  };
  const two = async (options = {}) => {
    connectTabs();
    const database = held();
    const open = () => {
      openPage();
      return start({ baseUrl: '/clew', store: database.store, ...options });
    };
    const first = open();
    first.tracker.track('before');
    await first.tracker.flush();
    return { ...database, first, open };
  };
  const idOf = (events: ReturnType<ReturnType<typeof start>['events']>, name: string) =>
    events.find(({ event }) => event === name)?.correlationValue;

  it.each([
    [1, false],
    [2, true],
  ])('identify a person before %i log-outs while another page loads, with a cookie: %s', async (count, hasCookie) => {
    const shared = () => hasCookie && { cookieDomain: cookieDomain('shop.example') };
    const { first, open, hold, go } = await two(shared());
    hold();
    const second = open();
    first.tracker.identify('ann');
    for (let n = 0; n < count; n++) first.tracker.reset();
    first.tracker.track('after');
    await go();
    await Promise.all([first.tracker.flush(), second.tracker.flush()]);
    const events = [...first.events(), ...second.events()];
    expect(idOf(events, '$identify')).toBe(idOf(events, 'before'));
    expect(idOf(events, 'after')).not.toBe(idOf(events, 'before'));
  });

  it.each(['reset', 'identify'] as const)('keep properties of the other tab before %s()', async (method) => {
    const { first, open, hold, go } = await two();
    const second = open();
    await second.tracker.flush();
    hold();
    first.tracker.identify('ann');
    second.tracker.setProperties({ plan: 'pro' });
    first.tracker[method]('bob');
    await go();
    await Promise.all([first.tracker.flush(), second.tracker.flush()]);
    expect([...first.upserts(), ...second.upserts()]).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  });

  it('identify one person once, although a log-out follows', async () => {
    const { first, open, hold, go } = await two();
    const second = open();
    await second.tracker.flush();
    hold();
    for (const { tracker } of [first, second]) tracker.identify('ann');
    first.tracker.reset();
    await go();
    await Promise.all([first.tracker.flush(), second.tracker.flush()]);
    expect([...first.events('$identify'), ...second.events('$identify')]).toHaveLength(1);
  });
});

it.each(['reset', 'identify'] as const)(
  'properties from before identify() reach the customer although %s() follows at once',
  async (method) => {
    openPage();
    const { tracker, upserts } = start({ baseUrl: '/clew', store: createMemoryStore() });
    await tracker.flush();
    tracker.setProperties({ plan: 'pro' });
    tracker.identify('ann');
    tracker[method]('bob');
    await tracker.flush();
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  },
);

it.each(['relay', 'service'])(
  'a page that leaves in the task of identify() hands over the properties from before, to a %s',
  async (to) => {
    connectTabs();
    const page = openPage();
    const store = createMemoryStore();
    const direct = to === 'service' ? { baseUrl: 'https://service.example', apiKey: 'key' } : { baseUrl: '/clew' };
    const { tracker, upserts } = start({ ...direct, store });
    tracker.track('seen');
    await tracker.flush();
    tracker.setProperties({ plan: 'free', colour: 'red' });
    tracker.identify('ann', { plan: 'pro' });
    tracker.reset();
    page.leave();
    await settle();
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro', colour: 'red' } }]);
  },
);

it('two tabs without a database both have the identified customer', async () => {
  connectTabs();
  const store: Store = { ...createMemoryStore(), transact: async () => undefined, read: async () => [] };
  openPage();
  const first = start({ baseUrl: '/clew', store });
  await settle();
  openPage();
  const second = start({ baseUrl: '/clew', store });
  await settle();
  first.tracker.identify('ann');
  await settle();
  second.tracker.setProperties({ plan: 'pro' });
  await second.tracker.flush();
  expect(second.upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
});

it.each([{}, { baseUrl: 'https://service.example', apiKey: 'key' }])(
  'a page that leaves after identify() hands over the properties, although the database has an event: %j',
  async (options) => {
    connectTabs();
    const page = openPage();
    const { tracker, names, upserts } = start({ baseUrl: '/clew', store: createMemoryStore(), ...options });
    tracker.track('first');
    await tracker.flush();
    tracker.track('stored');
    await settle();
    tracker.identify('ann');
    await settle();
    tracker.setProperties({ plan: 'pro' });
    page.leave();
    await settle();
    expect(names()).toEqual(['first', 'stored', '$identify']);
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  },
);

it('an open page sends what a later page has journaled after what that page has stored', async () => {
  const store = createMemoryStore();
  openPage();
  const first = start({ baseUrl: '/clew', store });
  await first.tracker.flush();
  const page = openPage();
  let isGone = false;
  const transact: Store['transact'] = async (...what) => (isGone ? undefined : store.transact(...what));
  const later = start({ baseUrl: '/clew', store: { ...store, transact } });
  await later.tracker.flush();
  later.fail();
  later.tracker.track('stored');
  await settle();
  isGone = true;
  later.tracker.identify('ann');
  later.tracker.track('journaled');
  page.leave();
  // The open page sees in the hint that the visitor is identified, and asks the database.
  first.tracker.track('seen');
  await settle();
  await first.tracker.flush();
  expect(first.names()).toEqual(['stored', '$identify', 'journaled', 'seen']);
});

it('an open page whose items another page has taken in sends its later ones after them', async () => {
  const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const store = createMemoryStore();
  openPage();
  const first = start({ baseUrl: '/clew', store });
  await first.tracker.flush();
  openPage();
  let isFailing = false;
  const transact: Store['transact'] = async (...what) => (isFailing ? undefined : store.transact(...what));
  const { tracker } = start({ baseUrl: '/clew', store: { ...store, transact }, transport: first.transport });
  await tracker.flush();
  first.fail();
  await later(10);
  isFailing = true;
  tracker.identify('ann');
  tracker.track('one');
  await later(10);
  // The first page asks the database, and takes in the journal.
  first.tracker.track('seen');
  await later(100);
  isFailing = false;
  // The other one asks, too, and learns that.
  tracker.identify('ann');
  await later(10);
  tracker.track('two');
  await later(100);
  first.recover();
  await later(60_000);
  expect(first.names().filter((name) => name !== 'seen')).toEqual(['$identify', 'one', 'two']);
});
