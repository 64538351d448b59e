import type { Page } from '@playwright/test';

/** Puts the script tag with these `data-` attributes into a page of the demo's origin. Resolves once the bundle has run. */
export const loadTag = (page: Page, dataset: Record<string, string> = {}): Promise<void> =>
  page.evaluate(
    (attributes) =>
      new Promise<void>((resolve, reject) => {
        const script = Object.assign(document.createElement('script'), { src: '/dist/clew.js', async: true });
        Object.assign(script.dataset, attributes);
        script.onload = () => resolve();
        script.onerror = () => reject(new Error('clew.js did not load'));
        document.head.append(script);
      }),
    { baseUrl: '/clew', ...dataset },
  );

/** Opens the blank page with the script tag in it. */
export const visitBlank = async (page: Page, address: string, dataset?: Record<string, string>): Promise<void> => {
  await page.goto(`${address}/blank`);
  await loadTag(page, dataset);
};

declare global {
  interface Window {
    clew(method: string, ...args: unknown[]): unknown;
  }
}
