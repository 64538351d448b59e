// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Store, TrackerOptions } from '../../src/index.ts';
import type { Book } from '../../src/wire.ts';
import { createMemoryStore, openPage, settle, start } from './page.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A page of one browser, and the books of its requests. */
const visit = (store: Store, options: Partial<TrackerOptions> = {}) => {
  const page = openPage();
  const test = start({ baseUrl: '/clew', store, release: '1.4.2', ...options });
  const stated = () => test.requests.map(({ body }): Book[] => JSON.parse(`${body}`).books ?? []);
  /** Without the times at which the page loads began. */
  const books = () => stated().map((some) => some.map((book) => book.slice(0, 5)));
  const loads = () => [...new Set(test.events().map(({ seq }) => seq?.[0]))];
  return { ...test, page, stated, books, last: () => books().at(-1), load: () => loads().at(-1) };
};
const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);

describe('each request states', () => {
  it('how many events the page has tracked, and its release', async () => {
    const { tracker, books, load } = visit(createMemoryStore());
    tracker.track('a');
    tracker.track('b');
    await tracker.flush();
    expect(books()).toEqual([[[load(), 2, 0, '1.4.2', []]]]);
    tracker.track('c');
    await tracker.flush();
    expect(books()[1]).toEqual([[load(), 3, 0, '1.4.2', []]]);
  });

  it('when each page load began', async () => {
    const store = createMemoryStore();
    const begin = Date.now();
    const first = visit(store);
    await minutes(1);
    first.tracker.track('a');
    first.page.leave();
    await minutes(1);
    const second = visit(store);
    second.tracker.track('b');
    await second.tracker.flush();
    const began = new Map(second.stated().flatMap((some) => some.map(([load, , , , , since]) => [load, since])));
    expect(began).toEqual(
      new Map([
        [first.load(), begin],
        [second.load(), begin + 120_000],
      ]),
    );
  });

  it('the same as the page leaves, and as it sets properties', async () => {
    const { tracker, page, last, load } = visit(createMemoryStore());
    tracker.identify('ann');
    await tracker.flush();
    tracker.setProperties({ plan: 'pro' });
    await tracker.flush();
    expect(last()).toEqual([[load(), 1, 0, '1.4.2', []]]);
    tracker.track('b');
    page.leave();
    await settle();
    expect(last()).toEqual([[load(), 2, 0, '1.4.2', []]]);
  });

  it('the events that were dropped, with their reasons', async () => {
    const { tracker, books, load } = visit(createMemoryStore(), {
      maxBatchBytes: 500,
      beforeSend: (event) => (event.event === 'no' ? null : event),
    });
    tracker.track('a');
    tracker.track('no');
    tracker.track('large', 'x'.repeat(500));
    tracker.track('no');
    tracker.track('big', 1n);
    tracker.track('large', 'x'.repeat(500));
    await tracker.flush();
    tracker.track('b');
    await tracker.flush();
    const unnumbered = [
      ['filtered', 0, 0, 2],
      ['unserialisable', 0, 0, 1],
    ];
    expect(books()).toEqual([
      [[load(), 3, 0, '1.4.2', [...unnumbered, ['too-large', load(), 2, 2]]]],
      // The relay has the numbers by now.
      [[load(), 4, 0, '1.4.2', unnumbered]],
    ]);
  });
});

it('an event for which there was no room has no number, whatever its payload has', async () => {
  const { tracker, fail, recover, last, load } = visit(createMemoryStore(), { maxQueuedEvents: 1 });
  fail(503);
  tracker.track('a');
  await tracker.flush();
  tracker.track('b', { seq: [2 ** 40, 7] });
  recover();
  await minutes(1);
  expect(last()).toEqual([[load(), 1, 0, '1.4.2', [['full', 0, 0, 1]]]]);
});

it('a long list of drops takes no room from the events of a page that leaves', async () => {
  const { tracker, page, events } = visit(createMemoryStore(), { maxBatchBytes: 500, flushInterval: 60_000 });
  for (let n = 0; n < 2000; n++) {
    tracker.track('large', 'x'.repeat(500));
    tracker.track('small');
  }
  // The first full batches go out, and their answers are still missing.
  page.leave();
  await settle();
  expect(events().length).toBeGreaterThan(100);
}, 20_000);

it('a long list of drops keeps no other book from the relay', async () => {
  const store = createMemoryStore();
  const options = { maxBatchBytes: 2000 };
  const first = visit(store, options);
  for (let n = 0; n < 200; n++) {
    first.tracker.track('large', 'x'.repeat(2000));
    first.tracker.track('small');
  }
  await first.tracker.flush();
  first.page.leave();
  const { tracker, last, load } = visit(store, options);
  tracker.track('a');
  await tracker.flush();
  expect(last()).toEqual([[load(), 1, 0, '1.4.2', []]]);
});

