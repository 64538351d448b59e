import type { Page } from '@playwright/test';
import type { Demo } from '../e2e/support/demo.ts';
import { openBrowser, withProfile } from '../e2e/support/ownBrowser.ts';
import { visitBlank } from '../e2e/support/tag.ts';

/** The work of a call, and the least work that a call could do. */
const WORK = {
  clew: "clew('track', 'burst', { n, plan: 'pro' })",
  floor: "list.push(JSON.stringify({ event: 'burst', payload: { n, plan: 'pro' } }))",
};
type Subject = keyof typeof WORK;
const SUBJECTS = Object.keys(WORK) as Subject[];

/** How long (ms) a page rests before it is measured. */
const REST = 500;

/**
 * A page's script, which is text because the compiler of this file adds helper functions that a page does not have. The script
 * makes the calls in a task of their own. The result is how long (ms) the calls took, and each task of more than 50 ms until all
 * events are delivered.
 */
const burst = (work: string) => `new Promise((told) => {
  const long = [];
  new PerformanceObserver((entries) => long.push(...entries.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  setTimeout(() => {
    const list = [];
    const start = performance.now();
    for (let n = 0; n < 10_000; n++) ${work};
    const time = performance.now() - start;
    const look = () => (clew('stats').queued ? setTimeout(look, 100) : told({ time, long }));
    setTimeout(look, 100);
  }, ${REST});
})`;

interface Burst {
  time: number;
  long: number[];
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Loads the tracker in a page, and makes the page's CPU `slowdown` times slower than this machine's. */
const openPage = async (page: Page, demo: Demo, slowdown: number) => {
  await visitBlank(page, demo.address, { maxQueuedEvents: '20000' });
  await page.evaluate(() => window.clew('correlationValue'));
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
};

/** Measures 10,000 calls in one task of a new page, `runs` times each for clew and for the floor. `time` is the median, in ms. */
export const measureBurst = (demo: Demo, runs: number, slowdown: number) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const measured: Record<Subject, Burst[]> = { clew: [], floor: [] };
    for (let run = 0; run < runs; run++) {
      // The order alternates, so that no subject is always first.
      for (const subject of run % 2 ? SUBJECTS : [...SUBJECTS].reverse()) {
        const page = await browser.newPage();
        await openPage(page, demo, slowdown);
        measured[subject].push((await page.evaluate(burst(WORK[subject]))) as Burst);
        await page.close();
      }
    }
    await browser.quit();
    return SUBJECTS.map((subject) => ({
      subject,
      time: median(measured[subject].map(({ time }) => time)),
      long: measured[subject].flatMap(({ long }) => long),
    }));
  });
