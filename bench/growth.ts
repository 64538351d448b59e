import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import { type OwnBrowser, openBrowser, withProfile } from '../e2e/support/ownBrowser.ts';
import { shipped } from './peers/bundle.ts';
import { load } from './peers/measure.ts';
import { type Server, startServer } from './peers/server.ts';

/** How long (ms) all events may take to arrive before the measurement fails. */
const PATIENCE = 300_000;

/** A page's script, which is text because the compiler of this file adds helper functions that a page does not have. */
const writeRows = (count: number) => `new Promise((resolve, reject) => {
  const opening = indexedDB.open('clew');
  opening.onupgradeneeded = () => opening.result.createObjectStore('clew');
  opening.onsuccess = () => {
    const transaction = opening.result.transaction('clew', 'readwrite');
    const rows = transaction.objectStore('clew');
    for (let step = 0; step < ${count}; step++) {
      const text = '{"uuid":"' + crypto.randomUUID() + '","timestamp":"' + new Date().toISOString() +
        '","event":"offline","source":"custom","correlationKey":"_id","payload":{"step":' + step + ',"plan":"pro"},"correlationValue":"' + crypto.randomUUID() + '"}';
      rows.put([text], ['/clew', 1, step, 'a page of last week']);
    }
    transaction.oncomplete = () => resolve(opening.result.close());
    transaction.onabort = () => reject(transaction.error);
  };
})`;

/** Posts one message after the other. The longest time (ms) between two messages is how long the page was blocked. */
const WATCH = `{
  const { port1, port2 } = new MessageChannel();
  window.longest = 0;
  let last = performance.now();
  port1.onmessage = () => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last);
    last = now;
    port2.postMessage(0);
  };
  port2.postMessage(0);
}`;

const serve = async () => startServer((await shipped()).code);

const untilArrived = async ({ uploads }: Server, count: number) => {
  for (const end = Date.now() + PATIENCE; uploads.events.size < count && Date.now() < end; ) await pause(20);
  if (uploads.events.size < count) throw new Error(`${uploads.events.size} of ${count} have arrived`);
};

const cpuOf = async (session: CDPSession): Promise<number> => {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1e3 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
};

/** Bytes in use after a garbage collection. */
const heapOf = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
};

const openPage = async (browser: OwnBrowser, server: Server): Promise<[Page, CDPSession]> => {
  const page = await browser.newPage();
  await page.goto(server.address);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return [page, session];
};

/** A visitor comes back whose browser holds `count` unsent rows, of one event each. */
export const measureStored = (count: number) =>
  withProfile(async (profile) => {
    const server = await serve();
    const browser = await openBrowser(profile);
    try {
      const [page, session] = await openPage(browser, server);
      await page.evaluate(writeRows(count));
      const heapBefore = await heapOf(session);
      const before = await cpuOf(session);
      await page.evaluate(load(true));
      await untilArrived(server, count);
      const microseconds = (1e3 * ((await cpuOf(session)) - before)) / count;
      return { microseconds, heap: (await heapOf(session)) - heapBefore, requests: server.uploads.requests };
    } finally {
      await browser.kill();
      server.stop();
    }
  });

/** The longest time (ms) for which loading with `count` stored rows blocks the page, beside that of a page with none. */
export const measureBlocking = (count: number) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const longest: number[] = [];
    try {
      for (const rows of [0, count]) {
        const server = await serve();
        const [page] = await openPage(browser, server);
        await page.evaluate(writeRows(rows));
        await page.evaluate(WATCH);
        await page.evaluate(load(true));
        await untilArrived(server, rows);
        longest.push((await page.evaluate('longest')) as number);
        await page.close();
        server.stop();
      }
      return longest;
    } finally {
      await browser.kill();
    }
  });

/** `count` tabs, each of which tracks 100 events. One of them sends for all. */
export const measureTabs = (count: number) =>
  withProfile(async (profile) => {
    const server = await serve();
    const browser = await openBrowser(profile);
    try {
      const tabs = await Promise.all(Array.from({ length: count }, () => openPage(browser, server)));
      for (const [page] of tabs) await page.evaluate(load(true));
      const before = await Promise.all(tabs.map(([, session]) => cpuOf(session)));
      const track = (from: number) =>
        `for (let step = ${from}; step < ${from + 100}; step++) clew('track', 'tab', { step })`;
      await Promise.all(tabs.map(([page], n) => page.evaluate(track(n * 100))));
      await untilArrived(server, count * 100);
      const after = await Promise.all(tabs.map(([, session]) => cpuOf(session)));
      const cpu = after.reduce((sum, value) => sum + value, 0) - before.reduce((sum, value) => sum + value, 0);
      return { microseconds: (1e3 * cpu) / (count * 100), requests: server.uploads.requests };
    } finally {
      await browser.kill();
      server.stop();
    }
  });
