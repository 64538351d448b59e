// @module-tag promise
import { describe, expect, it } from 'vitest';
import type { OtherJournal } from '../../src/outbox/journal.ts';
import { draftEvent, draftUpsert, idOf, stamp } from '../../src/recorder/event.ts';
import { adopt, withoutRefused, withoutTaken } from '../../src/visitor/adopt.ts';
import type { Visitor } from '../../src/visitor/record.ts';
import { nameOf, SERVICE, visitorOf } from './visitorOf.ts';

const event = (name: string, at: number) => stamp(draftEvent(at, name), { correlationValue: visitorOf(1, 1).thread });
const journal = (texts: string[], visitor?: Visitor): OtherJournal => ({ name: 'page', texts, visitor, remove() {} });
const nothing = () => false;
const namesOf = (items: readonly string[]) => items.map((text) => text && nameOf(text));

it('takes the events of all journals in the order of time', () => {
  const others = [journal([event('1', 1), event('3', 3)]), journal([event('2', 2), event('4', 4)])];
  expect(namesOf(adopt(others, undefined, visitorOf(1, 1), nothing, SERVICE)[1])).toEqual(['1', '2', '3', '4']);
});

it('keeps the order of a page, although its clock was set back and upserts have no time', () => {
  const texts = [event('a', 9), draftUpsert({ plan: 'b' }), event('c', 2)];
  const others = [journal(texts), journal([event('later', 10)])];
  const [, items] = adopt(others, visitorOf(1, 1, 'ann'), visitorOf(1, 1), nothing, SERVICE);
  expect(namesOf(items)).toEqual(['a', 'b', 'c', 'later']);
});

it('takes the first upserts of a page before its first event, or as that page has left', () => {
  const left = (at: number, ...texts: string[]) => ({ ...journal(texts), at });
  const others = [
    left(4, event('3', 3), draftUpsert({ plan: 'first' })),
    left(7, draftUpsert({ plan: 'second' }), event('6', 6)),
    left(9, draftUpsert({ plan: 'third' })),
    left(10, event('8', 8)),
  ];
  const [, items] = adopt(others, visitorOf(1, 1, 'ann'), visitorOf(1, 1), nothing, SERVICE);
  expect(namesOf(items)).toEqual(['3', 'first', 'second', '6', '8', 'third']);
});

it('keeps the order of two pages if the clock is set back while the second one is open', () => {
  const left = (at: number, ...texts: string[]) => ({ ...journal(texts), at });
  const first = left(3, event('1', 1), draftUpsert({ plan: 'first' }));
  const second = left(0, event('4', 4), draftUpsert({ plan: 'second' }));
  const [, items] = adopt([second, first], visitorOf(1, 1, 'ann'), visitorOf(1, 1), nothing, SERVICE);
  expect(namesOf(items)).toEqual(['1', 'first', '4', 'second']);
});

it('leaves out what is stored or settled already', () => {
  const [known, other] = [event('known', 1), event('other', 2)];
  const [, items] = adopt([journal([known, other])], undefined, visitorOf(1, 1), (text) => text === known, SERVICE);
  expect(items).toEqual([other]);
});

it('gives an upsert to the customer of the visitor that its own journal leads to', () => {
  const plan = (name: string) => draftUpsert({ plan: name });
  const others = [journal([plan('anns')]), journal([plan('bobs')], visitorOf(2, 2, 'bob'))];
  const [base, items] = adopt(others, visitorOf(1, 1, 'ann'), visitorOf(3, 3), nothing, SERVICE);
  expect(items.map((text) => JSON.parse(text).primary_key)).toEqual(['ann', 'bob']);
  expect(base).toEqual(visitorOf(2, 2, 'bob'));
});

it('completes an upsert with the given visitor without a record, and lets others wait', () => {
  const others = [journal([draftUpsert({ plan: 'pro' })])];
  const [base, items] = adopt(others, undefined, visitorOf(1, 1, 'ann'), nothing, SERVICE);
  expect([base, JSON.parse(items[0] as string).primary_key]).toEqual([undefined, 'ann']);
  const [, none, early] = adopt(others, undefined, visitorOf(1, 1), nothing, SERVICE);
  expect([none, early]).toEqual([[], [{ text: others[0]?.texts[0], owner: visitorOf(1, 1).thread }]]);
});

