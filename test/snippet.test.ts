import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPage } from './tracker/page.ts';

type Clew = (method: string, ...args: unknown[]) => unknown;

afterEach(() => {
  // A page without network hands nothing over as it stops.
  vi.stubGlobal('navigator', { onLine: false });
  (globalThis as { clew?: Clew }).clew?.('stop');
  Reflect.deleteProperty(globalThis, 'clew');
  Reflect.deleteProperty(Object.prototype, 'inspect');
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Events that have reached the relay. */
let arrived: Record<string, unknown>[] = [];

/** Runs the script tag with these `data-` attributes, on a page of its own. */
const load = async (dataset: Record<string, string> = {}): Promise<Clew> => {
  const { document } = openPage();
  Object.assign(document, { currentScript: { dataset: { baseUrl: '/clew', compress: 'false', ...dataset } } });
  vi.stubGlobal('window', globalThis);
  arrived = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
    arrived.push(...JSON.parse(body).batch);
    return new Response('{}');
  });
  vi.resetModules();
  await import('../src/snippet.ts');
  return (globalThis as unknown as { clew: Clew }).clew;
};

const names = () => arrived.map(({ event }) => event);

describe('a page whose libraries add to Object.prototype', () => {
  it.each([
    ['a function', () => 'added'],
    [
      'a function that throws',
      () => {
        throw new Error('not a map');
      },
    ],
    ['null', null],
  ])('%s is no option of the script tag, and its events arrive', async (_what, addition) => {
    Object.assign(Object.prototype, { inspect: addition });
    const clew = await load();
    clew('track', 'seen', { n: 1 });
    await clew('flush');
    expect(arrived).toMatchObject([{ event: 'seen', payload: { n: 1 } }]);
  });
});

describe('window.clew', () => {
  it.each(['toString', 'constructor', '__proto__', 'inspect'])('has no method %s', async (method) => {
    const clew = await load();
    const inherited = vi.fn();
    Object.assign(Object.prototype, { inspect: inherited });
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(clew(method)).toBeUndefined();
    expect(logged.mock.calls).toEqual([[`clew: no method ${method}`]]);
    expect(inherited).not.toHaveBeenCalled();
  });

  it('ignores a data- attribute that is named like a method of all objects', async () => {
    const clew = await load({ toString: 'x', constructor: 'x' });
    clew('track', 'seen');
    await clew('flush');
    expect(names()).toEqual(['seen']);
  });
});
