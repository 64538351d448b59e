// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHint } from '../../src/visitor/hint.ts';
import { markOf, type Visitor } from '../../src/visitor/record.ts';

const SERVICE = '/clew';
const { readHint, writeHint, rawHint } = createHint(SERVICE);
const [ONE, OTHER] = ['01234567-89ab-4cde-8f01-23456789abcd', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
const visitorOf = (changes: Partial<Visitor> = {}): Visitor => ({
  thread: ONE,
  turn: 1,
  keys: {},
  pages: 1,
  ...changes,
});

beforeEach(() => {
  vi.stubGlobal('localStorage', {});
});
afterEach(() => vi.unstubAllGlobals());

describe('the hint in localStorage', () => {
  it('has the mark of the customer, and neither the primary key nor the signature', () => {
    writeHint(visitorOf({ keys: { [SERVICE]: ['ann@shop.example', 'secret'], '/other': [7] } }));
    const text = rawHint() ?? '';
    expect(text).not.toContain('ann');
    expect(text).not.toContain('secret');
    const { keys, ...rest } = readHint() as Visitor;
    expect(rest).toEqual({ thread: ONE, turn: 1, pages: 1 });
    expect(Object.entries(keys).map(([service, [mark]]) => [service, mark])).toEqual([
      [SERVICE, markOf('ann@shop.example')],
      ['/other', 0],
    ]);
    expect(JSON.parse(text).keys['/other'][0]).toBe(7);
  });

  it('leaves open whether the service has the $identify', () => {
    writeHint(visitorOf({ keys: { [SERVICE]: ['ann'] } }));
    expect(readHint()?.keys[SERVICE]?.[2]).toBe(true);
  });

  it('is changed by a later visitor, and not by an earlier one or one that is as late', () => {
    const hintAfter = (visitor: Visitor) => {
      writeHint(visitor);
      return readHint()?.thread;
    };
    const later = visitorOf({ thread: OTHER, turn: 2 });
    expect(hintAfter(visitorOf())).toBe(ONE);
    expect(hintAfter(later)).toBe(OTHER);
    expect(hintAfter(visitorOf({ keys: { [SERVICE]: ['ann'] } }))).toBe(OTHER);
    expect(readHint()?.keys).toEqual({});
  });

  it('is erased if the storage has no room for the next person', () => {
    writeHint(visitorOf());
    const set = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    vi.stubGlobal('localStorage', new Proxy({ ...localStorage }, { set }));
    expect(readHint()?.thread).toBe(ONE);
    writeHint(visitorOf({ thread: OTHER, turn: 2 }));
    expect(rawHint()).toBeUndefined();
  });

  it('keeps the customers that other trackers have identified with the same visitor id', () => {
    const { readHint: readOne, writeHint: writeOne } = createHint('/one');
    const { writeHint: writeTwo } = createHint('/two');
    writeOne(visitorOf({ keys: { '/one': ['ann'] }, pages: 4 }));
    writeTwo(visitorOf({ keys: { '/two': ['bob'] } }));
    const { keys, pages } = JSON.parse(rawHint() ?? '') as Visitor;
    expect([keys['/one']?.[0], keys['/two']?.[0]]).toEqual([markOf('ann'), markOf('bob')]);
    expect(pages).toBe(4);
    // A tracker does not learn whom the other services have identified.
    expect([readOne()?.keys['/one']?.[0], readOne()?.keys['/two']?.[0]]).toEqual([markOf('ann'), 0]);
  });

  it.each(['nonsense', '7', '"somebody"', '{}', 'null', '[]', '{"thread":7}'])(
    'is ignored and replaced if other code has written %s',
    (text) => {
      localStorage['clew.hint'] = text;
      expect(readHint()).toBeUndefined();
      writeHint(visitorOf());
      expect(readHint()).toEqual(visitorOf());
    },
  );

  it.each(['null', '7', 'true', '{}', '[]'])('is readable and writable if an identity in it is %s', (identity) => {
    localStorage['clew.hint'] = `{"thread":"${ONE}","turn":1,"keys":{"/other":${identity}},"pages":1}`;
    expect(readHint()?.thread).toBe(ONE);
    expect(() => writeHint(visitorOf())).not.toThrow();
  });
});

describe('the visitor id that an earlier version has left', () => {
  beforeEach(() => {
    localStorage['clew.thread'] = JSON.stringify(ONE);
  });

  it('is read as one of an unknown customer, older than any record', () => {
    expect(readHint()).toEqual({ thread: ONE, turn: -1, keys: { [SERVICE]: [0] }, pages: 0 });
  });

  it('is replaced by the hint', () => {
    writeHint(visitorOf({ thread: OTHER, turn: 0 }));
    expect(localStorage).not.toHaveProperty('clew.thread');
    expect(readHint()?.thread).toBe(OTHER);
  });

  it('counts less than a hint', () => {
    localStorage['clew.hint'] = JSON.stringify(visitorOf({ thread: OTHER }));
    expect(readHint()?.thread).toBe(OTHER);
  });

  it.each(['nonsense', '7', '"somebody"', '{}', 'null'])('is ignored if it is corrupt: %s', (text) => {
    localStorage['clew.thread'] = text;
    expect(readHint()).toBeUndefined();
  });
});

it('storage that is refused has no hint, and throws no error', () => {
  vi.unstubAllGlobals();
  const had = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    get() {
      throw new DOMException('refused', 'SecurityError');
    },
  });
  try {
    expect(() => localStorage).toThrow('refused');
    writeHint(visitorOf());
    expect([readHint(), rawHint()]).toEqual([undefined, undefined]);
  } finally {
    if (had) Object.defineProperty(globalThis, 'localStorage', had);
    else Reflect.deleteProperty(globalThis, 'localStorage');
  }
});
