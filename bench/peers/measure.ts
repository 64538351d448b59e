import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import { type OwnBrowser, openBrowser, withProfile } from '../../e2e/support/ownBrowser.ts';
import { type Server, startServer } from './server.ts';

/** Events of the burst whose delivery is measured. */
export const BURST = 1000;
/** Events of the burst that is only timed. */
export const LARGE_BURST = 10_000;
/** A burst that takes longer (ms) is cut, because that of some peers takes minutes. */
const LONGEST_BURST = 10_000;
/** How many pages measure a start. Noise only adds time, often more than the start itself takes, so the least time counts. */
export const STARTS = 8;
/** How long (ms) a script has for the work that it delays at its start. */
const START = 1000;
/** A page that has uploaded nothing for this time (ms) will upload nothing more. */
const PATIENCE = 8_000;
/** The longest wait (ms) for the events of one page. */
const LONGEST_DELIVERY = 90_000;
/** A page whose measurement takes longer (ms) hangs. */
const HANGING = 180_000;
/** How long (ms) a page has for its last answers, and for clearing up. */
const SETTLING = 500;

/** The figures of a subject in one run. A measurement that fails leaves its figures out. */
export interface Measured {
  /** Main-thread CPU, ms, of evaluating and initialising, on this machine and one four times slower. */
  start: number;
  slowStart: number;
  /** µs per call. */
  call: number;
  largeCall: number;
  /** How many of the large burst were called before it was cut. */
  called: number;
  /** Tasks of more than 50 ms, four times slower: how many, and ms in all. */
  longTasks: number;
  longTime: number;
  requests: number;
  bytes: number;
  /** Main-thread CPU, ms, from the first call of the burst until all events have arrived and the page has cleared up. */
  delivery: number;
  /** Different events of the burst that arrived, and how many came more than once. */
  arrived: number;
  twice: number;
  /** Ms by the clock, from inserting the script to the arrival of an event that is tracked as soon as the script has run. */
  first: number;
  /** Bytes of the page's heap for each event of the large burst, while nothing can be sent. */
  heap: number;
}

/** The subject's script, as it is put into a page. */
export interface Script {
  readonly code: string;
  readonly isTag: boolean;
}

/** A page's script, which is text because the compiler of this file adds helper functions that a page does not have. */
export const load = (isTag: boolean, then = `setTimeout(done, ${START})`) => `new Promise((done, fail) => {
  const script = Object.assign(document.createElement('script'), { src: '/subject.js', onerror: fail });
  ${isTag ? "script.dataset.baseUrl = '/clew';" : ''}
  script.onload = () => {
    ${isTag ? "window.track = (event, payload) => clew('track', event, payload);" : ''}
    ${then};
  };
  document.head.append(script);
})`;

/** Reports its time by a binding, whose message arrives even if the page never runs its next task. */
const burst = (calls: number) => `setTimeout(() => {
  window.long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  const { track } = window;
  const start = performance.now();
  let step = 0;
  while (step < ${calls}) {
    track('burst', { step, plan: 'pro' });
    if (++step % 100 === 0 && performance.now() - start > ${LONGEST_BURST}) break;
  }
  timed(JSON.stringify([step, (performance.now() - start) * 1e3 / step]));
})`;

export const FLAGS = [
  // No request leaves the machine.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  // Some peers do not track a browser that identifies itself as a robot.
  '--disable-blink-features=AutomationControlled',
];

interface Stage {
  readonly page: Page;
  readonly server: Server;
  /** CPU time (ms) of the page's main thread so far. Time by the clock would include the machine's other work. */
  cpu(): Promise<number>;
  burst(calls: number): Promise<[called: number, microseconds: number]>;
  /** Bytes of the heap that are in use. */
  heap(): Promise<number>;
}

const openPage = async (browser: OwnBrowser, server: Server, slowdown: number): Promise<Stage> => {
  await browser.context.clearCookies();
  const page = await browser.newPage();
  const session: CDPSession = await page.context().newCDPSession(page);
  const { userAgent } = await session.send('Browser.getVersion');
  await session.send('Emulation.setUserAgentOverride', { userAgent: userAgent.replace('Headless', '') });
  await session.send('Runtime.enable');
  await session.send('Runtime.addBinding', { name: 'timed' });
  await page.goto(server.address);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await pause(SETTLING);
  return {
    page,
    server,
    async cpu() {
      const { metrics } = await session.send('Performance.getMetrics');
      return 1e3 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
    },
    burst(calls) {
      const told = new Promise<[number, number]>((resolve) =>
        session.once('Runtime.bindingCalled', ({ payload }) => resolve(JSON.parse(payload))),
      );
      page.evaluate(burst(calls)).catch(() => {});
      return told;
    },
    async heap() {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    },
  };
};

