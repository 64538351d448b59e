import { isAll } from '../support/tags.ts';
import type { Tab } from './engines/engine.ts';
import { later } from './support/clock.ts';
import { expect, fault } from './support/fault.ts';
import { hang, slow } from './support/faults.ts';
import type { Stage } from './support/stage.ts';

const isAwaited = { patience: 60_000 };

/** Leaves for a page without clew, and notes whether the browser intends to keep this page in its cache. */
const leaveForCache = async (stage: Stage, tab: Tab) => {
  await tab.evaluate(() => {
    delete localStorage.isKept;
    addEventListener('pagehide', ({ persisted }) => {
      localStorage.isKept = persisted;
    });
    addEventListener('pageshow', ({ persisted }) => {
      localStorage.isBack = persisted;
    });
    location.href = '/blank';
  });
  await stage.reached(tab, '/blank');
  expect(await tab.evaluate(() => localStorage.isKept)).toBe('true');
};

const comeBack = async (stage: Stage, tab: Tab) => {
  await tab.back();
  await stage.reached(tab, '/page/1');
  await expect.poll(() => tab.evaluate(() => localStorage.isBack)).toBe('true');
};

const sent = (stage: Stage) => stage.site.requests.filter(({ uuids }) => uuids.length);
const delivered = (tab: Tab) => tab.evaluate(() => window.told.delivered.length);

const ROUNDS = isAll ? 3 : 1;

fault(
  9,
  'left to the back/forward cache, never restored, tab closed',
  async (stage) => {
    const tab = await stage.visit();
    await stage.track(tab, 10);
    await leaveForCache(stage, tab);
    await tab.close();
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

fault(
  9,
  'left to the back/forward cache with a batch in flight, never restored, tab closed',
  async (stage) => {
    const tab = await stage.visit({ query: later(1) });
    stage.site.fault = hang();
    await stage.track(tab, 10);
    await expect.poll(() => sent(stage)).toHaveLength(1);
    await stage.track(tab, 10);
    await leaveForCache(stage, tab);
    await tab.close();
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

fault(
  10,
  'restored from the back/forward cache: tracked events are sent each time',
  async (stage) => {
    const tab = await stage.visit();
    for (let round = 1; round <= ROUNDS; round++) {
      await stage.track(tab, 5);
      await leaveForCache(stage, tab);
      await comeBack(stage, tab);
      await stage.track(tab, 5);
      // The page sends these events by its own timer, in a batch of its own.
      await expect.poll(async () => (await stage.arrived()).length).toBe(10 * round);
      await expect.poll(() => stage.stored(tab)).toBe(0);
    }
  },
  { isEngines: true },
);

/** Whether the browser opens clew's database, if there is one, within a few seconds. */
const opens = () =>
  new Promise<boolean>((resolve) => {
    setTimeout(resolve, 5000, false);
    const request = indexedDB.open('clew');
    // The probe must not make the database itself.
    request.onupgradeneeded = () => request.transaction?.abort();
    request.onerror = (event) => {
      event.preventDefault();
      resolve(true);
    };
    request.onsuccess = () => {
      request.result.close();
      resolve(true);
    };
  });

fault(
  9,
  "the site's pagehide listener tracks and refuses consent: the database stays open to other pages",
  async (stage) => {
    for (let round = 1; round <= 2 * ROUNDS; round++) {
      const tab = await stage.visit();
      await tab.evaluate(() =>
        addEventListener('pagehide', () => {
          window.clew('track', 'late');
          window.clew('consent', false);
        }),
      );
      await leaveForCache(stage, tab);
      expect(await tab.evaluate(opens)).toBe(true);
      await tab.close();
    }
  },
);

for (const [what, handler] of [
  ['is answered meanwhile', slow(500, { times: 1 })],
  ['is never answered', hang({ times: 1 })],
] as const) {
  fault(
    10,
    `restored from the back/forward cache, left with a batch in flight that ${what}`,
    async (stage) => {
      const tab = await stage.visit();
      stage.site.fault = handler;
      await stage.track(tab, 5);
      await expect.poll(() => sent(stage)).toHaveLength(1);
      await leaveForCache(stage, tab);
      await comeBack(stage, tab);
      await stage.track(tab, 5);
      // The next request follows after the time-out of this one.
      await expect.poll(() => stage.arrived(), { timeout: 40_000 }).toHaveLength(10);
      await expect.poll(() => delivered(tab), { timeout: 40_000 }).toBe(10);
    },
    { ...isAwaited, shownBy: ['sim/walk/actions.ts'] },
  );
}

for (const isInFlight of [false, true]) {
  fault(
    11,
    `tab frozen ${isInFlight ? 'with a batch in flight' : 'with unsent events'}, then closed`,
    async (stage) => {
      const tab = await stage.visit({ query: `data-flush-interval=${isInFlight ? 200 : 600000}&${later(1)}` });
      await expect.poll(() => tab.evaluate(() => window.clew('flush'))).toBeUndefined();
      if (isInFlight) stage.site.fault = hang();
      await stage.track(tab, 10);
      if (isInFlight) await expect.poll(() => sent(stage)).toHaveLength(1);
      await tab.evaluate(() => document.addEventListener('freeze', () => localStorage.setItem('isFrozen', 'yes')));
      const session = await stage.browser.cdp?.(tab);
      await session?.send('Page.setWebLifecycleState', { state: 'frozen' });
      const other = await stage.visit({ path: '/blank', wait: 'load' });
      await expect.poll(() => other.evaluate(() => localStorage.isFrozen)).toBe('yes');
      await tab.close();
    },
    {
      cannot: { firefox: 'its driver cannot freeze a tab', webkit: 'its driver cannot freeze a tab' },
      ...(isInFlight && { shownBy: ['sim/walk/themes/pages.ts'] }),
    },
  );
}

fault(
  11,
  'tab hidden and throttled, then closed',
  async (stage) => {
    const tab = await stage.visit();
    const front = await stage.visit();
    await front.activate();
    await expect.poll(() => tab.evaluate(() => document.hidden)).toBe(true);
    for (let round = 1; round <= 3; round++) {
      await stage.track(tab, 5);
      await expect.poll(() => delivered(tab)).toBe(5 * round);
    }
    await stage.track(tab, 5);
    expect(await tab.evaluate(() => document.hidden)).toBe(true);
    await tab.close();
  },
  { isLong: true },
);
