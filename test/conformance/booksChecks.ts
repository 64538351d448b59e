import { deepEqual, equal } from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { BATCH, type Bench, type Check, event, Missing, SINGLE } from './check.ts';

/** The number of a new page load. */
const newLoad = () => 2 ** 48 + randomInt(2 ** 40);

/** The answer of the relay about these books, or undefined if it answers nothing. */
const sendBooks = async ({ post }: Bench, books: unknown, batch: readonly unknown[] = []) => {
  const { status, headers } = await post(BATCH, { batch, books });
  equal(Math.trunc(status / 100), 2, `expected 2xx, got ${status}`);
  return headers.get('clew-books')?.replaceAll(' ', '');
};

/** The same for a relay that keeps books. */
const ask = async (...[bench, ...rest]: Parameters<typeof sendBooks>): Promise<string> => {
  const answer = await sendBooks(bench, ...rest);
  if (answer === undefined) throw new Missing();
  return answer;
};

/** The answer about a lost page load of two events that began at `since` by a clock that is right. */
const askDated = async ({ post }: Bench, now: number, since: number) => {
  const { headers } = await post(BATCH, {
    batch: [],
    books: [[...book(newLoad(), 2, 2), since]],
    clock: [now, 1000],
  });
  const answer = headers.get('clew-books');
  if (answer === null) throw new Missing();
  return answer;
};

const numbered = (load: number, ...numbers: number[]) => numbers.map((n) => event({ seq: [load, n] }));
const book = (load: number, count: number, closed = 0, drops: readonly unknown[] = []) => [
  load,
  count,
  closed,
  '1',
  drops,
];

export const booksChecks: Check[] = [
  {
    name: 'takes the events of a request with books, and forwards no books',
    async run(bench) {
      const load = newLoad();
      const [sent] = numbered(load, 1);
      await sendBooks(bench, [book(load, 1)], [sent]);
      deepEqual(
        bench.service.forwarded.map(({ body }) => Object.keys(Object(body))),
        [['batch']],
      );
      deepEqual(
        bench.events().map(({ uuid }) => uuid),
        [sent?.uuid],
      );
    },
  },
  {
    name: 'takes the events of a request whose books have another form',
    async run(bench) {
      for (const books of ['x', {}, [7], [[1, 2]], [['x', 1, 1, '', []]]]) await sendBooks(bench, books, [event()]);
      equal(bench.events().length, 5);
    },
  },
  {
    name: 'answers for each book in clew-books how many of its events have not arrived',
    async run(bench) {
      const [one, other] = [newLoad(), newLoad()];
      equal(await ask(bench, [book(one, 4), 'x', book(other, 2, 2)], numbered(one, 1, 3)), '2,,2');
      equal(await ask(bench, [book(one, 4, 4), book(other, 2, 2)], numbered(one, 2)), '1,2');
    },
  },
  {
    name: 'reads the books of a single event, too',
    async run(bench) {
      const load = newLoad();
      await bench.post(SINGLE, { ...event({ seq: [load, 1] }), books: [book(load, 3)] });
      equal(await ask(bench, [book(load, 1)]), '2');
    },
  },
  {
    name: 'counts a duplicate once in the books',
    async run(bench) {
      const load = newLoad();
      const batch = numbered(load, 1);
      await ask(bench, [book(load, 2)], batch);
      equal(await ask(bench, [book(load, 2)], [...batch, ...batch]), '1');
    },
  },
  {
    name: 'counts refused events in the books as arrived',
    async run(bench) {
      const load = newLoad();
      equal(await ask(bench, [book(load, 2)], [event({ seq: [load, 1], source: 'other' })]), '1');
    },
  },
  {
    name: 'counts dropped events in the books, also if another page load states them',
    async run(bench) {
      const [load, other] = [newLoad(), newLoad()];
      const drops = [
        ['expired', load, 2, 3],
        ['full', 0, 0, 5],
      ];
      equal(await ask(bench, [book(load, 5, 5, drops)], numbered(load, 1)), '1');
      equal(await ask(bench, [book(other, 0, 0, [['rejected', load, 5, 1]]), book(load, 5, 5)]), '0,0');
    },
  },
  {
    name: 'misses no event of a page load that is older than its memory',
    async run(bench) {
      equal(await askDated(bench, Date.now(), 0), '0');
    },
  },
  {
    name: 'counts an event in the books only if the service has taken it',
    async run(bench) {
      const load = newLoad();
      await ask(bench, [book(load, 1)]);
      bench.service.answer(503);
      await bench.post(BATCH, { batch: numbered(load, 1), books: [book(load, 1, 1)] });
      bench.service.clear();
      equal(await ask(bench, [book(load, 1)]), '1');
    },
  },
  {
    // The header adds missing and unknown events, and so cannot show alone that a relay closes a book too early. The check notices a
    // relay that has ended the account, and no longer counts the events that the page sends again.
    name: 'closes nothing if the request fails: the page still has its events',
    async run(bench) {
      const load = newLoad();
      const batch = numbered(load, 1, 2);
      bench.service.answer(503);
      await bench.post(BATCH, { batch, books: [book(load, 2, 2)] });
      bench.service.clear();
      equal(await ask(bench, [book(load, 3)], numbered(load, 3)), '2');
      equal(await ask(bench, [book(load, 3, 3)], batch), '0');
    },
  },
  {
    // The header has no drops without a number, so it shows only that they are no numbers of the page load.
    name: 'takes the highest count of a book, and adds up nothing that a later book repeats',
    async run(bench) {
      const load = newLoad();
      const drops = [['filtered', 0, 0, 3]];
      equal(await ask(bench, [book(load, 4, 0, drops)], numbered(load, 1)), '3');
      equal(await ask(bench, [book(load, 4, 0, drops)]), '3');
      equal(await ask(bench, [book(load, 2)]), '3');
    },
  },
  {
    name: 'counts the events that have not arrived of a page load that is younger than its memory',
    async run(bench) {
      const now = Date.now();
      // Also a relay that has just started remembers this page load.
      equal(await askDated(bench, now, now), '2');
    },
  },
];
