import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeListsText } from './support/oldLibrary.ts';

type Clew = { (...call: unknown[]): unknown; q: [at: number, call: unknown[]][] };

/** localStorage of the origin. */
let storage: Record<string, string>;
/** A page with the stub: its `clew`, and a function that lets the page leave. */
const open = async (element?: object): Promise<[clew: Clew, leave: () => void]> => {
  const window: { clew?: unknown } = element ? { clew: element } : {};
  let leave = () => {};
  vi.stubGlobal('window', window);
  vi.stubGlobal('addEventListener', (_type: string, listener: () => void) => {
    leave = listener;
  });
  vi.resetModules();
  await import('../src/stub.ts');
  return [window.clew as Clew, leave];
};
/** A page that makes these calls and leaves before the bundle loads. */
const visit = async (...calls: readonly (readonly unknown[])[]) => {
  const [clew, leave] = await open();
  for (const call of calls) clew(...call);
  leave();
};
const saved = () =>
  Object.keys(storage)
    .sort()
    .filter((key) => key.startsWith('clew.calls'));
const namesIn = (key: string) =>
  (JSON.parse(storage[key] as string) as [number, unknown[]][]).map(([, [, name]]) => name);

beforeEach(() => {
  storage = {};
  vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date'] });
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('document', { querySelector: () => null, title: 'Yarns', referrer: 'https://search.example/' });
  vi.stubGlobal('location', { href: 'https://shop.example/yarns?a=1', pathname: '/yarns' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a page that leaves while its HTML arrives', () => {
  it.each([
    ['saves nothing, because the script tag may be still to come', false, 0],
    ['saves its calls if it has the script tag already', true, 1],
  ])('%s', async (_what, hasTag, count) => {
    const querySelector = (selector: string) => (hasTag && selector === '[data-base-url]' ? {} : null);
    vi.stubGlobal('document', { readyState: 'loading', querySelector });
    await visit(['identify', 'ann']);
    expect(saved()).toHaveLength(count);
  });
});

describe('a page whose tag obeys Global Privacy Control', () => {
  it.each([
    ['saves nothing in a browser that sends the signal', true, 0],
    ['saves its calls in another browser', false, 1],
  ])('%s', async (_what, globalPrivacyControl, count) => {
    const querySelector = (selector: string) => (selector.includes('[data-respect-gpc]') ? {} : null);
    vi.stubGlobal('document', { querySelector });
    vi.stubGlobal('navigator', { globalPrivacyControl });
    await visit(['identify', 'ann']);
    expect(Object.keys(storage)).toHaveLength(count);
  });
});

describe('a page with an element whose id is clew', () => {
  it('has the stub all the same', async () => {
    const [clew] = await open({});
    expect(clew).toBeTypeOf('function');
  });
});

describe('a page whose bundle does not load', () => {
  it('keeps 5,000 calls, and beyond them those that change the visitor or the consent', async () => {
    const [clew] = await open();
    clew('track', 'first');
    for (let n = 0; n < 6000; n++) clew('track', 'scrolled', { n });
    const more = [
      ['page'],
      ['trackNow', 'a'],
      ['setProperties', {}],
      ['consent', false],
      ['reset'],
      ['identify', 'ann'],
    ];
    for (const call of more) clew(...call);
    const calls = clew.q.map(([, call]) => call);
    expect(calls[0]).toEqual(['track', 'first']);
    expect(calls.slice(4999)).toEqual([['track', 'scrolled', { n: 4998 }], ...more.slice(3)]);
  });

  it('saves the oldest calls that fit as it leaves, and looks at no others', async () => {
    const [clew, leave] = await open();
    for (let n = 0; n < 200; n++) clew('track', `call ${n}`, { text: 'x'.repeat(30_000) });
    const stringify = vi.spyOn(JSON, 'stringify');
    leave();
    const looks = stringify.mock.calls.length;
    stringify.mockRestore();
    expect(saved().flatMap(namesIn)).toEqual(Array.from({ length: 16 }, (_, n) => `call ${n}`));
    expect(looks).toBeLessThan(50);
  });
});

describe('a call before the bundle loads', () => {
  it('returns a promise that the bundle settles', async () => {
    const [clew] = await open();
    const result = clew('flush');
    expect(result).toBeInstanceOf(Promise);
    const [[, , , settle]] = clew.q as unknown as [[number, unknown[], unknown, (result: unknown) => void]];
    settle(Promise.resolve('done'));
    expect(await result).toBe('done');
  });

  it('that the stub drops stays pending', async () => {
    const [clew] = await open();
    for (let n = 0; n < 5000; n++) clew('track', 'scrolled');
    const settled = vi.fn();
    (clew('track', 'dropped') as Promise<void>).then(settled, settled);
    await new Promise((resolve) => setTimeout(resolve));
    expect(clew.q).toHaveLength(5000);
    expect(settled).not.toHaveBeenCalled();
  });
});

describe('a page that leaves before the bundle loads', () => {
  it('saves its calls in order, without those that JSON cannot express', async () => {
    await visit(['track', 'a'], ['track', 'b', 1n], ['track', 'c']);
    expect(saved().map(namesIn)).toEqual([['a', 'c']]);
  });

  it('saves lists as lists on a page whose library makes texts of them', async () => {
    makeListsText();
    await visit(['page'], ['track', 'a', { of: new Date(0), cart: ['book'] }]);
    const [key = ''] = saved();
    Reflect.deleteProperty(Array.prototype, 'toJSON');
    const [[, , seen], [, call]] = JSON.parse(storage[key] as string);
    expect(seen).toHaveLength(4);
    // The page's library makes texts of the page's own values. clew does not undo that.
    expect(call).toEqual(['track', 'a', { of: '1970-01-01T00:00:00.000Z', cart: '["book"]' }]);
  });

  it('saves with calls of `page` what the page was in the call, and a title that came later', async () => {
    const [clew, leave] = await open();
    document.title = '';
    clew('page', { plan: 'pro' });
    clew('track', 'a');
    document.title = 'Yarns';
    vi.stubGlobal('location', { href: 'https://shop.example/club', pathname: '/club' });
    clew('page');
    document.title = 'Club';
    leave();
    const [key = ''] = saved();
    const seen = (JSON.parse(storage[key] as string) as unknown[][]).map((call) => call[2]);
    expect(seen).toEqual([
      ['Club', 'https://shop.example/yarns?a=1', '/yarns', 'https://search.example/'],
      false,
      ['Yarns', 'https://shop.example/club', '/club', 'https://search.example/'],
    ]);
  });

  it('has a key of its own, also if another one leaves in the same millisecond', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    await visit(['track', 'a']);
    await visit(['track', 'b']);
    expect(saved().flatMap(namesIn).toSorted()).toEqual(['a', 'b']);
  });

  it('keeps the calls of earlier pages, and at most 500,000 characters of all pages', async () => {
    storage.other = 'x'.repeat(600_000);
    for (let page = 0; page < 40; page++) {
      vi.setSystemTime(1_770_000_000_000 + page);
      await visit(['track', `page ${page}`, { text: 'x'.repeat(30_000) }]);
    }
    const lengths = saved().map((key) => (storage[key] as string).length);
    expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(500_000);
    expect(saved().flatMap(namesIn)).toEqual(Array.from({ length: 16 }, (_, page) => `page ${page}`));
    expect(storage.other).toHaveLength(600_000);
  });
});
