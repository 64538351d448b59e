import type { Page } from '@playwright/test';

/** Starts plugins of `clew/plugins`, as a page with the script tag does. `options` by the names of the plugins. */
export const usePlugins = (page: Page, options: Readonly<Record<string, object>>): Promise<void> =>
  page.evaluate(async (all) => {
    const file = '/dist/plugins.js';
    const plugins: Record<string, (given: object) => unknown> = await import(file);
    for (const [name, given] of Object.entries(all)) window.clew('use', plugins[name]?.(given));
  }, options);
