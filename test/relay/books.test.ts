// @module-tag promise
import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { type BookStore, memoryBooks } from '../../src/relay/bookStore.ts';
import { engineOf } from '../../src/relay/books.ts';
import { memorySeen, type RelayOptions, type RelayReport } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event, SINGLE, UPSERT } from './stage.ts';

const CHROMIUM = { 'User-Agent': 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36' };
const LOAD = 2 ** 40;
let loads = LOAD;

/** A relay, and a page load that sends events with these numbers and statements. */
const open = (options: Partial<RelayOptions> = {}) => {
  const reports: RelayReport[] = [];
  const load = ++loads;
  const { relay, received } = openInMemory({ onReport: (report) => reports.push(report), ...options });
  const correlationValue = randomUUID();
  const numbered = (n: number, more: object = {}) => event('a', { correlationValue, seq: [load, n], ...more });
  const send = (body: object, where: object = {}) => relay(requestOf(body, { headers: CHROMIUM, ...where }));
  const book = (count: number, closed = 0, drops: unknown = []) => [load, count, closed, '1.4.2', drops];
  const drop = (reason: string, first: number, length = 1) => [reason, first && load, first, length];
  const books = async () => {
    await relay.close();
    return reports.at(-1)?.books;
  };
  return { relay, received, reports, load, numbered, send, book, drop, books };
};

const day = () => new Date().toISOString().slice(0, 10);
const ROW = { release: '1.4.2', engine: 'chromium', dropped: {}, late: {}, missing: 0, unknown: 0 };

describe('the report has, for each release, engine and day,', () => {
  it('the events that were tracked and delivered', async () => {
    const { numbered, send, book, books } = open();
    await send({ books: [book(3)], batch: [numbered(1), numbered(2)] });
    await send({ batch: [numbered(3)] });
    expect(await books()).toEqual([{ ...ROW, day: day(), tracked: 3, delivered: 3 }]);
  });

  it('the last events of a page, which have not arrived', async () => {
    const { numbered, send, book, books } = open();
    await send({ batch: [numbered(1)], books: [book(4)] });
    await send({ batch: [], books: [book(4, 3)] });
    expect(await books()).toMatchObject([{ tracked: 4, delivered: 1, missing: 2, unknown: 1 }]);
  });

  it('events that come after their page was closed, and no longer as missing', async () => {
    const { numbered, send, book, books } = open();
    await send({ batch: [], books: [book(1, 1)] });
    await send({ batch: [numbered(1, { timestamp: new Date(Date.now() - 7_200_000).toISOString() })] });
    expect(await books()).toMatchObject([{ tracked: 1, delivered: 1, missing: 0, late: { '1h': 1 } }]);
  });

  it('a number that comes twice in a request, late once', async () => {
    const { numbered, send, books } = open();
    const timestamp = new Date(Date.now() - 7_200_000).toISOString();
    await send({ batch: [numbered(1, { timestamp }), numbered(1, { timestamp })] });
    expect(await books()).toMatchObject([{ tracked: 1, delivered: 1, late: { '1h': 1 } }]);
  });

  it('events that the tracker has dropped, by reason', async () => {
    const { numbered, send, book, drop, books } = open();
    const body = {
      batch: [numbered(1)],
      books: [book(5, 5, [drop('full', 0, 3), drop('expired', 2, 2), drop('rejected', 5)])],
    };
    await send(body);
    await send(body);
    const dropped = { full: 3, expired: 2, rejected: 1 };
    expect(await books()).toMatchObject([{ tracked: 8, delivered: 1, dropped, missing: 1 }]);
  });

  it('events that the relay has refused, by reason', async () => {
    const { numbered, send, book, drop, books } = open({
      allowedEvents: ['a'],
      accept: ({ payload }) => payload !== 'no',
    });
    const batch = [
      numbered(1, { event: '$identify', payload: { distinct_id: 'ann' } }),
      numbered(2, { event: 'b' }),
      numbered(3, { payload: 'no' }),
      numbered(4, { source: 'other' }),
      numbered(5, { timestamp: '2001-01-01T00:00:00.000Z' }),
    ];
    await send({ batch, books: [book(5, 5, [drop('rejected', 1, 5)])] });
    const dropped = { unsigned: 1, 'not-allowed': 1, 'not-accepted': 1, invalid: 1, timestamp: 1 };
    expect(await books()).toMatchObject([{ tracked: 5, dropped, missing: 0 }]);
  });

  it('duplicates, once', async () => {
    const { numbered, send, book, books } = open();
    const one = numbered(1);
    await send({ batch: [one], books: [book(1)] });
    await send({ batch: [one, one], books: [book(1, 1)] });
    expect(await books()).toMatchObject([{ tracked: 1, delivered: 1, missing: 0 }]);
  });

  it('an event that was taken before it had a statement, under its release', async () => {
    const { numbered, send, book, books } = open();
    await send({ batch: [numbered(1)] });
    await send({ batch: [], books: [book(1, 1)] }, { headers: { 'User-Agent': 'Mozilla/5.0 Gecko/2 Firefox/150.0' } });
    expect(await books()).toEqual([{ ...ROW, day: day(), tracked: 1, delivered: 1 }]);
  });

  it('events to the single-event endpoint, and statements with properties', async () => {
    const { numbered, send, book, books } = open({ allowUnsignedUpsert: true });
    await send({ ...numbered(1, { timestamp: undefined }), books: [book(1)] }, { path: SINGLE });
    await send({ primary_key: 'ann', books: [book(2)] }, { path: UPSERT });
    expect(await books()).toMatchObject([{ tracked: 2, delivered: 1, unknown: 1 }]);
  });
});

it('a request that the service does not take closes nothing: the page states it again', async () => {
  let status = 503;
  const { numbered, send, book, books } = open({ forward: async () => new Response(null, { status }) });
  const body = { batch: [numbered(1)], books: [book(2, 2)] };
  await send(body);
  status = 201;
  const answer = await send({ batch: [], books: [book(2)] });
  expect(answer.headers.get('clew-books')).toBe('2');
  await send(body);
  expect(await books()).toMatchObject([{ tracked: 2, delivered: 1, missing: 1, unknown: 0 }]);
});

it('answers how many events of each book have no end, and forwards nothing of it', async () => {
  const { numbered, send, book, load, received } = open();
  const answer = await send({ batch: [numbered(2)], books: [book(4), 'no book', [load + 9e6, 2, 2, '']] });
  expect(answer.headers.get('clew-books')).toBe('3, , 2');
  expect(received[0]?.body).not.toContain('seq');
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({ batch: [expect.anything()] });
  expect((await send({ batch: [numbered(1)] })).headers.get('clew-books')).toBeNull();
});

it.each([
  ['a text', 'books'],
  ['a load that is no number', [['7', 1, 1, '']]],
  ['a load of an earlier tracker', [[7, 1, 1, '']]],
  ['a count below what is closed', [[LOAD, 1, 2, '']]],
  ['an enormous count', [[LOAD, 1e8, 1, '']]],
])('%s is no statement, and the events are taken', async (_, stated) => {
  const { numbered, send, books } = open();
  const answer = await send({ batch: [numbered(1)], books: stated });
  expect(answer.status).toBe(201);
  expect(await books()).toMatchObject([{ release: '', tracked: 1, delivered: 1 }]);
});

it('reads the first sixty books of a request, and the first five thousand drops of a book', async () => {
  const { numbered, send, load, books } = open({ maxBodyBytes: 1_000_000 });
  const drops = Array.from({ length: 5001 }, (_, at) => ['full', load, at + 1, 1]);
  const stated = Array.from({ length: 61 }, (_, at) => [load + 1e6 * at, 5001, 0, '', at ? [] : drops]);
  const answer = await send({ batch: [numbered(5001)], books: stated });
  expect(answer.headers.get('clew-books')?.split(', ')).toHaveLength(60);
  expect(await books()).toMatchObject([{ tracked: 60 * 5001, delivered: 1, dropped: { full: 5000 } }]);
});

it('takes the highest of two statements of a page load in a request', async () => {
  const { send, load, books } = open();
  const stated = [
    [load, 10, 10, ''],
    [load, 2, 1, ''],
  ];
  await send({ batch: [], books: stated });
  expect(await books()).toMatchObject([{ tracked: 10, missing: 10 }]);
});

it('a request that the relay refuses as a whole changes no account', async () => {
  const { send, numbered, book, drop, reports, books } = open({
    maxBodyBytes: 1000,
    accept: (event) => ({ ...event, payload: 'x'.repeat(1000) }),
  });
  const batch = [numbered(1)];
  const body = { batch, books: [book(10, 0, [drop('full', 0, 3)])] };
  expect((await send(body)).status).toBe(413);
  await books();
  expect(reports).toEqual([]);
});

it('reasons of `accept` that sound like those of the relay count as not accepted', async () => {
  const { send, numbered, books } = open({ accept: ({ payload }) => `${payload}` });
  const reasons = ['signature of the contract is missing', 'timestamp too old', 'bot'];
  await send({ batch: reasons.map((payload, at) => numbered(at + 1, { payload })) });
  expect(await books()).toMatchObject([{ tracked: 3, dropped: { 'not-accepted': 3 } }]);
});

it('an event that is twice in a batch and is refused counts as refused', async () => {
  const { send, numbered, books } = open({ accept: () => false });
  const one = numbered(1);
  await send({ batch: [one, one] });
  expect(await books()).toMatchObject([{ tracked: 1, delivered: 0, dropped: { 'not-accepted': 1 } }]);
});

it('a duplicate whose first facts are lost is as late as by the corrected clock', async () => {
  const memory = memoryBooks();
  let isDown = true;
  const read: BookStore['read'] = async (loads) => {
    if (isDown) throw new Error('down');
    return memory.read(loads);
  };
  const { send, numbered, relay, reports } = open({
    seen: { ...memorySeen(), books: { ...memory, read } },
    onError: () => {},
  });
  const now = Date.now() - 8 * 86_400_000;
  const body = { batch: [numbered(1, { timestamp: new Date(now).toISOString() })], clock: [now, 1000] };
  await send(body);
  isDown = false;
  await send(body);
  await relay.close();
  expect(reports.at(-1)?.books?.map(({ delivered, late }) => [delivered, late])).toEqual([[1, {}]]);
});

it.each([
  ['a text', 'full'],
  ['texts', ['full']],
  ['a load that is no number', [['full', 'x', 1, 1]]],
  ['no length', [['full', LOAD, 1, 0]]],
  ['a number beyond all', [['full', LOAD, 1e7, 1]]],
  ['a reason that is no text', [[1, 0, 0, 1]]],
])('%s in place of a drop drops nothing', async (_, drops) => {
  const { send, book, books } = open();
  await send({ batch: [], books: [book(2, 0, drops)] });
  expect(await books()).toMatchObject([{ tracked: 2, unknown: 2, dropped: {} }]);
});

it('a page states what it has dropped of other page loads', async () => {
  const { send, book, load, books } = open();
  await send({ batch: [], books: [book(0, 0, [['expired', load + 7e9, 3, 2]]), [load + 7e9, 5, 5, '1.4.2', []]] });
  expect(await books()).toMatchObject([{ tracked: 5, missing: 3, dropped: { expired: 2 } }]);
});

it.each(['"', 'a\nb', 'x'.repeat(65), 7])('the release %j counts as another one', async (release) => {
  const { send, books, load } = open();
  await send({ batch: [], books: [[load, 1, 1, release]] });
  expect(await books()).toMatchObject([{ release: 'other', missing: 1 }]);
});

it('pages can neither add reasons nor any number of releases', async () => {
  const { send, books, load } = open();
  const stated = Array.from({ length: 150 }, (_, n) => [load + n * 7, 1, 1, `r${n}`, [['constructor', 0, 0, 1]]]);
  for (let at = 0; at < 150; at += 50) await send({ batch: [], books: stated.slice(at, at + 50) });
  const rows = (await books()) ?? [];
  expect(rows).toHaveLength(101);
  expect(rows.find(({ release }) => release === 'other')).toMatchObject({ tracked: 100, dropped: { other: 50 } });
});

it('the releases of a day take no room from those of the next day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { send, books, load } = open();
  const stated = Array.from({ length: 150 }, (_, n) => [load + n * 7, 1, 1, `r${n}`]);
  for (let at = 0; at < 150; at += 50) await send({ batch: [], books: stated.slice(at, at + 50) });
  vi.setSystemTime(Date.now() + 86_400_000);
  await send({ batch: [], books: [[load + 9e6, 1, 1, 'next']] });
  expect((await books())?.[0]).toMatchObject({ release: 'next', tracked: 1 });
  vi.useRealTimers();
});

