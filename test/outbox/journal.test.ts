// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createJournal } from '../../src/outbox/journal.ts';
import { draftEvent, draftUpsert, idOf } from '../../src/recorder/event.ts';
import type { Held } from '../../src/visitor/held.ts';

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
/** The journals of the other pages, as a page sees them that has begun to ask the database after they were written. */
const others = (since = NOW + 1) => journalOf('reader').others(since);

const call = (index: number, name = `call ${index}`): Held => ({ index, at: NOW + index, text: draftEvent(NOW, name) });
const [first, second] = [call(1), call(2)];
const reset: Held = { index: 3, at: NOW, fresh: ONE };
const before = draftEvent(NOW - 5 * SECOND, 'before');
const upsert = draftUpsert({ plan: 'pro' });

describe('the journal of a page', () => {
  it('has the calls that wait and the finished items, and is deleted with the last of them', () => {
    const journal = journalOf('page');
    journal.write([first, second], false);
    journal.keep([before, upsert]);
    expect(stored('page')).toEqual({ held: [first, second], isLeft: false, texts: [before, upsert], at: NOW });
    journal.write([second], true);
    expect(stored('page')).toEqual({ held: [second], isLeft: true, texts: [before, upsert], at: NOW });
    journal.drop([idOf(before)]);
    expect(stored('page').texts).toEqual([upsert]);
    journal.write([], true);
    expect(stored('page')).toEqual({ held: [], isLeft: true, texts: [upsert], at: NOW });
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
    journal.write([], false);
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
    journal.write([first], true);
    expect(journal.others(NOW)).toEqual([]);
  });

  it('is never written by another page', () => {
    journalOf('page').keep([before]);
    const text = localStorage[keyOf('page')];
    const journal = journalOf('reader');
    journal.drop([idOf(before)]);
    journal.keep([upsert]);
    journal.write([], true);
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
    journal.write([first], false);
    journal.keep([before]);
    journal.drop([idOf(before)]);
    expect(journal.others(NOW)).toEqual([]);
  });
});

