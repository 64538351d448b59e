import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import type { Demo } from '../e2e/support/demo.ts';
import { crash, type OwnBrowser, openBrowser, withProfile } from '../e2e/support/ownBrowser.ts';
import { visitBlank } from '../e2e/support/tag.ts';

/** How long (ms) the last event may take to arrive: longer than the lease of a tab that crashed. */
const PATIENCE = 40_000;

const track = (page: Page) =>
  page.evaluate(() => {
    for (let n = 0; n < 200; n++) window.clew('track', 'durable', { n });
  });

interface Stage {
  readonly demo: Demo;
  readonly page: Page;
  readonly browser: OwnBrowser;
}

/** Each function ends the page or disturbs its requests, and returns whether the visitor comes back in a new browser. */
const ways: Record<string, (stage: Stage) => Promise<boolean>> = {
  'navigate at once': async ({ page }) => {
    await page.evaluate(() => {
      for (let n = 0; n < 200; n++) window.clew('track', 'durable', { n });
      location.href = '/blank?next';
    });
    return false;
  },
  'close at once': async ({ page }) => {
    await track(page);
    await page.close({ runBeforeUnload: true });
    return false;
  },
  'offline, closed, reopened': async ({ demo, page, browser }) => {
    await browser.setOffline(true);
    await demo.fault({ mode: 'close-before' });
    await track(page);
    await page.close();
    await browser.quit();
    return true;
  },
  'three 500s': async ({ demo, page }) => {
    await demo.fault({ mode: 'status', status: 500, count: 3 });
    await track(page);
    return false;
  },
  'renderer crash once the database is open, reopened': async ({ page, browser }) => {
    await page.evaluate(() => window.clew('correlationValue'));
    await track(page);
    await crash(page);
    await browser.quit();
    return true;
  },
  'SIGKILL of the browser after 1 s, reopened': async ({ page, browser }) => {
    await track(page);
    await pause(1000);
    await browser.kill();
    return true;
  },
  'offline, SIGKILL, reopened online': async ({ demo, page, browser }) => {
    await browser.setOffline(true);
    await demo.fault({ mode: 'close-before' });
    await track(page);
    await pause(1000);
    await browser.kill();
    return true;
  },
};

/** Numbers of the events that are stored, once all 200 are there or `PATIENCE` is over. */
const arrivals = async (demo: Demo): Promise<number[]> => {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = (await demo.events('durable')).map(({ payload }) => (payload as { n: number }).n);
    if (found.length >= 200 || Date.now() > end) return found;
    await pause(100);
  }
};

/** Plays every departure `runs` times. Counts how many different events of 200 are stored, and how many are stored twice. */
export async function* measureDurability(demo: Demo, runs: number) {
  for (const [way, leave] of Object.entries(ways)) {
    const arrived: number[] = [];
    const twice: number[] = [];
    for (let run = 0; run < runs; run++) {
      await demo.clear();
      await withProfile(async (profile) => {
        let browser = await openBrowser(profile);
        const page = await browser.newPage();
        await visitBlank(page, demo.address);
        const comesBack = await leave({ demo, page, browser });
        if (comesBack) {
          await demo.fault({ mode: 'none' });
          browser = await openBrowser(profile);
          await visitBlank(await browser.newPage(), demo.address);
        }
        const found = await arrivals(demo);
        arrived.push(new Set(found).size);
        twice.push(found.length - new Set(found).size);
        await browser.kill();
      });
    }
    yield { way, arrived, twice };
  }
}
