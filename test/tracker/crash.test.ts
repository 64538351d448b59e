// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Store, Transport } from '../../src/index.ts';
import { createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

/** Keys of localStorage under which pages keep items that the store may not have. */
const journals = () => Object.keys(localStorage).filter((key) => key.startsWith('clew.page'));
/** A store whose database has not answered yet, and never does. */
const waiting = (store: Store): Store => ({
  ...store,
  transact: () => new Promise(() => {}),
  read: () => new Promise(() => {}),
  isOpen: () => false,
});
/** Waits for the microtasks at the end of the task, and no longer. */
const microtask = () => Promise.resolve();
/** Time passes until the next page is loaded. */
const later = () => vi.advanceTimersByTimeAsync(1000);

describe('a page that crashes', () => {
  it('before its store has opened loses no event: each is in localStorage at the end of its task', async () => {
    const store = createMemoryStore();
    openPage();
    const first = start({ baseUrl: '/clew', store: waiting(store) });
    first.tracker.track('a');
    await microtask();
    expect(journals()).toHaveLength(1);
    first.tracker.track('b');
    await microtask();
    const { thread: visitor } = JSON.parse(localStorage['clew.hint'] ?? '{}');
    await later();
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names().sort()).toEqual(['a', 'b']);
    expect(second.events().map(({ correlationValue }) => correlationValue)).toEqual([visitor, visitor]);
    await later();
    expect(journals()).toEqual([]);
    expect(second.tracker.stats()).toMatchObject({ tracked: 2, delivered: 2, queued: 0 });
  });

  it('after its store has opened leaves its events to the next page', async () => {
    const store = createMemoryStore();
    openPage();
    const first = start({ baseUrl: '/clew', store });
    await first.tracker.flush();
    first.fail();
    first.tracker.track('a');
    await settle();
    expect(journals()).toEqual([]);
    // The page has crashed, so its timers do not run any more.
    vi.clearAllTimers();
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names()).toEqual(['a']);
  });

  it('loses none of the first fifty calls of a task while its store reopens', async () => {
    const store = createMemoryStore();
    let isOpen = true;
    openPage();
    const { tracker } = start({ baseUrl: '/clew', store: { ...store, isOpen: () => isOpen } });
    await tracker.flush();
    tracker.track('stored');
    await microtask();
    expect(journals()).toEqual([]);
    isOpen = false;
    tracker.track('journaled');
    await microtask();
    const [key = ''] = journals();
    const { texts } = JSON.parse(localStorage[key] ?? '{}');
    // Stored rows may be lost, so the tracker stores and journals their events again.
    expect(texts.map((text: string) => JSON.parse(text).event)).toEqual(['stored', 'journaled']);
    await settle();
    expect(journals()).toEqual([]);
  });

  it('loses no properties that were set while its identify() was being stored', async () => {
    const store = createMemoryStore();
    let isBusy = false;
    const transact: Store['transact'] = (...what) => (isBusy ? new Promise(() => {}) : store.transact(...what));
    openPage();
    const first = start({ baseUrl: '/clew', store: { ...store, transact } });
    await first.tracker.flush();
    isBusy = true;
    first.tracker.identify('ann');
    await microtask();
    first.tracker.setProperties({ plan: 'pro' });
    await microtask();
    const crashedAt = Date.now();
    // The page is gone. That sets the clock back to its first time.
    vi.clearAllTimers();
    vi.setSystemTime(crashedAt);
    await later();
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.upserts()).toMatchObject([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  });

  it('leaves waiting calls to another page, which sends them with the same ids', async () => {
    const store = createMemoryStore();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow: Store = {
      ...store,
      async transact(...what) {
        await answered;
        return store.transact(...what);
      },
    };
    openPage();
    const open = start({ baseUrl: '/clew', store: slow });
    open.tracker.track('waiting');
    open.tracker.identify('ann');
    await later();
    openPage();
    const { tracker, names, events } = start({ baseUrl: '/clew', store });
    await tracker.flush();
    expect(names()).toEqual(['waiting', '$identify']);
    answer();
    await open.tracker.flush();
    expect(await open.tracker.correlationValue()).toBe(await tracker.correlationValue());
    // A relay drops duplicates by their ids.
    for (const { uuid, correlationValue } of open.events())
      expect(events().find((event) => event.uuid === uuid)).toMatchObject({ correlationValue });
    expect(open.tracker.stats()).toMatchObject({ tracked: 1, delivered: 1, queued: 0 });
  });

  it.each(['nonsense', '[7, null, "text"]', '{}', '"text"'])(
    'has its journal ignored if other code has overwritten it with %s',
    async (text) => {
      openPage();
      localStorage['clew.page /clew other'] = text;
      const { tracker, requests, errors } = start({ baseUrl: '/clew' });
      tracker.track('seen');
      await tracker.flush();
      expect(requests).toHaveLength(1);
      expect(errors).toEqual([]);
      await later();
      expect(journals()).toEqual([]);
    },
  );
});