it('metrics have the same, as gauges', async () => {
  const { relay, numbered, send, book, drop } = open();
  const timestamp = new Date(Date.now() - 90_000).toISOString();
  await send({ batch: [numbered(1, { timestamp })], books: [book(3, 3, [drop('full', 0, 2), drop('expired', 2)])] });
  const labels = `release="1.4.2",engine="chromium",day="${day()}"`;
  await expect.poll(() => relay.metrics()).toContain('clew_relay_book_events');
  const lines = relay.metrics().split('\n');
  for (const line of [
    '# TYPE clew_relay_book_events gauge',
    `clew_relay_book_events{${labels},state="tracked"} 5`,
    `clew_relay_book_events{${labels},state="delivered"} 1`,
    `clew_relay_book_events{${labels},state="missing"} 1`,
    `clew_relay_book_events{${labels},state="unknown"} 0`,
    `clew_relay_book_dropped_events{${labels},reason="full"} 2`,
    `clew_relay_book_dropped_events{${labels},reason="expired"} 1`,
    `clew_relay_book_late_events{${labels},age="1m"} 1`,
    'clew_relay_missing_events 1',
  ])
    expect(lines).toContain(line);
});

describe('a relay that may have forgotten a page load', () => {
  const HOUR = 3_600_000;
  const aged = (age: number) => ({ clock: [Date.now(), 1000], since: Date.now() - age });

  it('calls none of its earlier events missing: they may have arrived', async () => {
    const { numbered, send, book, books } = open();
    const { clock, since } = aged(HOUR);
    // The page was opened before the relay started, and is still open.
    expect((await send({ batch: [numbered(5)], books: [[...book(5), since]], clock })).headers.get('clew-books')).toBe(
      '0',
    );
    await send({ batch: [numbered(6)], books: [[...book(8), since]], clock });
    await send({ batch: [], books: [[...book(8, 8), since]], clock });
    expect(await books()).toMatchObject([{ tracked: 4, delivered: 2, missing: 2, unknown: 0 }]);
  });

  it('counts nothing of it if a later page closes its book', async () => {
    const { send, book, books } = open();
    const { clock, since } = aged(HOUR);
    await send({ batch: [], books: [[...book(3, 3), since]], clock });
    expect(await books()).toEqual([]);
  });

  it('counts what still arrives of it', async () => {
    const { numbered, send, book, books } = open();
    const { clock, since } = aged(HOUR);
    await send({ batch: [], books: [[...book(3), since]], clock });
    await send({ batch: [numbered(2)], books: [[...book(3, 3), since]], clock });
    expect(await books()).toMatchObject([{ tracked: 1, delivered: 1, missing: 0 }]);
  });

  it('calls none of them missing either if a request without a statement comes first', async () => {
    const { numbered, send, book, books } = open();
    const { clock, since } = aged(HOUR);
    // As the browser sends it for a page that has crashed.
    await send({ batch: [numbered(5)] });
    await send({ batch: [], books: [[...book(5, 5), since]], clock });
    expect(await books()).toMatchObject([{ tracked: 1, delivered: 1, missing: 0, unknown: 0 }]);
  });

  it('finds a loss of a younger page load, of which a request without a statement comes first', async () => {
    const memory = () => HOUR;
    const { numbered, send, book, books } = open({ seen: { ...memorySeen(), books: { ...memoryBooks(), memory } } });
    const { clock, since } = aged(HOUR / 2);
    await send({ batch: [numbered(3)] });
    await send({ batch: [], books: [[...book(3), since]], clock });
    await send({ batch: [], books: [[...book(3, 3), since - HOUR]], clock });
    expect(await books()).toMatchObject([{ tracked: 3, delivered: 1, missing: 2 }]);
  });

  it('knows so also for a statement that the store takes only much later', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const store = memoryBooks();
    const emptiedAt = Date.now() - 1000;
    let isDown = true;
    const emptied: BookStore = {
      ...store,
      read: async (loads) => (isDown ? Promise.reject(new Error('down')) : store.read(loads)),
      memory: () => Date.now() - emptiedAt,
    };
    const { numbered, send, book, books } = open({ seen: { ...memorySeen(), books: emptied } });
    const { clock, since } = aged(5000);
    await send({ batch: [numbered(3)], books: [[...book(3), since]], clock });
    isDown = false;
    vi.setSystemTime(Date.now() + 60_000);
    // A request of another visitor.
    await send({ batch: [], books: [[LOAD, 1, 0, '', []]] });
    await send({ batch: [], books: [[...book(3, 3), since]], clock: [Date.now(), 1000] });
    expect((await books())?.at(-1)).toMatchObject({ tracked: 1, delivered: 1, missing: 0 });
    vi.useRealTimers();
  });

  it('finds a loss if it remembers page loads for longer', async () => {
    const memory = () => HOUR;
    const { send, book, books } = open({ seen: { ...memorySeen(), books: { ...memoryBooks(), memory } } });
    const { clock, since } = aged(HOUR / 2);
    await send({ batch: [], books: [[...book(3, 3), since]], clock });
    expect(await books()).toMatchObject([{ tracked: 3, missing: 3 }]);
  });
});