it('gives an upsert that names its visitor id to the customer of that id, and of no other', () => {
  const of = (digit: number) => stamp(draftUpsert({ plan: 'pro' }), { correlationValue: visitorOf(digit, 1).thread });
  const left = [journal([of(1), of(2)], visitorOf(2, 2, 'bob'))];
  const keysOf = (stored?: Visitor) => {
    const [, items, early] = adopt(left, stored, visitorOf(3, 3), nothing, SERVICE);
    return [items.map((text) => JSON.parse(text).primary_key), early.map(({ owner }) => owner)];
  };
  // The page knew a mark of the customer of its first visitor id, and was reset.
  expect(keysOf(visitorOf(1, 1, 'ann'))).toEqual([['ann', 'bob'], []]);
  expect(keysOf(visitorOf(1, 1))).toEqual([['bob'], [visitorOf(1, 1).thread]]);
  expect(keysOf()).toEqual([['bob'], [visitorOf(1, 1).thread]]);
});

it('completes an upsert by the identity of a later journal', () => {
  const others = [journal([draftUpsert({ plan: 'pro' })]), journal([], visitorOf(1, 2, 'ann'))];
  const [, items, early] = adopt(others, visitorOf(1, 1), visitorOf(1, 1), nothing, SERVICE);
  expect([items.map((text) => JSON.parse(text).primary_key), early]).toEqual([['ann'], []]);
});

it.each([
  ['no JSON', '"properties":', 1],
  ['an empty primary key', '"properties":{},"primary_key":""}', 0],
  ['a primary key that is none', '"properties":{},"primary_key":null}', 0],
  ['an id that is none', '"properties":{},"correlationValue":7}', 0],
])('throws nothing if other code has written a journal: %s', (_what, rest, count) => {
  const text = `{"uuid":"${visitorOf(1, 1).thread}",${rest}`;
  const [, items, early] = adopt([journal([text])], visitorOf(1, 1), visitorOf(1, 1), nothing, SERVICE);
  expect([items.length, early.length]).toEqual([count, 1 - count]);
});

it('knows the later visitor of the record and the journals', () => {
  const of = (stored: number, left: number) =>
    adopt([journal([], visitorOf(2, left))], visitorOf(1, stored), visitorOf(3, 9), nothing, SERVICE)[0]?.thread;
  expect([of(1, 2), of(2, 1)]).toEqual([visitorOf(2, 2).thread, visitorOf(1, 2).thread]);
});

describe('a journal of another epoch than the record', () => {
  const journalOf = (epoch?: string) => ({
    name: 'page',
    texts: [],
    visitor: visitorOf(1, 1),
    epoch,
    remove: () => {},
  });

  it.each([
    ['the same epoch', 'now', undefined, [true]],
    ['no epoch', undefined, undefined, [true]],
    ['another epoch', 'before', undefined, [false]],
    ['an epoch that a refusal is known to have ended', 'before', 'before', []],
  ])('is taken in as far as it may be: %s', (_what, epoch, ended, expected) => {
    expect(
      withoutRefused([journalOf(epoch)], 'now', (one) => !!one && one === ended).map(({ visitor }) => !!visitor),
    ).toEqual(expected);
  });

  it('gives its visitor if the record has no epoch', () => {
    expect(withoutRefused([journalOf('before')], undefined, () => false)).toEqual([
      expect.objectContaining({ visitor: visitorOf(1, 1) }),
    ]);
  });
});

describe('a journal', () => {
  const [old, fresh] = [event('old', 1), event('fresh', 2)];
  const written = (earlier: unknown) => ({ ...journal([old, fresh]), name: 'page 2', earlier }) as OtherJournal;
  const left = (other: OtherJournal, taken: string[]) =>
    withoutTaken([other], taken).map(({ texts }) => namesOf(texts));

  it('that has been taken in is left out', () => {
    expect(left(written(undefined), ['page 2'])).toEqual([]);
  });

  it('has no items of an earlier journal of its page that has been taken in', () => {
    const earlier = [['page 1', idOf(old)]];
    expect(left(written(earlier), ['page 1'])).toEqual([['fresh']]);
    expect(left(written(earlier), ['page 0'])).toEqual([['old', 'fresh']]);
  });

  it.each([[5], ['page 1'], [null], [[5, 'page 1', null, [7]]], [{ 0: 'page 1' }]])(
    'may name as earlier ones: %j',
    (earlier) => {
      expect(left(written(earlier), ['page 1'])).toEqual([['old', 'fresh']]);
    },
  );
});