describe('another page', () => {
  it('reads what a page has left, and removes it', () => {
    const journal = journalOf('page');
    journal.write([first, reset], true);
    journal.keep([before, upsert]);
    const [other, ...rest] = others();
    expect(rest).toEqual([]);
    expect(other).toMatchObject({ page: 'page', isLeft: true, held: [first, reset], texts: [before, upsert] });
    other?.remove();
    expect(localStorage).toEqual({});
  });

  it('reads the journals of several pages, each under its name', () => {
    journalOf('a').keep([before]);
    journalOf('b').keep([upsert]);
    expect(others().map(({ page, texts }) => [page, texts])).toEqual([
      ['a', [before]],
      ['b', [upsert]],
    ]);
  });

  it('reads the calls of an open page, but not its finished items, and does not remove them', () => {
    const journal = journalOf('open');
    journal.write([first], false);
    journal.keep([draftEvent(NOW - SECOND, 'its own')]);
    const [other] = others(NOW - 2 * SECOND);
    expect(other).toMatchObject({ held: [first], texts: [] });
    const text = localStorage[keyOf('open')];
    other?.remove();
    expect(localStorage[keyOf('open')]).toBe(text);
  });

  it('reads finished items that were journaled before its question, since their page is gone or has stored them', () => {
    journalOf('gone').keep([draftEvent(NOW - SECOND, 'left')]);
    expect(others(NOW + 1)[0]?.texts).toHaveLength(1);
    expect(others(NOW)[0]?.texts).toEqual([]);
  });

  it('reads finished items of the same moment if their page has left', () => {
    const journal = journalOf('left');
    journal.keep([draftEvent(NOW, 'now')]);
    journal.write([], true);
    expect(others()[0]?.texts).toHaveLength(1);
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
    journal.write([first], false);
    const [other] = others();
    journal.write([first, second], false);
    other?.remove();
    expect(stored('page').held).toEqual([first, second]);
  });

  it('does not remove a journal that its page has begun anew', () => {
    const journal = journalOf('page');
    journal.write([first], false);
    const [other] = others();
    journal.write([], false);
    journal.write([second], false);
    other?.remove();
    expect(stored('page').held).toEqual([second]);
  });

  it('removes nothing if another page has removed it already', () => {
    journalOf('page').write([first], true);
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
    { held: null, texts: null },
    { held: 7, texts: 'text' },
    { held: {}, texts: {} },
    { held: [null, 7, 'text', [], {}, true], texts: [null, 7, 'text', [], {}, true] },
    { held: [{ index: 1, text: 'not an item' }], texts: ['{"uuid":"short","timestamp":""}'] },
    { held: [{ index: 1, at: NOW }], isLeft: 'yes' },
    { held: [{ index: 0, at: NOW, fresh: ONE }] },
    { held: [{ index: 'one', at: NOW, fresh: ONE }] },
    { held: [{ at: NOW, fresh: ONE }] },
    { held: [{ index: 1, at: NOW, visitor: { thread: 'nobody' } }] },
    { held: [{ index: 1, at: NOW, visitor: 7 }] },
  ];

  it.each(GARBAGE.map((garbage) => [garbage]))('has no calls and no items, and is removed: %j', (garbage) => {
    store('page', garbage);
    const [other] = others();
    expect([other?.held, other?.texts]).toEqual([[], []]);
    other?.remove();
    expect(localStorage).toEqual({});
  });

  it('keeps the calls and items that are in order', () => {
    store('page', { held: [null, first, 7, second], texts: ['text', before, {}, upsert] });
    expect(others()[0]).toMatchObject({ held: [first, second], texts: [before, upsert] });
  });

  it.each<[string, object]>([
    ['a visitor without numbers and keys', { index: 1, at: NOW, visitor: { thread: ONE } }],
    [
      'a visitor with null for the rest',
      { index: 1, at: NOW, visitor: { thread: ONE, turn: null, keys: null, pages: null } },
    ],
    ['an event with a visitor that is none', { ...call(1), visitor: {} }],
    ['an event with a visitor that is a number', { ...call(1), visitor: 7 }],
  ])('has only visitors that can be merged: %s', (_what, held) => {
    store('page', { held: [held] });
    for (const { visitor } of others()[0]?.held ?? [])
      if (visitor)
        expect(visitor).toMatchObject({
          turn: expect.any(Number),
          keys: expect.any(Object),
          pages: expect.any(Number),
        });
  });

  it.each(['nobody', 7, ONE.toUpperCase()])('starts no visitor id that is none: %j', (fresh) => {
    store('page', { held: [{ index: 1, at: NOW, fresh }] });
    expect(others()[0]?.held).toEqual([]);
  });

  it.each(['key', 'signature', 'dropped', 'given'])('skips a call whose %s is no text', (name) => {
    store('page', { held: [{ index: 1, at: NOW, fresh: ONE, [name]: 7 }, reset] });
    expect(others()[0]?.held).toEqual([reset]);
  });

  it.each([undefined, 'noon'])('has only calls whose time is a number: %s', (at) => {
    store('page', {
      held: [
        { ...first, at },
        { ...second, at: NOW },
      ],
    });
    for (const held of others()[0]?.held ?? []) expect(held.at).toEqual(expect.any(Number));
  });
});

describe('a page of an earlier version', () => {
  it('has left finished items', () => {
    localStorage[`clew.items ${SERVICE} old`] = JSON.stringify([before, upsert]);
    localStorage['clew.items /other old'] = JSON.stringify([before]);
    const [other, ...rest] = others();
    expect(rest).toEqual([]);
    expect(other).toMatchObject({ held: [], texts: [before, upsert] });
    other?.remove();
    expect(Object.keys(localStorage)).toEqual(['clew.items /other old']);
  });

  it('has left a changed visitor, who counts before all calls', () => {
    const visitor = { thread: OTHER, turn: 2, keys: { [SERVICE]: ['ann'] }, pages: 4 };
    localStorage['clew.visitor'] = JSON.stringify(visitor);
    const [other, ...rest] = others();
    expect(rest).toEqual([]);
    expect(other).toMatchObject({ isLeft: true, held: [{ at: 0, visitor }], texts: [] });
    other?.remove();
    expect(localStorage).toEqual({});
  });

  it.each(['not JSON', '[5, null, {}]', '{}', 'null', '"text"', '7'])('has left nothing readable: %s', (text) => {
    localStorage[`clew.items ${SERVICE} old`] = text;
    localStorage['clew.visitor'] = text;
    for (const other of others()) {
      expect([other.held, other.texts]).toEqual([[], []]);
      other.remove();
    }
    expect(localStorage).not.toHaveProperty([`clew.items ${SERVICE} old`]);
  });
});