describe('a store that fails', () => {
  it('keeps no event from the service, and its facts are added later', async () => {
    const store = memoryBooks();
    let isDown = true;
    const flaky: BookStore = {
      ...store,
      read: async (loads) => (isDown ? Promise.reject(new Error('down')) : store.read(loads)),
    };
    const errors: unknown[] = [];
    const { numbered, send, book, books } = open({
      seen: { ...memorySeen(), books: flaky },
      onError: (error) => errors.push(error),
    });
    expect((await send({ batch: [numbered(1), numbered(2)], books: [book(2, 2)] })).status).toBe(201);
    expect(errors).toEqual([new Error('down')]);
    isDown = false;
    await send({ batch: [], books: [[LOAD, 1, 1, '1.4.2', []]] });
    expect(await books()).toMatchObject([{ tracked: 3, delivered: 2, missing: 1 }]);
  });

  it('gets the facts at the next report, or as the relay closes, if no request comes', async () => {
    const store = memoryBooks();
    let isDown = true;
    const flaky: BookStore = {
      ...store,
      read: async (loads) => (isDown ? Promise.reject(new Error('down')) : store.read(loads)),
    };
    const { numbered, send, book, books } = open({ seen: { ...memorySeen(), books: flaky } });
    await send({ batch: [numbered(1)], books: [book(3)] });
    await send({ batch: [numbered(2)], books: [book(3, 2)] });
    isDown = false;
    expect(await books()).toMatchObject([{ tracked: 3, delivered: 2, missing: 0, unknown: 1 }]);
  });

  it('that another request always gets ahead of is reported', async () => {
    const errors: unknown[] = [];
    const { numbered, send } = open({
      seen: { ...memorySeen(), books: { ...memoryBooks(), write: async () => false } },
      onError: (error) => errors.push(error),
    });
    expect((await send({ batch: [numbered(1)] })).status).toBe(201);
    expect(errors).toMatchObject([{ message: expect.stringContaining('tries') }]);
  });
});

