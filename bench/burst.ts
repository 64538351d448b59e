import type { Page } from '@playwright/test';
import type { Demo } from '../e2e/support/demo.ts';
import { openBrowser, withProfile } from '../e2e/support/ownBrowser.ts';
import { visitBlank } from '../e2e/support/tag.ts';

/** What a call does, and the least that it could do. */
const WORK = {
  clew: "clew('track', 'burst', { n, plan: 'pro' })",
  floor: "list.push(JSON.stringify({ event: 'burst', payload: { n, plan: 'pro' } }))",
};
type Subject = keyof typeof WORK;
const SUBJECTS = Object.keys(WORK) as Subject[];

/** How long (ms) a page has come to rest when it is measured. */
const REST = 500;

/**
 * As text, for what compiles this file adds names that a page does not know. In a task of its own: how long (ms) the
 * calls took, and how long the tasks of more than 50 ms were until all is delivered.
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

/** A page that has come to rest, so many times slower than this machine. */
const openPage = async (page: Page, demo: Demo, slowdown: number) => {
  await visitBlank(page, demo.address, { maxQueuedEvents: '20000' });
  await page.evaluate(() => window.clew('correlationValue'));
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
};

/** 10,000 calls in one task, each time in a new page, beside the floor's: ms of the calls (the median), and all long tasks. */
export const measureBurst = (demo: Demo, runs: number, slowdown: number) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const measured: Record<Subject, Burst[]> = { clew: [], floor: [] };
    for (let run = 0; run < runs; run++) {
      // Neither is always the first.
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
