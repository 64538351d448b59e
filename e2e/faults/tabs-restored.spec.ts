import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { hang } from './support/faults.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    hasComeBack?: boolean;
  }
}

fault(
  34,
  'the sending tab navigates away, another tab opens, and the first page returns',
  async (stage) => {
    const { site } = stage;
    const first = await stage.visit();
    await first.evaluate(() =>
      addEventListener('pageshow', ({ persisted }) => {
        window.hasComeBack = persisted;
      }),
    );
    site.fault = hang({ times: 1 });
    await stage.track(first, 3);
    await expect.poll(() => site.requests.length).toBe(1);
    await first.goto(`${site.origin}/blank`);
    const second = await stage.visit({ path: '/page/second' });
    await expect.poll(async () => (await stage.arrived()).length).toBe(3);
    await expect.poll(() => stage.stored(second)).toBe(0);
    await first.activate();
    await first.back();
    await stage.reached(first, '/page/1');
    expect(await first.evaluate(() => window.hasComeBack)).toBe(true);

    // The first page may retry events, because it has missed their confirmation.
    await first.evaluate(() => window.clew('flush'));
    await expect.poll(() => stage.stored(first)).toBe(0);

    // Both pages are open now, and have events to send. The pages take turns.
    const sent = site.requests.length;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    site.fault = async ({ forward }) => {
      await released;
      await forward();
    };
    await stage.track(second, 5);
    await expect.poll(() => site.requests.length).toBe(sent + 1);
    await stage.track(first, 5);
    await first.evaluate(() => window.clew('flush'));
    expect(site.requests, 'one sender at a time').toHaveLength(sent + 1);
    release();
    await expect.poll(async () => (await stage.arrived()).length).toBe(13);
    const uuids = site.requests.slice(sent).flatMap((request) => request.uuids);
    expect(new Set(uuids).size, 'nothing twice').toBe(uuids.length);
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

/** The databases, keys and counts of a page that was refused. */
const traces = async () => ({
  databases: (await indexedDB.databases()).length,
  keys: Object.keys(localStorage),
  dropped: ((await window.clew('stats')) as { dropped: object }).dropped,
});

/** Leaves for another page, which runs `act`, and goes back. Resolves to whether the browser had kept the first page. */
const awayAndBack = async (stage: Stage, tab: Tab, act: () => unknown) => {
  await tab.evaluate(() =>
    addEventListener('pageshow', ({ persisted }) => {
      window.hasComeBack = persisted;
    }),
  );
  await tab.goto(`${stage.site.origin}/page/second`);
  await tab.evaluate(() => window.clew('correlationValue'));
  await tab.evaluate(act);
  await tab.back();
  await stage.reached(tab, '/page/1');
  return tab.evaluate(() => window.hasComeBack);
};

fault(
  34,
  'a page returns from the cache after its visitor refused consent on the next page',
  async (stage) => {
    const tab = await stage.visit();
    await tab.evaluate(() => window.clew('flush'));
    const isKept = await awayAndBack(stage, tab, async () => {
      window.clew('consent', false);
      while ((await indexedDB.databases()).length) await new Promise((resolve) => setTimeout(resolve, 20));
    });
    // Chromium and Firefox drop a page from the cache when its open database is deleted. The page then loads again.
    expect(isKept).toBe(stage.engine === 'webkit' ? true : undefined);
    if (!isKept) return;
    await tab.evaluate(() => window.clew('track', 'after the refusal'));
    await expect.poll(() => tab.evaluate(traces)).toEqual({ databases: 0, keys: [], dropped: { consent: 1 } });
  },
  { isPromise: true },
);

fault(34, 'a page returns from the cache after the site cleared localStorage', async (stage) => {
  const tab = await stage.visit();
  await tab.evaluate(() => window.clew('flush'));
  const visitorId = await tab.evaluate(() => window.clew('correlationValue'));
  expect(await awayAndBack(stage, tab, () => localStorage.clear())).toBe(true);
  expect(await tab.evaluate(() => window.clew('correlationValue'))).toBe(visitorId);
  stage.assign(await stage.track(tab, 3), String(visitorId));
  await expect.poll(async () => (await stage.arrived()).length).toBe(3);
});