describe('a forged list of drops', () => {
  const most = 2500;

  it('is sorted once, and not again for each drop', async () => {
    const { send, book, load } = open();
    const drops = Array.from({ length: most }, (_, n) => ['full', load, 2 * n + 1, 1]);
    const sort = vi.spyOn(Array.prototype, 'sort');
    await send({ batch: [], books: [book(0, 0, drops)] });
    const sorted = sort.mock.contexts.reduce<number>((sum, list) => sum + (list as unknown[]).length, 0);
    sort.mockRestore();
    expect(sorted).toBeLessThan(10 * most);
  });

  it('costs the store no more than a large batch', async () => {
    const store = memoryBooks();
    const writes: string[] = [];
    const write: BookStore['write'] = (change) => {
      writes.push(change.load);
      return store.write(change);
    };
    const { send, book, load } = open({ seen: { ...memorySeen(), books: { ...store, write } } });
    const drops = Array.from({ length: most }, (_, n) => ['full', load + 1e9 + n, 1, 1]);
    await send({ batch: [], books: [book(0, 0, drops)] });
    expect(writes).toHaveLength(501);
  });
});

it('a long page load of which the relay refuses every second event misses nothing', async () => {
  const { numbered, send, book, books } = open({ accept: ({ payload }) => payload === 'yes' });
  for (let from = 1; from < 3000; from += 250) {
    const batch = Array.from({ length: 250 }, (_, at) => numbered(from + at, { payload: at % 2 ? 'yes' : 'no' }));
    await send({ batch, books: [book(from + 249)] });
  }
  await send({ batch: [], books: [book(3000, 3000)] });
  expect(await books()).toMatchObject([
    { tracked: 3000, delivered: 1500, dropped: { 'not-accepted': 1500 }, missing: 0, unknown: 0 },
  ]);
});

