// @module-tag promise
import { describe, expect, it } from 'vitest';
import { isVisitorId, markOf, merge, newVisitor, type Visitor, visitorIn } from '../../src/visitor/record.ts';

const [ONE, OTHER] = ['01234567-89ab-4cde-8f01-23456789abcd', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
const visitorOf = (changes: Partial<Visitor> = {}): Visitor => ({
  thread: ONE,
  turn: 0,
  keys: {},
  pages: 1,
  ...changes,
});

describe('a stored value', () => {
  it.each([ONE, OTHER])('is a visitor id: %s', (thread) => {
    expect(isVisitorId(thread)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['no text', ''],
    ['any text', 'text'],
    ['an upper-case one', '01234567-89AB-4CDE-8F01-23456789ABCD'],
    ['one without dashes', '0123456789ab4cde8f0123456789abcd'],
    ['one that is too short', '01234567-89ab-4cde-8f01-23456789abc'],
    ['one that is too long', '01234567-89ab-4cde-8f01-23456789abcde'],
    ['one with a line break', '01234567-89ab-4cde-8f01-23456789abcd\n'],
    ['one of other letters', '01234567-89ab-4cde-8f01-23456789abcg'],
    ['one in a list', ['01234567-89ab-4cde-8f01-23456789abcd']],
    ['an object', { thread: '01234567-89ab-4cde-8f01-23456789abcd' }],
  ])('is not a visitor id: %s', (_what, value) => {
    expect(isVisitorId(value)).toBe(false);
  });

  it('is a visitor as it was stored', () => {
    const visitor = visitorOf({ turn: 2, keys: { one: ['ann', 'proof'], two: [7, undefined, true] }, pages: 3 });
    expect(visitorIn(visitor)).toEqual(visitor);
    expect(visitorIn(JSON.parse(JSON.stringify(visitor)))).toMatchObject({ thread: ONE, turn: 2, pages: 3 });
  });

  it.each([2030, 2038, 2100, 9999])('keeps the version of a change in the year %i', (year) => {
    const visitor = newVisitor(visitorOf(), OTHER, Date.UTC(year, 11));
    expect(visitor.turn).toBeGreaterThan(newVisitor(visitorOf(), ONE, Date.UTC(year - 1, 11)).turn);
    expect(visitorIn(visitor)?.turn).toBe(visitor.turn);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['text', ONE],
    ['a list', [ONE]],
    ['an empty object', {}],
    ['no visitor id', { thread: 'ann', turn: 1, keys: {}, pages: 1 }],
    ['an upper-case visitor id', { thread: ONE.toUpperCase(), turn: 1, keys: {}, pages: 1 }],
  ])('is no visitor: %s', (_what, stored) => {
    expect(visitorIn(stored)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['no numbers', {}],
    ['text in place of numbers', { turn: 'many', pages: 'many' }],
    ['null in place of numbers and keys', { turn: null, keys: null, pages: null }],
    ['numbers that no change has', { turn: 1e300, pages: 1e300 }],
    ['the greatest numbers, which no other one could follow', { turn: Number.MAX_SAFE_INTEGER, pages: 2 ** 31 - 1 }],
    ['a number of pages below 0', { pages: -1 }],
    ['no numbers in JSON', { turn: Number.NaN, pages: Number.POSITIVE_INFINITY }],
    ['a number in place of keys', { keys: 7 }],
    ['an object in place of numbers', { turn: { toString: 1 }, pages: {} }],
    ['a key that is the name of a method of every object', { keys: { toString: [1] } }],
  ])('is a visitor from the start if it has %s', (_what, rest) => {
    const { keys, ...visitor } = visitorIn({ thread: ONE, ...rest }) as Visitor;
    expect(visitor).toEqual({ thread: ONE, turn: 0, pages: 0 });
    expect(Object.keys(keys)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['a flag', true],
    ['an object', {}],
    ['an empty list', []],
    ['a list of a list', [['ann']]],
  ])('is a visitor whose identities have a primary key or a mark, even if one was stored as %s', (_what, identity) => {
    const { keys } = visitorIn({ thread: ONE, turn: 1, keys: { bad: identity, good: ['ann'] }, pages: 1 }) as Visitor;
    expect(keys.good).toEqual(['ann']);
    for (const one of Object.values(keys)) expect(['string', 'number']).toContain(typeof one?.[0]);
  });
});

describe('a new visitor', () => {
  it('has a visitor id of its own, and no keys', () => {
    const [first, second] = [newVisitor(), newVisitor()];
    expect(isVisitorId(first.thread)).toBe(true);
    expect(first).toEqual({ thread: first.thread, turn: 0, keys: {}, pages: 0 });
    expect(second.thread).not.toBe(first.thread);
  });

  it('after another visitor is the next one, on the same page, and without the keys', () => {
    const before = visitorOf({ turn: 4, keys: { one: ['ann'] }, pages: 9 });
    expect(newVisitor(before, OTHER)).toEqual({ thread: OTHER, turn: 5, since: 5, keys: {}, pages: 9 });
    expect(newVisitor(before).thread).not.toBe(before.thread);
    expect(before.keys).toEqual({ one: ['ann'] });
  });
});

describe('the mark of a primary key', () => {
  it('is the same for the same key only', () => {
    const keys = ['ann', 'bob', 'Ann', 'ann ', 'nna', 'ann@shop.example', '', 'ä', '🧶', '🧵'];
    expect(keys.map(markOf)).toEqual(keys.map(markOf));
    expect(new Set(keys.map(markOf)).size).toBe(keys.length);
  });

  it('is a 32-bit number without the key, and never 0 for these keys', () => {
    for (const key of ['ann', 'bob', 'x'.repeat(1000)]) {
      const mark = markOf(key);
      expect(Number.isInteger(mark)).toBe(true);
      expect(mark).toBeGreaterThan(0);
      expect(mark).toBeLessThan(2 ** 32);
    }
  });

  it('is FNV-1a, as in the cookies of earlier versions', () => {
    expect(markOf('')).toBe(0x811c9dc5);
    expect(markOf('a')).toBe(0xe40c292c);
    expect(markOf('foobar')).toBe(0xbf9cf968);
  });
});

describe('two sources of one visitor id', () => {
  it('are merged: the keys of both, the later number, the most pages', () => {
    const first = visitorOf({ turn: 1, keys: { one: ['ann', 'proof'] }, pages: 5 });
    const second = visitorOf({ turn: 3, keys: { two: ['ann'] }, pages: 2 });
    const merged = { thread: ONE, turn: 3, keys: { one: ['ann', 'proof'], two: ['ann'] }, pages: 5 };
    expect(merge(first, second)).toEqual(merged);
    expect(merge(second, first)).toEqual(merged);
  });

  it('have the primary key, whichever of them has only its mark', () => {
    const known = visitorOf({ keys: { one: ['ann', 'proof'] } });
    const marked = visitorOf({ keys: { one: [markOf('ann'), undefined, true] } });
    expect(merge(known, marked).keys).toEqual({ one: ['ann', 'proof'] });
    expect(merge(marked, known).keys).toEqual({ one: ['ann', 'proof'] });
  });

  it.each<[string, Visitor['keys'][string], Visitor['keys'][string]]>([
    ['two primary keys', ['ann'], ['bob']],
    ['two marks', [1], [2]],
    ['two signatures', ['ann', 'new'], ['ann', 'old']],
    ['one sent and one unsent $identify', ['ann'], ['ann', undefined, true]],
    ['one unsent and one sent $identify', ['ann', undefined, true], ['ann']],
  ])('with %s have those of the first source', (_what, first, second) => {
    expect(merge(visitorOf({ keys: { one: first } }), visitorOf({ keys: { one: second } })).keys.one).toBe(first);
  });

  it('are not changed', () => {
    const first = visitorOf({ keys: { one: ['ann'] } });
    const second = visitorOf({ keys: { two: ['bob'] } });
    merge(first, second);
    expect([first.keys, second.keys]).toEqual([{ one: ['ann'] }, { two: ['bob'] }]);
  });
});

it('a call that is replayed a second time begins no visitor id that a person has had', () => {
  const known = visitorOf({ keys: { one: ['ann'] } });
  expect(newVisitor(known, OTHER).thread).toBe(OTHER);
  expect(newVisitor(known, known.thread).thread).not.toBe(known.thread);
});

describe('two sources of two visitor ids', () => {
  const first = visitorOf({ turn: 1, keys: { one: ['ann'] }, pages: 5 });

  it('are merged into the later one, whose keys count alone', () => {
    const second = visitorOf({ thread: OTHER, turn: 2, keys: { two: ['bob'] }, pages: 2 });
    const merged = { ...second, pages: 5 };
    expect(merge(first, second)).toEqual(merged);
    expect(merge(second, first)).toEqual(merged);
  });

  it.each([
    ['the one that began later, in all tabs', { since: 4 }, {}, 'first'],
    ['the one with the higher id, in all tabs, if both began then', { since: 4 }, { since: 4 }, 'second'],
  ])('that are equally late are merged into %s', (_what, one, two, winner) => {
    const [first, second] = [visitorOf({ turn: 4, ...one }), visitorOf({ thread: OTHER, turn: 4, ...two })];
    expect(ONE < OTHER).toBe(true);
    const { thread } = winner === 'first' ? first : second;
    expect([merge(first, second).thread, merge(second, first).thread]).toEqual([thread, thread]);
  });

  it('that are first ids are merged into that of the first source', () => {
    const second = visitorOf({ thread: OTHER, turn: 1, keys: { one: ['bob'] }, pages: 7 });
    expect(merge(first, second)).toEqual({ ...first, pages: 7 });
    expect(merge(second, first)).toEqual({ ...second, pages: 7 });
  });

  it('are the second one if the first source has none', () => {
    expect(merge(undefined, first)).toBe(first);
  });
});