describe('a page that unloads without a relay', () => {
  const service = { baseUrl: 'https://service.example', apiKey: 'key' };

  it('counts handed-over events as delivered after a confirmed request, and never sends them again', async () => {
    const store = createMemoryStore();
    const page = openPage();
    const first = start({ ...service, store });
    first.tracker.track('a');
    await first.tracker.flush();
    first.tracker.track('b');
    page.leave();
    await settle();
    expect(first.tracker.stats()).toMatchObject({ delivered: 2, queued: 0 });
    openPage();
    const second = start({ ...service, store });
    await second.tracker.flush();
    expect(second.requests).toEqual([]);
  });

  it('keeps handed-over events for the next page without a confirmed request', async () => {
    const store = createMemoryStore();
    const page = openPage();
    const first = start({ ...service, store });
    await first.tracker.flush();
    first.tracker.track('a');
    page.leave();
    await settle();
    expect(first.tracker.stats()).toMatchObject({ delivered: 0, queued: 1 });
    openPage();
    const second = start({ ...service, store });
    await second.tracker.flush();
    expect(second.events()).toEqual(first.events().map((event) => ({ ...event, uuid: event.uuid })));
  });

  it('lists in localStorage the events that its store had no time to delete', async () => {
    const store = createMemoryStore();
    const page = openPage();
    let isStuck = false;
    const stuck: Store = {
      ...store,
      transact: (...what) => (isStuck ? Promise.resolve(undefined) : store.transact(...what)),
    };
    const first = start({ ...service, store: stuck });
    first.tracker.track('a');
    await first.tracker.flush();
    first.tracker.track('b');
    await settle();
    isStuck = true;
    page.leave();
    expect(JSON.parse(localStorage[`clew.settled ${service.baseUrl}`] ?? '[]')).toContain(
      JSON.parse(String(first.requests.at(-1)?.body)).batch[0].uuid,
    );
    openPage();
    const second = start({ ...service, store });
    await second.tracker.flush();
    expect(second.requests).toEqual([]);
    expect(await store.read(service.baseUrl)).toEqual([]);
    expect(localStorage).not.toHaveProperty([`clew.settled ${service.baseUrl}`]);
  });
});

describe('a page that unloads during a request', () => {
  it('releases the lease to the next page, which sends the same again', async () => {
    const store = createMemoryStore();
    const page = openPage();
    const never: Transport = ({ leaving }) => !leaving && new Promise(() => {});
    const first = start({ baseUrl: '/clew', store, transport: never });
    first.tracker.track('a');
    first.tracker.flush();
    await settle();
    page.leave();
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names()).toEqual(['a']);
    expect(localStorage).not.toHaveProperty('clew.tab');
  });
});

describe('a visitor record', () => {
  it.each(['nonsense', '7', '"somebody"', '{}', 'null'])(
    'in localStorage is ignored if it is corrupt: %s',
    async (text) => {
      openPage();
      for (const key of ['clew.thread', 'clew.visitor', 'clew.tab /clew', 'clew.settled /clew'])
        localStorage[key] = text;
      const { tracker, names } = start({ baseUrl: '/clew' });
      tracker.track('seen');
      await tracker.flush();
      expect(names()).toEqual(['seen']);
      expect(await tracker.correlationValue()).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    },
  );

  it.each<[string, object]>([
    ['nothing', {}],
    ['no visitor id', { thread: 'somebody', turn: 0, keys: {}, pages: 1 }],
    ['a visitor without pages', { thread: '01234567-89ab-4cde-8f01-23456789abcd', keys: {}, pages: 'many' }],
  ])('in the store is replaced if it has %s', async (_what, record) => {
    const store = createMemoryStore();
    await store.transact([['visitor', record]]);
    const { tracker, events } = start({ baseUrl: '/clew', store });
    tracker.track('seen');
    await tracker.flush();
    expect(events()).toMatchObject([{ event: 'seen', seq: [expect.any(Number), 1] }]);
    expect(await tracker.correlationValue()).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  });

  it('in localStorage is used if its page unloaded before the store opened', async () => {
    const visitor = '01234567-89ab-4cde-8f01-23456789abcd';
    openPage();
    localStorage['clew.thread'] = JSON.stringify(visitor);
    expect(await start({ baseUrl: '/clew' }).tracker.correlationValue()).toBe(visitor);
  });

  it.each([
    ['with another visitor id', true],
    ['with the same visitor id', false],
  ])('in localStorage is used if its page unloaded before storing it, %s', async (_what, isOther) => {
    const store = createMemoryStore();
    let isStuck = false;
    const stuck: Store = {
      ...store,
      transact: (...what) => (isStuck ? new Promise(() => {}) : store.transact(...what)),
    };
    const page = openPage();
    page.navigator.onLine = false;
    const first = start({ baseUrl: '/clew', store: stuck });
    await first.tracker.flush();
    isStuck = true;
    if (isOther) first.tracker.reset();
    first.tracker.identify('ben');
    page.leave();
    const visitor = await first.tracker.correlationValue();
    await later();
    openPage();
    const second = start({ baseUrl: '/clew', store });
    second.tracker.identify('ben');
    second.tracker.setProperties({ plan: 'pro' });
    await second.tracker.flush();
    expect(await second.tracker.correlationValue()).toBe(visitor);
    expect(second.names()).toEqual(['$identify']);
    expect(second.upserts()).toMatchObject([{ primary_key: 'ben' }]);
    expect(journals()).toEqual([]);
  });

  it('in localStorage stays there until the store has it', async () => {
    const store = createMemoryStore();
    let isRefused = true;
    const refusing: Store = {
      ...store,
      transact: (...what) => (isRefused ? Promise.resolve(undefined) : store.transact(...what)),
    };
    openPage();
    const { tracker } = start({ baseUrl: '/clew', store: refusing });
    await tracker.flush();
    tracker.identify('ann');
    await settle();
    const [key = ''] = journals();
    expect(JSON.parse(localStorage[key] ?? '{}')).toMatchObject({ visitor: { keys: { '/clew': ['ann', null] } } });
    isRefused = false;
    tracker.reset();
    await tracker.flush();
    expect(journals()).toEqual([]);
  });
});
