import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import type * as Clew from '../../src/index.ts';

const index = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

const bundle = async (): Promise<string> => {
  const built = await rollup({ input: index, plugins: [nodeResolve({ browser: true })] });
  const { output } = await built.generate({ format: 'iife', name: 'app', extend: true });
  return output[0].code;
};
/** Built once for all tests of a worker. */
let content: Promise<string> | undefined;

/** Puts the exports of the package into the page, as `window.app`. */
export const loadPackage = async (page: Page): Promise<void> => {
  content ??= bundle();
  await page.addScriptTag({ content: await content });
};

declare global {
  interface Window {
    app: typeof Clew;
  }
}
