import { setTimeout as pause } from 'node:timers/promises';
import { firstOf, isAll } from '../support/tags.ts';
import type { Tab } from './engines/engine.ts';
import { later } from './support/clock.ts';
import { expect, fault } from './support/fault.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

const NO_CRASH = {
  firefox: 'its driver cannot crash a page',
  webkit: 'its driver cannot crash a page',
};

/** The page sends nothing by itself. The page's events come from the store, or the browser sends them after the page has ended. */
const QUIET = 'data-flush-interval=600000';

/**
 * Waits until no event of earlier rounds is stored or in flight, because a page that ends while it sends makes the next page
 * wait. One event proves the link, so that later events wait for the flush interval.
 */
const drained = async (stage: Stage, tab: Tab) => {
  await expect.poll(() => stage.stored(tab)).toBe(0);
  await stage.track(tab);
  await tab.evaluate(() => window.clew('flush'));
};

/** Tracks 10 events, whose numbers it returns. `told` resolves once the page reports that the database has stored them. */
const trackTold = async (stage: Stage, tab: Tab) => {
  const told = new Promise<void>((resolve) => {
    stage.site.fault = async ({ path, response, forward }) => {
      if (path !== '/api/stored') return await forward();
      response.end();
      resolve();
    };
  });
  await tab.evaluate(() => {
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (...args) {
      const made = transaction.apply(this, args);
      made.addEventListener('complete', () => navigator.sendBeacon('/api/stored'));
      return made;
    };
  });
  return { numbers: await stage.track(tab, 10), told };
};

/** When the browser is killed: `delay` ms after the call. With `isReported`, the kill also waits until the events are stored. */
const ALL_KILLS: [delay: number, isReported?: boolean][] = [[0], [10], [100], [1000, true], [0, true]];
const KILLS = isAll ? ALL_KILLS : ALL_KILLS.slice(-1);

fault(
  1,
  `SIGKILL of the browser ${isAll ? '0, 10, 100, 1000 ms after track, and ' : ''}right after the database write`,
  async (stage) => {
    const beforeKill = new Set<number>();
    for (const [delay, isReported] of KILLS) {
      const browser = await stage.openOwn();
      const tab = await stage.visit({ browser, query: QUIET });
      await drained(stage, tab);
      const arrived = (await stage.arrived()).map(({ payload }) => (payload as { n: number }).n);
      expect(arrived, 'in the order of the calls').toEqual(arrived.toSorted((a, b) => a - b));
      const { numbers, told } = await trackTold(stage, tab);
      let isConfirmed = false;
      told.then(() => {
        isConfirmed = true;
      });
      await pause(delay);
      if (isReported) await told;
      // No page can save events that have not reached the browser's other processes, for example at 0 ms.
      if (!isConfirmed) stage.unsure(numbers);
      await browser.kill();
      for (const { payload } of await stage.arrived()) beforeKill.add((payload as { n: number }).n);
      expect(numbers.filter((n) => beforeKill.has(n))).toEqual([]);
    }
  },
  { runs: isAll ? 3 : 1 },
);

fault(
  2,
  'renderer crash right after track',
  async (stage) => {
    for (let round = 0; round < (isAll ? 5 : 2); round++) {
      const tab = await stage.visit({ query: QUIET });
      await drained(stage, tab);
      await stage.track(tab, 10);
      await tab.crash?.();
    }
  },
  { cannot: NO_CRASH },
);

fault(
  2,
  'renderer crash right after track, right after load',
  async (stage) => {
    for (let round = 0; round < 5; round++) {
      const tab = await stage.visit({ query: later(round), wait: 'load' });
      await stage.track(tab, 10);
      await tab.crash?.();
    }
  },
  { cannot: NO_CRASH, isLong: true },
);

/** Stops the page forever when it is about to store the events that were tracked before its database was open. */
const stopAtStoring = () => {
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...args) {
    if (Array.isArray(args[0])) {
      const request = new XMLHttpRequest();
      request.open('POST', '/api/stopped', false);
      request.send();
    }
    return put.apply(this, args);
  };
  document.addEventListener('DOMContentLoaded', () => {
    for (let n = 0; n < 10; n++) window.clew('track', 'ledger', { run: localStorage.run, n });
  });
};

fault(
  2,
  'renderer crash while the database is about to store events tracked before it opened',
  async (stage) => {
    const tab = await stage.visit({ path: '/blank', wait: 'load' });
    const { run } = stage.next(10);
    await tab.evaluate((run) => localStorage.setItem('run', run), run);
    const stopped = new Promise<void>((resolve) => {
      stage.site.fault = ({ path, forward }) => (path === '/api/stopped' ? resolve() : forward());
    });
    const leaving = await stage.browser.newTab();
    // A stopped page accepts no new CDP session, and never finishes loading.
    const session = await stage.browser.cdp?.(leaving);
    leaving.goto(`${stage.site.origin}/page/1?${before(stopAtStoring)}`).catch(() => {});
    await stopped;
    const crashed = leaving.page?.waitForEvent('crash');
    session?.send('Page.crash').catch(() => {});
    await crashed;
  },
  { cannot: NO_CRASH },
);

fault(5, 'browser closed normally right after track', async (stage) => {
  for (const [round, wait] of firstOf(['load', 'stored', 'load'] as const).entries()) {
    const browser = await stage.openOwn();
    const tab = await stage.visit({ browser, query: `${QUIET}&${later(round)}`, wait });
    await stage.track(tab, 10);
    await browser.quit();
  }
});

fault(
  6,
  'tab out of memory',
  async (stage) => {
    const tab = await stage.visit({ query: QUIET });
    await drained(stage, tab);
    const numbers = stage.next(1000);
    const crashed = tab.page?.waitForEvent('crash');
    tab
      .evaluate(async ({ run, from, count }) => {
        const hoard = [new Array(2 ** 24).fill(0.5)];
        for (let n = from; n < from + count; n++) {
          window.clew('track', 'ledger', { run, n });
          localStorage.tracked = n + 1;
          await new Promise((resolve) => setTimeout(resolve));
          hoard.push(hoard[0]?.slice() ?? []);
        }
      }, numbers)
      .catch(() => {});
    await crashed;
    const next = await stage.visit();
    const tracked = await next.evaluate(() => Number(localStorage.tracked));
    const end = numbers.from + numbers.count;
    expect(tracked).toBeGreaterThan(numbers.from + 1);
    expect(tracked).toBeLessThan(end);
    stage.unsure(Array.from({ length: end - tracked }, (_, index) => tracked + index));
  },
  {
    cannot: {
      firefox: 'it ends no page for the memory that it takes: the machine would run out first',
      webkit: 'it ends no page for the memory that it takes: the machine would run out first',
    },
    isLong: true,
  },
);
