// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createJournal } from '../../src/outbox/journal.ts';
import { draftEvent, draftUpsert, idOf } from '../../src/recorder/event.ts';
import type { Visitor } from '../../src/visitor/record.ts';
import { times } from '../recorder/items.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const SECOND = 1000;
const SERVICE = '/clew';
const [ONE, OTHER] = ['01234567-89ab-4cde-8f01-23456789abcd', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];

beforeEach(() => {
  vi.stubGlobal('localStorage', {});
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const keyOf = (page: string) => `clew.page ${SERVICE} ${page}`;
const stored = (page: string) => JSON.parse(localStorage[keyOf(page)] ?? 'null');
const store = (page: string, value: unknown) => {
  localStorage[keyOf(page)] = typeof value === 'string' ? value : JSON.stringify(value);
};
const journalOf = (page: string) => createJournal(SERVICE, page);
/** The journals of the other pages, for a page that has begun to ask the database after they were written. */
const others = (since = NOW + 1) => journalOf('reader').others(since);

/** From now on localStorage takes values of at most so many characters. */
const stubRoom = (most: number) => {
  const room = {
    set(target: Record<string, string>, key: string, value: string) {
      if (value.length > most) throw new DOMException('full', 'QuotaExceededError');
      return Reflect.set(target, key, value);
    },
  };
  vi.stubGlobal('localStorage', new Proxy(localStorage, room));
};

const visitor: Visitor = { thread: ONE, turn: 2, keys: { [SERVICE]: ['ann'] }, pages: 4 };
const [first, second] = [draftEvent(NOW, 'first'), draftEvent(NOW, 'second')];
const before = draftEvent(NOW - 5 * SECOND, 'before');
const upsert = draftUpsert({ plan: 'pro' });

describe('the journal of a page', () => {
  it('has the oldest events, 500,000 characters of an open page and four million of one that leaves', () => {
    const journal = journalOf('page');
    const long = times(60, () => draftEvent(NOW, 'long', JSON.stringify('x'.repeat(100_000))));
    const bound = (characters: number) => Math.floor(characters / (long[0]?.length ?? 0));
    journal.keep(long);
    expect(stored('page').texts).toEqual(long.slice(0, bound(500_000)));
    journal.write({ isLeft: true });
    expect(stored('page').texts).toEqual(long.slice(0, bound(4_000_000)));
    journal.write({});
    journal.drop(long.slice(0, 2).map(idOf));
    expect(stored('page').texts).toEqual(long.slice(2, 2 + bound(500_000)));
  });

  it('has the visitor and the oldest events for which localStorage has room beside other data', () => {
    stubRoom(2000);
    const texts = times(100, (number) => draftEvent(NOW, `${number}`));
    journalOf('page').write({ texts, visitor, isLeft: true });
    const [left] = others();
    expect(left?.visitor).toEqual(visitor);
    expect(left?.texts).toEqual(texts.slice(0, 6));
  });

  it('shows that a $identify without room is to be sent again', () => {
    const identify = draftEvent(NOW, '$identify', JSON.stringify({ distinct_id: 'ann' }));
    const long = draftEvent(NOW, 'long', JSON.stringify('x'.repeat(500_000)));
    const journal = journalOf('page');
    journal.write({ texts: [identify, long], visitor });
    expect(stored('page')).toMatchObject({ texts: [identify], visitor: { keys: { [SERVICE]: ['ann'] } } });
    journal.write({ texts: times(5, () => draftEvent(NOW, 'short')).concat(identify), visitor });
    expect(stored('page').visitor).toEqual(visitor);
    stubRoom(600);
    journal.write({ texts: times(5, () => draftEvent(NOW, 'short')).concat(identify), visitor });
    expect(stored('page').visitor).toEqual({ ...visitor, keys: { [SERVICE]: ['ann', null, true] } });
  });

  it('has events that it keeps, waiting events and the visitor, and is deleted with the last of them', () => {
    const journal = journalOf('page');
    journal.write({ visitor, texts: [first, second] });
    journal.keep([before, upsert]);
    expect(stored('page')).toEqual({ visitor, texts: [before, upsert, first, second], at: expect.closeTo(NOW, 1) });
    journal.write({ texts: [second], isLeft: true });
    expect(stored('page')).toEqual({ isLeft: true, texts: [before, upsert, second], at: expect.closeTo(NOW, 1) });
    journal.drop([idOf(before)]);
    expect(stored('page').texts).toEqual([upsert, second]);
    journal.write({ isLeft: true });
    expect(stored('page')).toEqual({ isLeft: true, texts: [upsert], at: expect.closeTo(NOW, 1) });
    journal.drop([idOf(upsert)]);
    expect(localStorage).toEqual({});
  });

  it('has each item once', () => {
    const journal = journalOf('page');
    journal.keep([before]);
    journal.keep([before, upsert]);
    expect(stored('page').texts).toEqual([before, upsert]);
  });

  it('is not written without a change', () => {
    const journal = journalOf('page');
    journal.keep([]);
    journal.drop([idOf(before)]);
    expect(localStorage).toEqual({});
    journal.keep([upsert]);
    store('page', 'of another writer');
    journal.keep([]);
    journal.drop([idOf(before)]);
    expect(localStorage[keyOf('page')]).toBe('of another writer');
  });

  it('is no other journal to the page itself', () => {
    const journal = journalOf('page');
    journal.write({ texts: [first], isLeft: true });
    expect(journal.others(NOW)).toEqual([]);
  });

  it('is never written by another page', () => {
    journalOf('page').keep([before]);
    const text = localStorage[keyOf('page')];
    const journal = journalOf('reader');
    journal.drop([idOf(before)]);
    journal.keep([upsert]);
    journal.write({ isLeft: true });
    expect(localStorage[keyOf('page')]).toBe(text);
  });

  it('belongs to one service', () => {
    journalOf('page').keep([before]);
    expect(createJournal('/other', 'reader').others(NOW)).toEqual([]);
    expect(createJournal('/cle', 'reader').others(NOW)).toEqual([]);
  });

  it('without storage has no effect, and throws no error', () => {
    vi.stubGlobal('localStorage', null);
    const journal = journalOf('page');
    journal.write({ texts: [first] });
    journal.keep([before]);
    journal.drop([idOf(before)]);
    expect(journal.others(NOW)).toEqual([]);
  });
});

describe('another page', () => {
  it('reads what a page has left, and removes it', () => {
    const journal = journalOf('page');
    journal.write({ visitor, texts: [first], isLeft: true });
    journal.keep([before, upsert]);
    const [other, ...rest] = others();
    expect(rest).toEqual([]);
    expect(other).toMatchObject({ visitor, isLeft: true, texts: [before, upsert, first] });
    other?.remove();
    expect(localStorage).toEqual({});
  });

  it('replaces journals whose items it has kept', () => {
    journalOf('page').write({ texts: [first], isLeft: true });
    const journal = journalOf('reader');
    journal.keep([first, second]);
    journal.replace(others(), false);
    expect(Object.keys(localStorage)).toEqual([keyOf('reader')]);
    expect(stored('reader').texts).toEqual([first, second]);
  });

  it('names the journals whose items it has, too: those that it takes in, and earlier ones', () => {
    journalOf('page').write({ texts: [first, second], isLeft: true });
    const taken = others();
    const journal = journalOf('reader');
    journal.adopt(taken);
    journal.keep([before]);
    expect(stored('reader').earlier).toBe(undefined);
    journal.keep([first, second]);
    journal.write({ earlier: [{ name: 'own', texts: [before, upsert] }] });
    const named = [`${keyOf('page')} ${NOW}`, idOf(first), idOf(second)];
    expect(stored('reader').earlier).toEqual([['own', idOf(before)], named]);
    journal.drop([idOf(first)]);
    expect(stored('reader').earlier).toEqual([
      ['own', idOf(before)],
      [named[0], idOf(second)],
    ]);
    journal.replace(taken, true);
    journal.write({});
    expect(stored('reader')).toEqual({ at: expect.any(Number), texts: [before, second] });
  });

  it('leaves out those names where localStorage has no room for them', () => {
    const texts = times(20, (number) => draftEvent(NOW, `${number}`));
    journalOf('page').write({ texts, isLeft: true });
    const taken = others();
    stubRoom(localStorage[keyOf('page')].length + 200);
    const journal = journalOf('reader');
    journal.adopt(taken);
    journal.keep([...texts, before]);
    expect(stored('reader')).toEqual({ at: expect.any(Number), texts: [...texts, before] });
  });

  it('deletes journals whose items the database has, though its own journal has no room', () => {
    journalOf('page').write({ texts: [first], isLeft: true });
    stubRoom(2000);
    const journal = journalOf('reader');
    journal.keep(times(100, (number) => draftEvent(NOW, `${number}`)));
    journal.replace(others(), true);
    expect(Object.keys(localStorage)).toEqual([keyOf('reader')]);
  });

  it('leaves journals alone while localStorage has no room for a second copy, and keeps only the other items', () => {
    const texts = times(6, (number) => draftEvent(NOW, `${number}`));
    journalOf('page').write({ texts, isLeft: true });
    stubRoom(1000);
    const journal = journalOf('reader');
    journal.keep([...texts, second]);
    journal.replace(others(), false);
    expect([stored('page').texts, stored('reader').texts]).toEqual([texts, [second]]);
    journal.keep([...texts, second, upsert]);
    expect([stored('page').texts, stored('reader').texts]).toEqual([texts, [second, upsert]]);
  });

  it('reads the journals of several pages in the order of time, each under its own name', () => {
    journalOf('b').keep([upsert]);
    vi.setSystemTime(NOW + SECOND);
    journalOf('a').keep([before]);
    const found = others(NOW + 2 * SECOND);
    expect(found.map(({ texts }) => texts)).toEqual([[upsert], [before]]);
    expect(new Set(found.map(({ name }) => name)).size).toBe(2);
  });

  it.each([
    ['later', SECOND],
    ['in the same millisecond', 0],
  ])('reads a journal that is written again %s under another name', (_when, later) => {
    const journal = journalOf('page');
    journal.keep([before]);
    const [one] = others();
    vi.setSystemTime(NOW + later);
    journal.keep([upsert]);
    const [two] = others(NOW + 2 * SECOND);
    expect([one?.name, two?.name]).toEqual([expect.stringContaining('page'), expect.stringContaining('page')]);
    expect(one?.name).not.toBe(two?.name);
  });

  it('has another name after each of a thousand writes in one millisecond', () => {
    const journal = journalOf('page');
    const names = times(1000, (i) => {
      journal.write({ texts: [first], isLeft: i % 2 === 0 });
      return others(NOW + SECOND)[0]?.name;
    });
    expect(new Set(names).size).toBe(1000);
  });

  it('is that of an open page in the millisecond in which it was written twice', () => {
    const journal = journalOf('page');
    journal.keep([before]);
    journal.keep([upsert]);
    expect(others(NOW)).toEqual([]);
  });

  it('finds its own name among those of journals that were taken in', () => {
    const journal = journalOf('page');
    journal.keep([before]);
    const names = others().map(({ name }) => name);
    expect([journal.isAmong(names), journalOf('pag').isAmong(names)]).toEqual([true, false]);
  });

  it('knows its latest name and the items that other pages find under that name', () => {
    const journal = journalOf('page');
    journal.keep([before]);
    journal.write({ texts: [first], isLeft: true });
    const latest = journal.latest();
    expect(others()).toMatchObject([latest]);
    journal.keep([upsert]);
    expect(journal.latest().name).not.toBe(latest.name);
    expect(others()).toMatchObject([journal.latest()]);
  });

  it('has no latest items if localStorage takes none', () => {
    vi.stubGlobal('localStorage', Object.freeze({}));
    const journal = journalOf('page');
    journal.keep([before]);
    expect(journal.latest().texts).toEqual([]);
  });

  it('does not read the journal of an open page, which was written since its question', () => {
    journalOf('open').write({ visitor, texts: [first] });
    expect(others(NOW)).toEqual([]);
    expect(others(NOW - SECOND)).toEqual([]);
  });

  it('reads a journal that was written before its question: its page is gone, or has stored the items', () => {
    journalOf('gone').keep([first]);
    expect(others(NOW + 1)[0]?.texts).toEqual([first]);
  });

  it('reads a journal of the same moment if its page has left', () => {
    journalOf('left').write({ texts: [first], isLeft: true });
    expect(others(NOW)[0]?.texts).toEqual([first]);
  });

  it('reads a journal with a future time, since the clock was set back', () => {
    store('gone', { texts: [first], at: NOW + 3600 * SECOND });
    expect(others()[0]?.texts).toEqual([first]);
  });

  it('reads finished items with a future time, since the clock was set back', () => {
    const ahead = draftEvent(NOW + 3600 * SECOND, 'ahead');
    journalOf('gone').keep([ahead]);
    expect(others()[0]?.texts).toEqual([ahead]);
  });

  it('reads finished upserts, which have no time', () => {
    journalOf('gone').keep([upsert]);
    expect(others()[0]?.texts).toEqual([upsert]);
  });

  it('does not remove a journal that its page has written again', () => {
    const journal = journalOf('page');
    journal.keep([first]);
    const [other] = others();
    journal.keep([second]);
    other?.remove();
    expect(stored('page').texts).toEqual([first, second]);
  });

  it.each([
    ['in the database', true],
    ['in the journal of this page', false],
  ])('is removed a second later if its page may write it again unseen: its items are %s', (_what, isStored) => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout'] });
    const journal = journalOf('reader');
    journalOf('open').write({ texts: [first] });
    journalOf('left').write({ texts: [first], isLeft: true });
    journal.replace(journal.others(NOW + 1), isStored);
    expect([stored('open')?.texts, stored('left')]).toEqual([[first], null]);
    vi.advanceTimersByTime(500);
    journalOf('open').write({ texts: [first, second] });
    vi.advanceTimersByTime(500);
    expect(stored('open').texts).toEqual([first, second]);
    journal.replace(journal.others(NOW + SECOND + 1), isStored);
    vi.advanceTimersByTime(SECOND);
    expect(stored('open')).toBeNull();
  });

  it('does not remove a journal that its page has begun anew', () => {
    const journal = journalOf('page');
    journal.keep([first]);
    const [other] = others();
    journal.drop([idOf(first)]);
    journal.keep([second]);
    other?.remove();
    expect(stored('page').texts).toEqual([second]);
  });

  it('removes nothing if another page has removed it already', () => {
    journalOf('page').write({ texts: [first], isLeft: true });
    const [[one], [two]] = [others(), others()];
    one?.remove();
    two?.remove();
    expect(localStorage).toEqual({});
  });
});

describe('a journal that other code has overwritten', () => {
  const GARBAGE: unknown[] = [
    'not JSON',
    '',
    'null',
    '7',
    '"text"',
    'true',
    '[]',
    '[5,null,{}]',
    '{}',
    { visitor: null, texts: null },
    { visitor: 7, texts: 'text' },
    { visitor: {}, texts: {} },
    { visitor: [], texts: [null, 7, 'text', [], {}, true] },
    { visitor: { thread: 'nobody' }, texts: ['{"uuid":"short","timestamp":""}'] },
    { visitor: { thread: ONE.toUpperCase() }, isLeft: 'yes' },
    { texts: [], at: 'noon' },
  ];

  it.each(GARBAGE.map((garbage) => [garbage]))('has no visitor and no items, and is removed: %j', (garbage) => {
    store('page', garbage);
    const [other] = others();
    expect([other?.visitor, other?.texts]).toEqual([undefined, []]);
    other?.remove();
    expect(localStorage).toEqual({});
  });

  it('keeps the items that are in order', () => {
    store('page', { texts: [null, 'text', before, {}, upsert] });
    expect(others()[0]?.texts).toEqual([before, upsert]);
  });

  it.each<[string, object]>([
    ['the time', { at: 'noon' }],
    ['the time', { at: [null] }],
    ['the time', { at: {} }],
    ['the time', { at: { toString: 1 } }],
    ['the departure', { isLeft: {} }],
    ['fields of what is read', { name: 7, remove: 'all', page: [] }],
  ])('keeps the items beside foreign values in %s: %j', (_what, foreign) => {
    store('page', { texts: [before], ...foreign });
    const [other] = others();
    expect(other?.texts).toEqual([before]);
    expect(other?.name).toBeTypeOf('string');
    other?.remove();
    expect(localStorage).toEqual({});
  });

  it.each<[string, object]>([
    ['without numbers and keys', { thread: ONE }],
    ['with null for the rest', { thread: ONE, turn: null, keys: null, pages: null }],
    ['with keys that are none', { thread: ONE, keys: { [SERVICE]: 7, other: [{}] } }],
  ])('has only visitors that can be merged: one %s', (_what, left) => {
    store('page', { visitor: left });
    expect(others()[0]?.visitor).toEqual({ thread: ONE, turn: 0, keys: {}, pages: 0 });
  });
});

describe('a page of an earlier version', () => {
  it('has left finished items', () => {
    localStorage[`clew.items ${SERVICE} old`] = JSON.stringify([before, upsert]);
    localStorage['clew.items /other old'] = JSON.stringify([before]);
    const [other, ...rest] = others();
    expect(rest).toEqual([]);
    expect(other).toMatchObject({ isLeft: true, name: '', texts: [before, upsert] });
    other?.remove();
    expect(Object.keys(localStorage)).toEqual(['clew.items /other old']);
  });

  it('has left a changed visitor, who counts first', () => {
    const changed = { ...visitor, thread: OTHER };
    journalOf('page').keep([first]);
    localStorage['clew.visitor'] = JSON.stringify(changed);
    const [other, ...rest] = others();
    expect(rest).toHaveLength(1);
    expect(other).toMatchObject({ visitor: changed, isLeft: true, name: '', texts: [] });
    other?.remove();
    expect(Object.keys(localStorage)).toEqual([keyOf('page')]);
  });

  it.each(['not JSON', '[5, null, {}]', '{}', 'null', '"text"', '7'])('has left nothing readable: %s', (text) => {
    localStorage[`clew.items ${SERVICE} old`] = text;
    localStorage['clew.visitor'] = text;
    for (const other of others()) {
      expect([other.visitor, other.texts]).toEqual([undefined, []]);
      other.remove();
    }
    expect(localStorage).not.toHaveProperty([`clew.items ${SERVICE} old`]);
  });
});
