import { isAll } from '../support/tags.ts';
import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { needlessRepeats } from './support/repeats.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    /** Another window of the same origin, that this one has opened. */
    copy?: Window | null;
    /** The visitor id of each event of `trackOn`. */
    visitorIds?: string[];
    /** Ends `trackOn`. */
    isOver?: boolean;
    isRestored?: boolean;
  }
}

const hasArrived = (stage: Stage, count: number) =>
  expect.poll(async () => (await stage.arrived()).length, { timeout: 20_000 }).toBe(count);
const allOf = ({ from, count }: { from: number; count: number }) => Array.from({ length: count }, (_, n) => from + n);
const visitorIdOf = (tab: Tab) => tab.evaluate(() => window.clew('correlationValue') as Promise<string>);

// No driver has the command "Duplicate". Like that command, window.open copies sessionStorage.
fault(35, '"Duplicate tab", window.open: a tab with a copy of sessionStorage', async (stage) => {
  const tab = await stage.visit();
  await stage.track(tab, 3);
  // Another page may take in the events of a tab that still waits for its database: then both send them (docs/delivery.md).
  await visitorIdOf(tab);
  const opened = stage.next(3);
  // In a step of its own: in WebKit, a window that opens in the task of the write may lack it.
  await tab.evaluate(() => {
    sessionStorage.copied = 'with the tab';
  });
  const copied = await tab.evaluate(async ({ run, from, count }) => {
    for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
    const copy = open('/page/copy');
    window.copy = copy;
    // The window begins with an empty page, whose `load` does not count.
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
  const visitorId = await visitorIdOf(tab);
  stage.assign(allOf({ from: 0, count: 46 }), visitorId);
  expect(await tab.evaluate(() => window.copy?.clew('correlationValue'))).toBe(visitorId);
  expect(needlessRepeats(stage)).toEqual([]);
});

/** How many tabs start at once. */
const TABS = isAll ? 20 : 8;

fault(36, `${TABS} tabs start the first visit at once`, async (stage) => {
  const { browser, site } = stage;
  const tabs: Tab[] = [];
  while (tabs.length < TABS) tabs.push(await browser.newTab());
  await Promise.all(tabs.map((tab) => tab.goto(`${site.origin}/blank`)));
  // One message sends all of them to the page at once.
  const wait = () => {
    new BroadcastChannel('start').onmessage = () => location.assign('/page/first');
  };
  await Promise.all(tabs.map((tab) => tab.evaluate(wait)));
  const starter = await browser.newTab();
  await starter.goto(`${site.origin}/blank`);
  await starter.evaluate(() => new BroadcastChannel('start').postMessage('go'));
  await Promise.all(tabs.map((tab) => stage.reached(tab, '/page/first')));
  await Promise.all(tabs.map((tab) => stage.track(tab, 2)));

  const visitorIds = await Promise.all(tabs.map(visitorIdOf));
  stage.assign(allOf({ from: 0, count: 2 * TABS }), visitorIds[0] ?? '');
  await hasArrived(stage, 2 * TABS);
  expect(new Set(visitorIds).size).toBe(1);
});

/** Tracks one number after the other until `isOver` is set, and notes the visitor id of each. */
const trackOn = ({ run, from, count }: { run: string; from: number; count: number }) => {
  let n = from;
  const visitorIds: string[] = [];
  window.visitorIds = visitorIds;
  const going = setInterval(async () => {
    if (window.isOver || n === from + count) return clearInterval(going);
    window.clew('track', 'ledger', { run, n: n++ });
    visitorIds.push((await window.clew('correlationValue')) as string);
  }, 10);
};

fault(
  39,
  'log-out in one tab while another tab tracks',
  async (stage) => {
    const leaving = await stage.visit();
    await leaving.evaluate(() => window.clew('identify', 'ann@example.com'));
    const other = await stage.visit();
    const old = await visitorIdOf(other);
    const noted = () => other.evaluate(() => window.visitorIds ?? []);
    // More numbers than there is time for.
    const most = stage.next(5000);
    await other.evaluate(trackOn, most);
    await expect.poll(async () => (await noted()).length).toBeGreaterThan(50);

    const own = stage.next(1);
    const anonymous = await leaving.evaluate(({ run, from: n }) => {
      window.clew('reset');
      window.clew('track', 'ledger', { run, n });
      return window.clew('correlationValue');
    }, own);
    expect(anonymous).not.toBe(old);
    // The message reaches the other page while it tracks.
    await expect.poll(async () => (await noted()).at(-1)).toBe(anonymous);
    await other.evaluate(() => {
      window.isOver = true;
    });
    const visitorIds = await noted();
    const numbers = allOf(most);
    stage.unsure(numbers.slice(visitorIds.length));
    const told = visitorIds.indexOf(anonymous as string);
    expect(told).toBeGreaterThan(50);
    stage.assign(numbers.slice(0, told), old);
    stage.assign([...numbers.slice(told, visitorIds.length), own.from], anonymous as string);

    await hasArrived(stage, visitorIds.length + 1);
    expect(await visitorIdOf(await stage.visit({ path: '/page/later' }))).toBe(anonymous);
    expect(needlessRepeats(stage)).toEqual([]);
  },
  { isEngines: true },
);

fault(39, "log-out in one tab while another's page is in the back/forward cache", async (stage) => {
  const away = await stage.visit();
  const old = await visitorIdOf(away);
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
  const anonymous = await visitorIdOf(leaving);
  expect(anonymous).not.toBe(old);
  stage.assign([numbers.from], old);
  stage.assign([numbers.from + 1, numbers.from + 2], anonymous);

  await away.activate();
  await away.back();
  await stage.reached(away, '/page/1');
  expect(await away.evaluate(() => window.isRestored)).toBe(true);
  await hasArrived(stage, 3);
  expect(await visitorIdOf(away)).toBe(anonymous);
});
