import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from '@playwright/test';
import type { Demo } from '../../e2e/support/demo.ts';
import { visitBlank } from '../../e2e/support/tag.ts';
import type { ListedEvent } from '../collector/listings.ts';
import { type Change, changesOf, type Run } from './run.ts';

const LENGTH = 20;
const OUTAGE = { from: 4, to: 12 };
const EVENTS = 42;
const PER_SECOND = 3;
const SAMPLE = 100;

interface Stats {
  tracked: number;
  delivered: number;
  queued: number;
  dropped: Record<string, number>;
}

const readStats = (page: Page) => page.evaluate(() => window.clew('stats') as Promise<Stats>);

const trackSteadily = (page: Page) =>
  page.evaluate(
    ([events, interval]) => {
      let n = 0;
      const timer = setInterval(() => {
        window.clew('track', 'step', { n: ++n });
        if (n === events) clearInterval(timer);
      }, interval);
    },
    [EVENTS, 1000 / PER_SECOND] as const,
  );

/** Fails unless the service has stored each event of the page exactly once. */
const checkEnd = (stats: Stats, stored: readonly ListedEvent[]) => {
  const counts = { ...stats, stored: stored.length, different: new Set(stored.map(({ uuid }) => uuid)).size };
  const expected = { tracked: EVENTS, delivered: EVENTS, queued: 0, dropped: {}, stored: EVENTS, different: EVENTS };
  if (JSON.stringify(counts) !== JSON.stringify(expected))
    throw new Error(`expected ${JSON.stringify(expected)}, and the run ended with ${JSON.stringify(counts)}`);
};

/** Plays the run in a real page, against the demo's collector. */
export const recordRun = async (browser: Browser, demo: Demo): Promise<Run> => {
  const page = await browser.newPage();
  // The back-off is random: fixed at its mean, each recording has its retries at the same times.
  await page.addInitScript(() => {
    Math.random = () => 0.5;
  });
  await visitBlank(page, demo.address, { flushInterval: '1000' });
  await page.evaluate(() => window.clew('flush'));

  const start = Date.now();
  const now = () => (Date.now() - start) / 1000;
  const answers: Run['answers'] = [];
  page.on('response', (response) => {
    if (response.url().includes('/clew/api/events/')) answers.push({ at: now(), status: response.status() });
  });
  const waitUntil = (at: number) => pause(Math.max(at - now(), 0) * 1000);
  const switchFaults = async (): Promise<Run['outage']> => {
    await waitUntil(OUTAGE.from);
    await demo.fault({ mode: 'status', status: 500 });
    const from = now();
    await waitUntil(OUTAGE.to);
    await demo.fault({ mode: 'none' });
    return { from, to: now() };
  };

  const switching = switchFaults();
  await trackSteadily(page);
  const queued: Change[] = [];
  const stored: Change[] = [];
  const storedAt = new Map<string, number>();
  for (let at = 0; at < LENGTH; at += SAMPLE / 1000) {
    await waitUntil(at);
    const [{ queued: waiting }, listed] = await Promise.all([readStats(page), demo.events()]);
    queued.push({ at: now(), value: waiting });
    stored.push({ at: now(), value: listed.length });
    for (const { uuid } of listed) if (!storedAt.has(uuid)) storedAt.set(uuid, now());
  }
  const outage = await switching;
  const events = await demo.events();
  checkEnd(await readStats(page), events);
  await page.close();
  return {
    length: LENGTH,
    outage,
    events: events
      .map(({ uuid, timestamp }) => ({
        tracked: (Date.parse(timestamp) - start) / 1000,
        stored: storedAt.get(uuid) ?? LENGTH,
      }))
      .sort((one, other) => one.tracked - other.tracked),
    queued: changesOf(queued),
    stored: changesOf(stored),
    answers,
  };
};
