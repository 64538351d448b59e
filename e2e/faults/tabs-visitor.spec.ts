import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    /** Another window of the same origin, that this one has opened. */
    copy?: Window | null;
    /** What each event of `trackOn` is to bear. */
    threads?: unknown[];
    isRestored?: boolean;
  }
}

const hasArrived = (stage: Stage, count: number) =>
  expect.poll(async () => (await stage.arrived()).length, { timeout: 20_000 }).toBe(count);
/** The threads that have arrived, in the order of the calls. */
const arrivedThreads = async (stage: Stage): Promise<string[]> => {
  const numbered = (await stage.arrived()).map(({ payload, correlationValue }) => ({
    n: (payload as { n: number }).n,
    correlationValue,
  }));
  return numbered.sort((a, b) => a.n - b.n).map(({ correlationValue }) => correlationValue);
};
const threadOf = (tab: Tab) => tab.evaluate(() => window.clew('correlationValue') as Promise<string>);
const hasNoRepeats = ({ site }: Stage) => expect(Math.max(...site.stored.values())).toBe(1);

// No driver has the command "Duplicate". What the browser copies with it is sessionStorage, and window.open does the same.
fault(35, '"Duplicate tab", window.open: a tab with a copy of sessionStorage', async (stage) => {
  const tab = await stage.visit();
  await stage.track(tab, 3);
  const opened = stage.next(3);
  const copied = await tab.evaluate(async ({ run, from, count }) => {
    sessionStorage.copied = 'with the tab';
    for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
    const copy = open('/page/copy');
    window.copy = copy;
    // It begins with an empty page, whose `load` is not the one.
    while (copy?.location.pathname !== '/page/copy' || copy.document.readyState !== 'complete') {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return [copy?.sessionStorage.copied, copy === window];
  }, opened);
  expect(copied).toEqual(['with the tab', false]);

  for (let round = 0; round < 5; round++) {
    const numbers = stage.next(8);
    await tab.evaluate(({ run, from, count }) => {
      for (let n = from; n < from + count; n++) (n % 2 ? window : window.copy)?.clew('track', 'ledger', { run, n });
    }, numbers);
  }
  await hasArrived(stage, 46);
  const thread = await threadOf(tab);
  expect(await tab.evaluate(() => window.copy?.clew('correlationValue'))).toBe(thread);
  expect(new Set(await arrivedThreads(stage))).toEqual(new Set([thread]));
  hasNoRepeats(stage);
});

fault(36, '20 tabs make the first visit at once', async (stage) => {
  const { browser, site } = stage;
  const tabs: Tab[] = [];
  while (tabs.length < 20) tabs.push(await browser.newTab());
  await Promise.all(tabs.map((tab) => tab.goto(`${site.origin}/blank`)));
  // All leave for the page at the same moment, however long it takes to tell them.
  const start = Date.now() + 3000;
  await Promise.all(
    tabs.map((tab) =>
      tab.evaluate((at) => void setTimeout(() => location.assign('/page/first'), at - Date.now()), start),
    ),
  );
  await Promise.all(tabs.map((tab) => stage.reached(tab, '/page/first')));
  await Promise.all(tabs.map((tab) => stage.track(tab, 2)));

  const threads = await Promise.all(tabs.map(threadOf));
  expect(new Set(threads).size).toBe(1);
  await hasArrived(stage, 40);
  expect(new Set(await arrivedThreads(stage))).toEqual(new Set(threads));
  const starts = tabs.map((tab) => tab.evaluate(() => performance.timeOrigin));
  const at = await Promise.all(starts);
  expect(Math.max(...at) - Math.min(...at), 'ms between the first visit and the last').toBeLessThan(2000);
});

/** Tracks one number after the other, and notes the visitor's thread with each. */
const trackOn = ({ run, from, count }: { run: string; from: number; count: number }) => {
  let n = from;
  const threads: unknown[] = [];
  window.threads = threads;
  const going = setInterval(async () => {
    window.clew('track', 'ledger', { run, n });
    if (++n === from + count) clearInterval(going);
    threads.push(await window.clew('correlationValue'));
  }, 10);
};

fault(39, 'log-out in one tab while another goes on', async (stage) => {
  const leaving = await stage.visit();
  await leaving.evaluate(() => window.clew('identify', 'ann@example.com'));
  const other = await stage.visit();
  const old = await threadOf(other);
  const noted = () => other.evaluate(() => window.threads ?? []);
  await other.evaluate(trackOn, stage.next(200));
  await expect.poll(async () => (await noted()).length).toBeGreaterThan(50);

  const own = stage.next(1);
  const anonymous = await leaving.evaluate(({ run, from: n }) => {
    window.clew('reset');
    window.clew('track', 'ledger', { run, n });
    return window.clew('correlationValue');
  }, own);
  expect(anonymous).not.toBe(old);
  // It has been told while it went on.
  await expect.poll(() => threadOf(other), { timeout: 2000 }).toBe(anonymous);
  expect((await noted()).length).toBeLessThan(200);

  await hasArrived(stage, 201);
  const threads = await noted();
  const told = threads.indexOf(anonymous);
  expect(told).toBeGreaterThan(50);
  const expected = threads.map((_, n) => (n < told ? old : anonymous));
  expect(await arrivedThreads(stage)).toEqual([...expected, anonymous]);
  expect(await threadOf(await stage.visit({ path: '/page/later' }))).toBe(anonymous);
  hasNoRepeats(stage);
});

fault(39, "log-out in one tab while another's page is in the back/forward cache", async (stage) => {
  const away = await stage.visit();
  const old = await threadOf(away);
  const numbers = stage.next(3);
  await away.evaluate(({ run, from }) => {
    window.clew('track', 'ledger', { run, n: from });
    const comesBack = (n: number) => (event: PageTransitionEvent) => {
      window.isRestored = event.persisted;
      window.clew('track', 'ledger', { run, n });
    };
    // Before the tracker's own listener, and after it.
    addEventListener('pageshow', comesBack(from + 1), true);
    addEventListener('pageshow', comesBack(from + 2));
  }, numbers);
  await away.goto(`${stage.site.origin}/blank`);
  const leaving = await stage.visit();
  await leaving.evaluate(() => window.clew('reset'));
  const anonymous = await threadOf(leaving);
  expect(anonymous).not.toBe(old);

  await away.activate();
  await away.back();
  await stage.reached(away, '/page/1');
  expect(await away.evaluate(() => window.isRestored)).toBe(true);
  await hasArrived(stage, 3);
  expect(await arrivedThreads(stage)).toEqual([old, anonymous, anonymous]);
  expect(await threadOf(away)).toBe(anonymous);
});
