import { afterEach, describe, expect, it, vi } from 'vitest';
import { carried, carriedList, carry } from '../../src/outbox/carryOver.ts';
import { makeListsText } from '../support/oldLibrary.ts';

/** A page whose localStorage holds this text under `key`. */
const holding = (text?: string) => vi.stubGlobal('localStorage', text === undefined ? {} : { key: text });

afterEach(() => vi.unstubAllGlobals());

describe('a list in the journal', () => {
  it('is read as it was written, whatever its items are', () => {
    const list = ['text', 7, null, { a: 1 }, [1, [2]]];
    holding();
    carry('key', undefined, list);
    expect(carriedList('key')).toEqual(list);
  });

  it('is read as it was written on a page whose library makes texts of lists', () => {
    makeListsText();
    const list = ['text', { ids: [1, [2]] }, new Date(0)];
    holding();
    carry('key', undefined, list);
    expect(carriedList('key')).toEqual(['text', { ids: [1, [2]] }, '1970-01-01T00:00:00.000Z']);
  });

  it.each([
    ['nothing', undefined],
    ['nothing but null', 'null'],
    ['an empty list', '[]'],
    ['no JSON', '[1,'],
    ['no text', ''],
  ])('is empty if the text is %s', (_what, text) => {
    holding(text);
    expect(carriedList('key')).toEqual([]);
  });

  it.each(['7', '"text"', 'true', '{"length":3}'])('is a list even if other code has written %s', (text) => {
    holding(text);
    expect(Array.isArray(carriedList('key'))).toBe(true);
  });

  it('is empty if storage is refused', () => {
    vi.stubGlobal('localStorage', null);
    carry('key', undefined, [1]);
    expect(carried('key')).toBeNull();
    expect(carriedList('key')).toEqual([]);
  });
});

it('the journal removes the key for an undefined value', () => {
  holding('[1]');
  carry('key');
  expect(localStorage).toEqual({});
});
