import type { Page } from '@playwright/test';

const hold = () =>
  new Promise<void>((resolve) => {
    let isHeld = true;
    window.release = () => {
      isHeld = false;
    };
    const opening = indexedDB.open('clew');
    opening.onsuccess = () => {
      const rows = opening.result.transaction('clew', 'readwrite').objectStore('clew');
      const go = () => {
        resolve();
        if (isHeld) rows.count().onsuccess = go;
        else opening.result.close();
      };
      rows.count().onsuccess = go;
    };
  });

declare global {
  interface Window {
    release(): void;
  }
}

/** Blocks the origin's database for all other pages, until the returned function is called. */
export const holdDatabase = async (page: Page): Promise<() => Promise<void>> => {
  await page.evaluate(hold);
  return () => page.evaluate(() => window.release());
};
