import type { Demo } from '../e2e/support/demo.ts';
import { openBrowser, withProfile } from '../e2e/support/ownBrowser.ts';
import { visitBlank } from '../e2e/support/tag.ts';

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** As text, for what compiles this file adds names that a page does not know. */
const timed = (call: string) => `(() => {
  const list = [];
  const start = performance.now();
  for (let n = 0; n < 10_000; n++) { ${call} }
  return performance.now() - start;
})()`;
const CLEW = "clew('track', 'burst', { n, plan: 'pro' })";
const FLOOR = "list.push(JSON.stringify({ event: 'burst', payload: { n, plan: 'pro' } }))";

/** Main-thread time of 10,000 calls in one task beside the floor, in turns within one run. */
export const measureBurst = (demo: Demo, runs: number) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const clew: number[] = [];
    const floor: number[] = [];
    for (let run = 0; run < runs; run++) {
      const page = await browser.newPage();
      await visitBlank(page, demo.address, { maxQueuedEvents: '20000', flushInterval: '600000' });
      await page.evaluate(() => window.clew('correlationValue'));
      const [a, b] = (await page.evaluate(`(${run % 2 === 0})
        ? [${timed(CLEW)}, ${timed(FLOOR)}]
        : [${timed(FLOOR)}, ${timed(CLEW)}].reverse()`)) as number[];
      clew.push(a ?? Number.NaN);
      floor.push(b ?? Number.NaN);
      await page.close();
    }
    await browser.quit();
    const ratio = median(clew.map((ms, i) => ms / (floor[i] ?? Number.NaN)));
    return { clew: median(clew), floor: median(floor), ratio };
  });
