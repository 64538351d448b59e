import { setTimeout as pause } from 'node:timers/promises';
import type { Tab } from './engines/engine.ts';
import { later } from './support/clock.ts';
import { expect, fault } from './support/fault.ts';
import { hang } from './support/faults.ts';
import type { Stage } from './support/stage.ts';

const NO_CRASH = {
  firefox: 'its driver cannot crash a page',
  webkit: 'its driver cannot crash a page',
};

const batches = (stage: Stage) => stage.site.requests.filter(({ uuids }) => uuids.length);
const repeated = (stage: Stage) => [...stage.site.stored.values()].filter((times) => times > 1);

for (const isStored of [false, true]) {
  fault(
    3,
    `renderer crash while a batch is in flight that has ${isStored ? '' : 'not '}been stored`,
    async (stage) => {
      // Only the run without `later` waits until the lease really ends.
      const tab = await stage.visit({ query: isStored ? later(1) : '' });
      stage.site.fault = isStored ? async ({ store }) => void (await store()) : hang();
      await stage.track(tab, 10);
      await expect.poll(() => batches(stage)).toHaveLength(1);
      await expect.poll(() => stage.arrived()).toHaveLength(isStored ? 10 : 0);
      await stage.track(tab, 10);
      await tab.crash?.();
      expect(batches(stage)[0]?.status).toBeUndefined();
    },
    { cannot: NO_CRASH, isLong: !isStored },
  );
}

fault(
  4,
  'kill 0, 5, 20 ms after the answer',
  async (stage) => {
    for (const [round, delay] of [0, 5, 20].entries()) {
      const browser = await stage.openOwn();
      const tab = await stage.visit({ browser, query: later(round) });
      // The page first sends the events of the earlier rounds.
      await expect.poll(() => stage.stored(tab)).toBe(0);
      const answered = new Promise<void>((resolve) => {
        stage.site.fault = async ({ forward }) => {
          await forward();
          resolve();
        };
      });
      await stage.track(tab, 10);
      await answered;
      if (delay) await pause(delay);
      await browser.kill();
      expect(await stage.arrived()).toHaveLength(10 * (round + 1));
    }
  },
  { isLong: true },
);

/** Stops the page forever when the tracker emits `delivered`, before it deletes the rows. */
const stopAtAnswer = async (stage: Stage, tab: Tab) => {
  const stopped = new Promise<void>((resolve) => {
    stage.site.fault = ({ path, forward }) => (path === '/api/stopped' ? resolve() : forward());
  });
  await tab.evaluate(() => {
    window.clew('on', 'delivered', () => {
      const request = new XMLHttpRequest();
      request.open('POST', '/api/stopped', false);
      request.send();
    });
  });
  await stage.track(tab, 10);
  await stopped;
};

fault(
  4,
  'kill between the answer and the delete',
  async (stage) => {
    const browser = await stage.openOwn();
    const tab = await stage.visit({ browser, query: later(1) });
    await stopAtAnswer(stage, tab);
    await browser.kill();
    await stage.settle();
    expect(repeated(stage)).toHaveLength(10);
  },
  { isLong: true },
);

fault(
  4,
  'renderer crash between the answer and the delete',
  async (stage) => {
    const tab = await stage.visit({ query: later(1) });
    // A stopped page accepts no new CDP session.
    const session = await stage.browser.cdp?.(tab);
    await stopAtAnswer(stage, tab);
    const crashed = tab.page?.waitForEvent('crash');
    session?.send('Page.crash').catch(() => {});
    await crashed;
    await stage.settle();
    expect(repeated(stage)).toHaveLength(10);
  },
  { cannot: NO_CRASH },
);
