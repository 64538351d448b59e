import type { Demo } from '../e2e/support/demo.ts';
import { openBrowser, withProfile } from '../e2e/support/ownBrowser.ts';
import { visitBlank } from '../e2e/support/tag.ts';

/** As text, for what compiles this file adds names that a page does not know. */
const BURST = `(async () => {
  const long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  for (let n = 0; n < 10_000; n++) clew('track', 'burst', { n, plan: 'pro' });
  for (;;) {
    await new Promise((done) => setTimeout(done, 100));
    if (!clew('stats').queued) return long;
  }
})()`;

/** Durations (ms) of the tasks of more than 50 ms that 10,000 calls cause until all are delivered, on a processor four times slower. */
export const measureLongTasks = (demo: Demo) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const page = await browser.newPage();
    await visitBlank(page, demo.address, { maxQueuedEvents: '20000' });
    await page.evaluate(() => window.clew('correlationValue'));
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const durations = (await page.evaluate(BURST)) as number[];
    await browser.quit();
    return durations;
  });
