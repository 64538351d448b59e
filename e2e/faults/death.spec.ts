import { setTimeout as pause } from 'node:timers/promises';
import type { Tab } from './engines/engine.ts';
import { later } from './support/clock.ts';
import { expect, fault } from './support/fault.ts';
import type { Stage } from './support/stage.ts';

const NO_CRASH = {
  firefox: 'its driver cannot crash a page',
  webkit: 'its driver cannot crash a page',
};

/** The page sends nothing by itself: what arrives comes out of the store, or by the net for pages that end. */
const QUIET = 'data-flush-interval=600000';

/** Until nothing of earlier rounds is left, nor under way: a page that ends while sending makes the next one wait. */
const drained = async (stage: Stage, tab: Tab) => {
  await expect.poll(() => stage.stored(tab)).toBe(0);
  await tab.evaluate(() => window.clew('flush'));
};

fault(
  1,
  'SIGKILL of the browser 0, 10, 100, 1000 ms after track',
  async (stage) => {
    for (const [round, delay] of [0, 10, 100, 1000].entries()) {
      const browser = await stage.openOwn();
      const tab = await stage.visit({ browser, query: QUIET });
      await drained(stage, tab);
      await stage.track(tab, 10);
      await pause(delay);
      await browser.kill();
      expect(await stage.arrived()).toHaveLength(10 * round);
    }
  },
  { runs: 3 },
);

fault(
  2,
  'renderer crash right after track',
  async (stage) => {
    for (let round = 0; round < 5; round++) {
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
  { cannot: NO_CRASH },
);

fault(5, 'browser closed normally right after track', async (stage) => {
  for (const [round, wait] of (['load', 'stored', 'load'] as const).entries()) {
    const browser = await stage.openOwn();
    const tab = await stage.visit({ browser, query: `${QUIET}&${later(round)}`, wait });
    await stage.track(tab, 10);
    await browser.quit();
  }
});

fault(
  6,
  'out-of-memory tab',
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
    expect(tracked).toBeGreaterThan(1);
    expect(tracked).toBeLessThan(numbers.count);
    stage.unsure(Array.from({ length: numbers.count - tracked }, (_, index) => tracked + index));
  },
  {
    cannot: {
      firefox: 'it ends no page for the memory that it takes: the machine would run out first',
      webkit: 'it ends no page for the memory that it takes: the machine would run out first',
    },
  },
);
