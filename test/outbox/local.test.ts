// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eraseEntries, readEntry, readList, writeEntry } from '../../src/outbox/local.ts';
import { makeListsText } from '../support/oldLibrary.ts';

/** A page whose localStorage holds this text under `key`. */
const holding = (text?: string) => vi.stubGlobal('localStorage', text === undefined ? {} : { key: text });

afterEach(() => vi.unstubAllGlobals());

describe('a list in the journal', () => {
  it('is read as it was written, whatever its items are', () => {
    const list = ['text', 7, null, { a: 1 }, [1, [2]]];
    holding();
    writeEntry('key', undefined, list);
    expect(readList('key')).toEqual(list);
  });

  it('is read as it was written on a page whose library makes texts of lists', () => {
    makeListsText();
    const list = ['text', { ids: [1, [2]] }, new Date(0)];
    holding();
    writeEntry('key', undefined, list);
    expect(readList('key')).toEqual(['text', { ids: [1, [2]] }, '1970-01-01T00:00:00.000Z']);
  });

  it.each([
    ['nothing', undefined],
    ['nothing but null', 'null'],
    ['an empty list', '[]'],
    ['no JSON', '[1,'],
    ['no text', ''],
  ])('is empty if the text is %s', (_what, text) => {
    holding(text);
    expect(readList('key')).toEqual([]);
  });

  it.each(['7', '"text"', 'true', '{"length":3}'])('is a list even if other code has written %s', (text) => {
    holding(text);
    expect(Array.isArray(readList('key'))).toBe(true);
  });

  it('is empty if storage is refused', () => {
    vi.stubGlobal('localStorage', null);
    writeEntry('key', undefined, [1]);
    expect(readEntry('key')).toBeNull();
    expect(readList('key')).toEqual([]);
  });
});

it('the journal removes the key for an undefined value', () => {
  holding('[1]');
  writeEntry('key');
  expect(localStorage).toEqual({});
});

it.each(['page', 'items', 'handed', 'book'])('a refusal erases the entries clew.%s of its own service only', (name) => {
  const keyOf = (service: string) => `clew.${name} ${service} page`;
  const others = ['/other', '/clew2'].map(keyOf);
  const local = Object.fromEntries([keyOf('/clew'), ...others].map((key) => [key, '[1]']));
  vi.stubGlobal('sessionStorage', {});
  eraseEntries('/clew', local);
  expect(Object.keys(local)).toEqual(others);
});