describe('the next page', () => {
  it('closes the book of a page that has left, with its first request, once', async () => {
    const store = createMemoryStore();
    const first = visit(store);
    first.tracker.track('a');
    await first.tracker.flush();
    first.page.leave();
    const second = visit(store, { release: '2' });
    second.tracker.track('b');
    await second.tracker.flush();
    const own = (count: number) => [second.load(), count, 0, '2', []];
    expect(second.books()[0]).toEqual(expect.arrayContaining([[first.load(), 1, 1, '1.4.2', []], own(1)]));
    second.tracker.track('c');
    await second.tracker.flush();
    expect(second.last()).toEqual([own(2)]);
  });

  it('closes it again if the relay did not answer', async () => {
    const store = createMemoryStore();
    const first = visit(store);
    first.tracker.track('a');
    await first.tracker.flush();
    first.page.leave();
    const second = visit(store);
    second.fail(503);
    second.tracker.track('b');
    await second.tracker.flush();
    second.recover();
    await minutes(1);
    for (const books of second.books()) expect(books).toContainEqual([first.load(), 1, 1, '1.4.2', []]);
    expect(second.books().length).toBeGreaterThan(1);
  });

  it('closes it in the request with its last event', async () => {
    const store = createMemoryStore();
    const first = visit(store);
    first.fail(503);
    for (let n = 0; n < 4; n++) first.tracker.track('a');
    await first.tracker.flush();
    // Nothing can be handed over either.
    first.fail(0);
    first.page.leave();
    await settle();
    const second = visit(store, { maxBatchEvents: 3 });
    await second.tracker.flush();
    expect(second.books().map((books) => books.map(([, count, closed]) => [count, closed]))).toEqual([
      [[4, 0]],
      [[4, 4]],
    ]);
  });

  it('closes the book of a page that has crashed only after ten minutes', async () => {
    const store = createMemoryStore();
    const first = visit(store);
    first.tracker.track('a');
    await first.tracker.flush();
    const load = first.load();
    // The first page does not leave.
    const second = visit(store);
    second.tracker.track('b');
    await second.tracker.flush();
    expect(second.last()).toContainEqual([load, 1, 0, '1.4.2', []]);
    await minutes(11);
    second.tracker.track('c');
    await second.tracker.flush();
    expect(second.last()).toContainEqual([load, 1, 1, '1.4.2', []]);
  });
});

describe('where many books are left', () => {
  /** As many as there is room for. A journal that is never taken in keeps them. */
  const fill = () => {
    for (let n = 0; n < 51; n++)
      localStorage[`clew.book /clew ${2 ** 40 + n}`] ??= JSON.stringify([2 ** 40 + n, 1, Date.now(), '', []]);
  };
  const own = (stated: readonly (readonly unknown[])[] | undefined, load: number | undefined) =>
    stated?.find(([of]) => of === load);

  it('a page that has a book goes on with it', async () => {
    const { tracker, last, load } = visit(createMemoryStore(), { maxBatchBytes: 5000 });
    tracker.track('a');
    await tracker.flush();
    fill();
    tracker.track('large', 'x'.repeat(5000));
    tracker.track('b');
    await tracker.flush();
    expect(own(last(), load())).toEqual([load(), 3, 0, '1.4.2', [['too-large', load(), 2, 1]]]);
  });

  it('another page begins its book once there is room', async () => {
    const store = createMemoryStore();
    const { tracker, last, load } = visit(store, { maxBatchBytes: 5000 });
    fill();
    tracker.identify('ann');
    tracker.track('large', 'x'.repeat(5000));
    await tracker.flush();
    expect(own(last(), load())).toBeUndefined();
    for (const key of Object.keys(localStorage)
      .filter((one) => one.startsWith('clew.book'))
      .slice(1))
      delete localStorage[key];
    tracker.setProperties({ plan: 'pro' });
    await tracker.flush();
    expect(own(last(), load())).toEqual([load(), 2, 0, '1.4.2', [['too-large', load(), 1, 1]]]);
  });
});

it('a page that comes back from the back/forward cache goes on with its book', async () => {
  const store = createMemoryStore();
  const { tracker, page, last, load } = visit(store);
  tracker.track('a');
  await tracker.flush();
  page.leave();
  page.restore();
  tracker.track('b');
  await tracker.flush();
  expect(last()).toEqual([[load(), 2, 0, '1.4.2', []]]);
});

it('a refusal deletes the books, and a later consent begins another one', async () => {
  const { tracker, last, events } = visit(createMemoryStore());
  tracker.track('a');
  await tracker.flush();
  const [before] = events();
  tracker.consent(false);
  expect(Object.keys(localStorage).filter((key) => key.startsWith('clew.book'))).toEqual([]);
  tracker.track('refused');
  tracker.consent(true);
  tracker.track('b');
  await tracker.flush();
  const load = events('b')[0]?.seq?.[0];
  expect(load).not.toBe(before?.seq?.[0]);
  expect(last()).toEqual([[load, 1, 0, '1.4.2', []]]);
});

it('nothing is stored before consent', async () => {
  const { tracker } = visit(createMemoryStore(), { consent: 'required' });
  tracker.track('a');
  await minutes(1);
  expect(Object.keys(localStorage)).toEqual([]);
});

it('a tracker without localStorage states nothing, and sends its events', async () => {
  const { tracker, names, books } = visit({ ...createMemoryStore(), local: new Proxy({}, { set: () => false }) });
  tracker.track('a');
  await tracker.flush();
  expect([names(), books()]).toEqual([['a'], [[]]]);
});