it('requests at the same time change one page load in turn', async () => {
  const { numbered, send, book, books } = open();
  await Promise.all(Array.from({ length: 15 }, (_, n) => send({ batch: [numbered(n + 1)], books: [book(15)] })));
  expect(await books()).toMatchObject([{ tracked: 15, delivered: 15, unknown: 0 }]);
});

it('many requests at the same time change one page load in few steps', async () => {
  const store = memoryBooks();
  const write = vi.fn(store.write);
  const errors: unknown[] = [];
  const { numbered, send, book, books } = open({
    seen: { ...memorySeen(), books: { ...store, write } },
    onError: (error) => errors.push(error),
  });
  await Promise.all(Array.from({ length: 60 }, (_, n) => send({ batch: [numbered(n + 1)], books: [book(60)] })));
  expect(await books()).toMatchObject([{ tracked: 60, delivered: 60, unknown: 0 }]);
  expect(errors).toEqual([]);
  expect(write.mock.calls.length).toBeLessThan(20);
});

it('a write that never ends delays the next one of its page load by the time-out only', async () => {
  const store = memoryBooks();
  const read = vi.fn(store.read);
  read.mockImplementationOnce(() => new Promise(() => {}));
  const { numbered, send, books } = open({ seen: { ...memorySeen(), books: { ...store, read } }, timeout: 50 });
  await send({ batch: [numbered(1)] });
  await send({ batch: [numbered(2)] });
  expect(await books()).toMatchObject([{ tracked: 2, delivered: 2 }]);
});

