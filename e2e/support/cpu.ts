import type { Browser, Page } from '@playwright/test';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** In µs, as are the durations. */
  readonly ts: number;
  /**
   * CPU time. A busy machine hardly changes it, in contrast to the time on the clock. A task that begins within microseconds
   * after another one has none.
   */
  readonly tdur?: number;
  /** Time on the clock, which is at least the CPU time. */
  readonly dur?: number;
}

const CATEGORIES = ['toplevel', 'disabled-by-default-devtools.timeline', 'blink.user_timing'];
const [BEGIN, REFERENCE, END] = ['tasks begin', 'tasks reference', 'tasks end'];

/** A task of known work, as text, because the compiler of this file adds helper functions that a page does not have. */
const WORK = `new Promise((resolve) => setTimeout(() => {
  performance.mark('${REFERENCE}');
  let length = 0;
  for (let n = 0; n < 200000; n++) length += JSON.stringify({ n, plan: 'pro', list: [n, n] }).length;
  performance.mark('${END}');
  resolve(length);
}))`;

/** Each page marks its beginning. */
export const markPages = (page: Page) => page.addInitScript(`performance.mark('${BEGIN}')`);
/** Marks the beginning of the tasks that `longestTask` measures. */
export const mark = (page: Page) => page.evaluate(`void performance.mark('${BEGIN}')`);

/**
 * Records the tasks of the page, from the last mark on. Returns the CPU time of the longest one as a ratio to a reference task,
 * so that the speed of the machine does not matter. The reference is 200,000 calls of `JSON.stringify`, about 25 ms.
 */
export const longestTask = async (browser: Browser, page: Page, work: () => Promise<void>): Promise<number> => {
  await browser.startTracing(page, { categories: CATEGORIES });
  await work();
  for (let n = 0; n < 3; n++) await page.evaluate(WORK);
  const { traceEvents } = JSON.parse(`${await browser.stopTracing()}`) as { traceEvents: TraceEvent[] };
  const times = (name: string) => traceEvents.filter((event) => event.name === name).map(({ ts }) => ts);
  const begin = traceEvents.findLast(({ name }) => name === BEGIN);
  const reference = times(REFERENCE);
  const tasks = traceEvents
    .filter(({ name, pid, tid, ts }) => name === 'RunTask' && pid === begin?.pid && tid === begin.tid && ts >= begin.ts)
    .toSorted((one, other) => one.ts - other.ts);
  const timeOf = (task: TraceEvent | undefined) => task?.tdur ?? task?.dur ?? Number.NaN;
  const known = reference.map((at) => timeOf(tasks.findLast(({ ts }) => ts <= at))).sort((one, other) => one - other);
  const before = tasks.filter(({ ts }) => ts < (reference[0] ?? 0)).slice(0, -1);
  return Math.max(...before.map(timeOf)) / (known[1] ?? Number.NaN);
};