/** Waits until the burst has arrived, or until the page sends no more of it. */
const untilSent = async ({ page, server: { uploads } }: Stage): Promise<void> => {
  const start = Date.now();
  while (uploads.events.size < BURST) {
    const now = Date.now();
    const isQuiet = now - Math.max(uploads.last, start) > PATIENCE;
    // A page that uploads nothing may be busy. A busy page answers this call late.
    if (isQuiet) await page.evaluate('0');
    if ((isQuiet && Date.now() - now < PATIENCE / 8) || now - start > LONGEST_DELIVERY) break;
    await pause(50);
  }
  await pause(SETTLING);
};

/** Starts the script in pages of new visitors, then does `work` in the last page. `start` is the least CPU time of a start. */
const withPage = <T>(
  { code, isTag }: Script,
  slowdown: number,
  pages: number,
  work: (stage: Stage, start: number) => Promise<T>,
) =>
  withProfile(async (profile) => {
    // A server for each page gives each page an origin, and therefore storage, of its own.
    const servers = await Promise.all(Array.from({ length: pages }, () => startServer(code)));
    const browser = await openBrowser(profile, FLAGS);
    const hanging = new AbortController();
    const play = async () => {
      const starts: number[] = [];
      for (const [n, server] of servers.entries()) {
        const stage = await openPage(browser, server, slowdown);
        const before = await stage.cpu();
        await stage.page.evaluate(load(isTag));
        starts.push((await stage.cpu()) - before);
        if (n === pages - 1) return work(stage, Math.min(...starts));
        await stage.page.close();
      }
      throw new Error('no page was opened');
    };
    const hung = async (): Promise<never> => {
      await pause(HANGING, undefined, { signal: hanging.signal });
      throw new Error('the page hung');
    };
    try {
      return await Promise.race([play(), hung()]);
    } finally {
      hanging.abort();
      await browser.kill();
      for (const server of servers) server.stop();
    }
  });

const parts = [
  (script: Script) =>
    withPage(script, 1, STARTS, async (stage, start) => {
      const before = await stage.cpu();
      const [, call] = await stage.burst(BURST);
      await untilSent(stage);
      const { requests, bytes, events } = stage.server.uploads;
      const twice = [...events.values()].filter((times) => times > 1).length;
      const sent = { start, call, requests, bytes, arrived: events.size, twice };
      return { ...sent, delivery: (await stage.cpu()) - before };
    }),
  (script: Script) =>
    withPage(script, 4, STARTS, async (stage, slowStart) => {
      await stage.burst(BURST);
      await untilSent(stage);
      const long = (await stage.page.evaluate('long')) as number[];
      return { slowStart, longTasks: long.length, longTime: long.reduce((sum, ms) => sum + ms, 0) };
    }),
  (script: Script) =>
    withPage(script, 1, 1, async ({ burst }) => {
      const [called, largeCall] = await burst(LARGE_BURST);
      return { called, largeCall };
    }),
  (script: Script) =>
    withPage(script, 1, 1, async ({ page, server, burst, heap }) => {
      server.trouble.isDown = true;
      await page.context().setOffline(true);
      const before = await heap();
      const [called] = await burst(LARGE_BURST);
      // The page finishes storing its events and trying to send them, so that the heap is at rest.
      await page.evaluate(`new Promise((done) => setTimeout(done, ${2 * START}))`);
      return { heap: ((await heap()) - before) / called };
    }),
  ({ code, isTag }: Script) =>
    withProfile(async (profile) => {
      const server = await startServer(code);
      const browser = await openBrowser(profile, FLAGS);
      const { page } = await openPage(browser, server, 1);
      const start = performance.now();
      await page.evaluate(load(isTag, "done(track('burst', { step: 0, plan: 'pro' }))"));
      while (!server.uploads.events.size && performance.now() - start < LONGEST_DELIVERY) await pause(1);
      const first = performance.now() - start;
      await browser.kill();
      server.stop();
      return server.uploads.events.size ? { first } : {};
    }),
];

/** Measures one subject in one run. A part that fails is reported, and leaves its figures out. */
export const measure = async (script: Script, onError: (error: unknown) => void): Promise<Partial<Measured>> => {
  const measured: Partial<Measured> = {};
  for (const part of parts) Object.assign(measured, await part(script).catch(onError));
  return measured;
};

/** Measures the start of a script without anything else. For an empty script, this is the cost of a script tag. */
export const measureStart = async (script: Script) => ({
  start: await withPage(script, 1, STARTS, async (_, start) => start),
  slowStart: await withPage(script, 4, STARTS, async (_, start) => start),
});
