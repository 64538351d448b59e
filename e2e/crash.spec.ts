import type { Page } from '@playwright/test';
import { crash, type OwnBrowser, openBrowser, withProfile } from './support/ownBrowser.ts';
import { visitBlank } from './support/tag.ts';
import { expect, numbers, test, upTo } from './support/test.ts';

/** Longer than a lease: that of a page which crashed while it was sending has to run out. */
const PATIENCE = { timeout: 40_000 };

const ends = {
  'a SIGKILL of the browser': async (_page: Page, browser: OwnBrowser) => browser.kill(),
  'a crash of the page': async (page: Page, browser: OwnBrowser) => {
    await crash(page);
    await browser.quit();
  },
};

for (const [what, end] of Object.entries(ends)) {
  test(`what was stored before ${what} is sent by the next visit`, async ({ demo }) => {
    await withProfile(async (profile) => {
      const browser = await openBrowser(profile);
      const page = await browser.newPage();
      await visitBlank(page, demo.address);
      await page.evaluate(() => window.clew('correlationValue'));
      await demo.fault({ mode: 'close-before' });
      await page.evaluate(async () => {
        for (let n = 0; n < 200; n++) window.clew('track', 'survived', { n });
        // Answered when the attempt has failed: by then the events have long been in the store.
        await window.clew('flush');
      });
      await end(page, browser);
      expect(await demo.events()).toEqual([]);

      await demo.fault({ mode: 'none' });
      const next = await openBrowser(profile);
      await visitBlank(await next.newPage(), demo.address);
      await expect.poll(async () => numbers(await demo.events('survived')), PATIENCE).toEqual(upTo(200));
      await next.kill();
    });
  });
}