it('keeps fewer page loads if their accounts are long', async () => {
  const store = memoryBooks();
  const account = 'x'.repeat(2 ** 24);
  const write = (load: string, before?: string) =>
    store.write({ load, before, after: account, day: day(), changes: {} });
  for (const load of ['a', 'b', 'c']) await write(load);
  // The same account again needs no more room.
  for (let n = 0; n < 9; n++) await write('d', n ? account : undefined);
  const kept = async (...loads: string[]) => (await store.read(loads)).map((text) => !!text);
  expect(await kept('a', 'b', 'c', 'd')).toEqual([true, true, true, true]);
  for (const load of ['e', 'f']) await write(load);
  expect(await kept('a', 'b', 'c', 'd', 'e', 'f')).toEqual([false, false, false, true, true, true]);
});

it('keeps the newest page loads', async () => {
  const store = memoryBooks(2);
  const write = (load: string) =>
    store.write({ load, before: undefined, after: load, day: day(), changes: { [load]: 1 } });
  for (const load of ['a', 'b', 'c', 'd']) await write(load);
  expect(await store.read(['a', 'c', 'd'])).toEqual([undefined, 'c', 'd']);
  expect(await store.totals([day()])).toEqual([{ a: 1, b: 1, c: 1, d: 1 }]);
});

it('remembers all page loads since the oldest one that it keeps', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const store = memoryBooks(2);
  const reach: unknown[] = [];
  for (const load of ['a', 'b', 'c', 'd', 'e']) {
    await store.write({ load, before: undefined, after: load, day: day(), changes: {} });
    vi.advanceTimersByTime(1000);
    reach.push(await store.memory?.());
  }
  vi.useRealTimers();
  expect(reach).toEqual([1000, 2000, 3000, 3000, 4000]);
});

it.each([
  ['chromium', CHROMIUM['User-Agent']],
  ['chromium', 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0 Safari/537.36'],
  ['gecko', 'Mozilla/5.0 (X11; rv:150.0) Gecko/20100101 Firefox/150.0'],
  ['webkit', 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'],
  ['webkit', 'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1'],
  ['other', null],
])('the engine is %s for %s', (engine, userAgent) => {
  expect(engineOf(userAgent)).toBe(engine);
});
