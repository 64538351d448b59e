import type { Page } from '@playwright/test';
import type { Demo } from '../e2e/support/demo.ts';

/** Opens the blank page with the script tag in it. */
export const visit = async (page: Page, demo: Demo, options: Record<string, string> = {}): Promise<void> => {
  await page.goto(`${demo.address}/blank`);
  await page.evaluate(
    (dataset) =>
      new Promise<void>((resolve, reject) => {
        const script = Object.assign(document.createElement('script'), { src: '/dist/clew.js' });
        Object.assign(script.dataset, dataset);
        script.onload = () => resolve();
        script.onerror = () => reject(new Error('clew.js did not load'));
        document.head.append(script);
      }),
    { baseUrl: '/clew', ...options },
  );
};

declare global {
  interface Window {
    clew(method: string, ...args: unknown[]): unknown;
  }
}
