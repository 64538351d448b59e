import { afterEach, describe, expect, it, vi } from 'vitest';
import { carried, carriedList, carry } from '../../src/page/carryOver.ts';

/** A page whose localStorage holds this text under `key`. */
const holding = (text?: string) => vi.stubGlobal('localStorage', text === undefined ? {} : { key: text });

afterEach(() => vi.unstubAllGlobals());

describe('a list that was carried', () => {
  it('comes back as it was, whatever is in it', () => {
    const list = ['text', 7, null, { a: 1 }, [1, [2]]];
    holding();
    carry('key', list);
    expect(carriedList('key')).toEqual(list);
  });

  it.each([
    ['nothing', undefined],
    ['nothing but null', 'null'],
    ['an empty list', '[]'],
    ['no JSON', '[1,'],
    ['no text', ''],
  ])('is empty where there is %s', (_what, text) => {
    holding(text);
    expect(carriedList('key')).toEqual([]);
  });

  it.each(['7', '"text"', 'true', '{"length":3}'])('is a list also where somebody has put %s', (text) => {
    holding(text);
    expect(Array.isArray(carriedList('key'))).toBe(true);
  });

  it('is empty where storage is refused', () => {
    vi.stubGlobal('localStorage', null);
    carry('key', [1]);
    expect(carried('key')).toBeUndefined();
    expect(carriedList('key')).toEqual([]);
  });
});

it('carries nothing any more when it is told no value', () => {
  holding('[1]');
  carry('key');
  expect(localStorage).toEqual({});
});
