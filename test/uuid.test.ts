import { resolve } from 'node:path';
import type { Plugin } from 'rollup';
import { loadConfigFile } from 'rollup/loadConfigFile';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** `clew.js` has this in place of uuid's v4. */
const bundledV4 = async (): Promise<() => string> => {
  const { options } = await loadConfigFile(resolve(import.meta.dirname, '../rollup.config.mjs'), {});
  const plugins = options.flatMap((bundle) => bundle.plugins as Plugin[]);
  const load = plugins.find(({ name }) => name === 'short-uuid')?.load as (id: string) => { code: string };
  const { code } = load('/node_modules/uuid/dist/v4.js');
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default;
};

it.each([
  ['https', true],
  ['plain http', false],
])('ids of clew.js are v4 UUIDs on %s, and never come from Math.random', async (_scheme, isSecure) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const real = crypto;
  vi.stubGlobal('crypto', {
    getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => real.getRandomValues(bytes),
    ...(isSecure && { randomUUID: () => real.randomUUID() }),
  });
  const v4 = await bundledV4();
  const ids = Array.from({ length: 1000 }, () => v4());
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  // Every place that is no version and no variant takes every digit.
  for (const place of [0, 9, 15, 20, 35]) expect(new Set(ids.map((id) => id[place])).size).toBe(16);
});
