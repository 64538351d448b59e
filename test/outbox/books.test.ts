// @module-tag promise
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBooks } from '../../src/outbox/books.ts';
import { createJournal } from '../../src/outbox/journal.ts';
import { draftEvent } from '../../src/recorder/event.ts';
import { times } from '../recorder/items.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SERVICE = '/clew';
const ROOM = 1e5;

/** The books of a page of the browser that has this localStorage. */
const open = (local: Record<string, string>, release?: string) => {
  const page = randomUUID();
  const journal = createJournal(SERVICE, page, local);
  const books = createBooks(SERVICE, journal, page, release, local);
  const track = () => books.number(draftEvent(Date.now(), 'a', '{}'));
  const load = Number.parseInt(`1${page.slice(-12)}`, 16);
  const ended = () => books.ended().map(([of]) => of);
  return { journal, books, track, load, ended, key: `clew.book ${SERVICE} ${load}` };
};
const minutes = (count: number) => vi.advanceTimersByTime(count * 60_000);

it('a page without a release states an empty one', () => {
  const { books, track, load } = open({});
  track();
  expect(books.stated(ROOM)).toEqual([[load, 1, 0, '', [], Date.now()]]);
});

it('a page that has tracked nothing leaves no book', () => {
  const local = {};
  open(local).books.write(true);
  expect(local).toEqual({});
});

it('a page states nothing that other code has written in place of a book', () => {
  const local = {
    [`clew.book ${SERVICE} 1`]: 'no JSON',
    [`clew.book ${SERVICE} 2`]: '{"a":1}',
    [`clew.book ${SERVICE} 3`]: '[3,1,{"toString":1},"",[]]',
  };
  const { books, track, load, ended } = open(local);
  track();
  expect(books.stated(ROOM).map(([of]) => of)).toEqual([load]);
  minutes(11);
  expect(ended()).toEqual([]);
});

it('drops of two page loads stay apart', () => {
  const local = {};
  const [first, second] = [open(local), open(local)];
  const texts = [first.track(), second.track(), second.track()];
  second.books.drop(texts, 'expired');
  const [, , , , drops] = second.books.stated(ROOM).find(([of]) => of === second.load) ?? [];
  expect(drops).toEqual([
    ['expired', first.load, 1, 1],
    ['expired', second.load, 1, 2],
  ]);
});

it('a dropped event is stored at once, since another tab may close the book', () => {
  const local: Record<string, string> = {};
  const { books, track, key } = open(local);
  const text = track();
  books.drop([draftEvent(0, ''), text], 'expired');
  expect(local[key]).toContain('expired');
});

it('an event that was dropped within its call is stored at the end of the task', () => {
  const local: Record<string, string> = {};
  const { books, key } = open(local);
  books.drop([draftEvent(0, 'a')], 'filtered');
  expect(local).toEqual({});
  books.write();
  expect(local[key]).toContain('filtered');
});

it('no book has ended while a journal has events', () => {
  const local = {};
  const [first, second, third] = [open(local), open(local), open(local)];
  const text = first.track();
  first.books.write(true);
  second.journal.keep([text]);
  expect(third.ended()).toEqual([]);
  second.journal.drop([JSON.parse(`${text}`).uuid]);
  expect(third.ended()).toEqual([first.load]);
});

it('a page does not close its own book, however long it is silent', () => {
  const { books, track, ended } = open({});
  track();
  books.write();
  minutes(11);
  expect(ended()).toEqual([]);
});

it('a book of a page that has not left ends after more than ten minutes', () => {
  const local = {};
  const [first, second] = [open(local), open(local)];
  first.track();
  first.books.write();
  minutes(10);
  expect(second.ended()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(second.ended()).toEqual([first.load]);
});

it('a book of a crashed page ends also if the visitor has set the clock back since', () => {
  const local = {};
  const [first, second] = [open(local), open(local)];
  first.track();
  first.books.write();
  vi.setSystemTime(Date.now() - 86_400_000);
  expect(second.ended()).toEqual([first.load]);
});

it('the events of one page in the queue keep no other book open', () => {
  const local = {};
  const [first, second, third] = [open(local), open(local), open(local)];
  const queued = [first.track(), second.track()].slice(0, 1);
  first.books.write(true);
  second.books.write(true);
  const closed = third.books.stated(ROOM, third.books.ended(), queued).map(([of, , end]) => [of, end]);
  expect(new Map(closed as [number, number][])).toEqual(
    new Map([
      [first.load, 0],
      [second.load, 1],
    ]),
  );
});

it('states as many books as there is room for', () => {
  const local: Record<string, string> = {};
  for (let n = 0; n < 20; n++) local[`clew.book ${SERVICE} ${n}`] = JSON.stringify([2 ** 40 + n, 1, 0, '', [], 5]);
  const { books } = open(local);
  const bytes = JSON.stringify([2 ** 40, 1, 0, '', [], 5]).length;
  // A comma separates them.
  for (const count of [0, 1, 7, 20]) {
    expect(books.stated(count * (bytes + 1))).toHaveLength(count);
    expect(books.stated((count + 1) * (bytes + 1) - 1).length).toBe(Math.min(count, 20));
  }
});

it('the relay keeps a confirmed drop: no later request states it again', () => {
  const { books, track, load } = open({});
  const dropsIn = () => books.stated(ROOM)[0]?.[4];
  const texts = times(4, track);
  books.drop([...texts.slice(0, 1), draftEvent(0, 'a')], 'filtered');
  const stated = books.stated(ROOM);
  // Meanwhile, another event joins the first one, and one more stands alone.
  books.drop([...texts.slice(1, 2), ...texts.slice(3)], 'filtered');
  books.settle(stated);
  expect(dropsIn()).toEqual([
    ['filtered', 0, 0, 1],
    ['filtered', load, 1, 2],
    ['filtered', load, 4, 1],
  ]);
  books.settle(books.stated(ROOM));
  expect(dropsIn()).toEqual([['filtered', 0, 0, 1]]);
});

it('a drop that other code has written in its place is no harm', () => {
  const local: Record<string, string> = {};
  const { books, track, key, load } = open(local);
  books.drop([track()], 'filtered');
  local[key] = JSON.stringify([load, 1, 0, '', [{ toString: 0 }, null]]);
  books.settle(books.stated(ROOM));
  track();
  expect(books.stated(ROOM)).toEqual([[load, 2, 0, '', [['filtered', load, 1, 1]], Date.now()]]);
});

it('a page without numbered events keeps the drops that it has made since its book was stated', () => {
  const local = {};
  const [first, second] = [open(local), open(local)];
  const texts = times(3, first.track);
  second.books.drop(texts.slice(0, 1), 'expired');
  const stated = first.books.stated(ROOM);
  second.books.drop(texts.slice(2), 'expired');
  first.books.settle(stated);
  const drops = first.books.stated(ROOM).find(([of]) => of === second.load)?.[4];
  expect(drops).toContainEqual(['expired', first.load, 3, 1]);
});
