import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, Page } from '@playwright/test';
import { hasRedis } from '../test/support/hasRedis.ts';
import { resetAfterStoring, slow } from './faults/support/faults.ts';
import { type Site, startSite } from './faults/support/site.ts';
import { crash, openBrowser, withProfile } from './support/ownBrowser.ts';
import { marksIn, repeatsIn } from './support/receipts.ts';
import { type RestartableRelay, startRestartableRelay } from './support/restartableRelay.ts';
import { LONG, PROMISE } from './support/tags.ts';
import { test as base, expect, numbers, upTo } from './support/test.ts';

/** A website whose relay can be restarted. */
interface Shop {
  readonly site: Site;
  readonly relay: RestartableRelay;
  /** The page tracks numbers, and leaves for `to` in the same task, or closes its tab (`nowhere`), or stays. */
  track(page: Page, from: number, count: number, to?: string): Promise<void>;
  /** All events up to this number have arrived, and each request has its answer. */
  arrived(count: number): Promise<void>;
  /** Each event up to this number arrives once within `patience` ms, and no page has a handover to ask about. */
  settled(page: Page, count: number, patience?: number): Promise<void>;
}

const RAW = '/page/raw?tag=none';
/** The page sends nothing by itself. */
const QUIET = '?data-flush-interval=600000';

const test = base.extend<{ shop: Shop }>({
  shop: async ({ demo }, use) => {
    const relay = await startRestartableRelay(demo.address);
    const site = await startSite(relay);
    const arrivals = async () =>
      numbers(await demo.events('click')).toSorted((one, other) => Number(one) - Number(other));
    const track: Shop['track'] = async (page, from, count, to) => {
      const isGone = to === 'nowhere' ? page.waitForEvent('close') : to && page.waitForURL(`**${to}`);
      const tracking = page.evaluate(
        ([from, count, to]) => {
          for (let n = from; n < from + count; n++) window.clew('track', 'click', { n });
          if (to === 'nowhere') close();
          else if (to) location.href = to;
        },
        [from, count, to] as const,
      );
      // The page may be gone before `evaluate` returns.
      await (to ? tracking.catch(() => {}) : tracking);
      await isGone;
    };
    const arrived: Shop['arrived'] = async (count) => {
      await expect.poll(arrivals).toEqual(upTo(count));
      await expect.poll(() => site.requests.filter(({ status }) => !status)).toEqual([]);
    };
    await use({
      site,
      relay,
      track,
      arrived,
      async settled(page, count, timeout = 15_000) {
        await expect.poll(arrivals, { timeout }).toEqual(upTo(count));
        await page.evaluate(() => window.clew('flush'));
        expect(await marksIn(page)).toEqual([]);
        expect(await arrivals()).toEqual(upTo(count));
        expect(site.problems).toEqual([]);
      },
    });
    await site.close();
    await relay.stop();
  },
});

test.skip(!hasRedis(), 'no redis-server on this machine');

test('fifty departures 5 ms after a click, with relay restarts: each event goes out once and arrives once', {
  tag: [LONG, PROMISE],
}, async ({ shop, context }) => {
  const { site, relay } = shop;
  const page = await context.newPage();
  for (let n = 0; n < 50; n++) {
    await page.goto(`${site.origin}/page/${n}`);
    await shop.track(page, n, 1);
    await pause(5);
    if (n % 20 !== 10) continue;
    await page.goto(`${site.origin}${RAW}`);
    await shop.arrived(n + 1);
    await relay.restart('SIGKILL');
  }
  await page.goto(`${site.origin}/page/last`);
  await shop.settled(page, 50);
  expect(repeatsIn(site)).toEqual([]);
});

test('thirty departures 5 ms after a click, while the relay restarts: only unanswered requests are repeated', {
  tag: [LONG, PROMISE],
}, async ({ shop, context }) => {
  test.setTimeout(180_000);
  const { site, relay } = shop;
  const page = await context.newPage();
  let restarting = Promise.resolve();
  for (let n = 0; n < 30; n++) {
    if (n % 10 === 5) restarting = restarting.then(() => relay.restart(n === 15 ? 'SIGTERM' : 'SIGKILL'));
    await page.goto(`${site.origin}/page/${n}`);
    await shop.track(page, n, 1);
    await pause(5);
  }
  await restarting;
  await page.goto(`${site.origin}/page/last`);
  // For a minute, the next relay holds back the events that the killed relay was forwarding.
  await shop.settled(page, 30, 120_000);
  const answered = new Set<string>();
  for (const { uuids, status = 0 } of site.requests) {
    expect(uuids.filter((uuid) => answered.has(uuid))).toEqual([]);
    if (status >= 200 && status < 300) for (const uuid of uuids) answered.add(uuid);
  }
});

for (const how of ['navigation', 'closing'] as const)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    test(`200 events before a ${how}, and then ${signal} to the relay: each goes out once and arrives once`, {
      tag: [LONG, PROMISE],
    }, async ({ shop, context }) => {
      const { site, relay } = shop;
      const next = await context.newPage();
      await next.goto(`${site.origin}${RAW}`);
      const [page] = await Promise.all([context.waitForEvent('page'), next.evaluate(() => void open('/page/1'))]);
      await page.waitForLoadState();
      await shop.track(page, 0, 200, how === 'navigation' ? RAW : 'nowhere');
      await shop.arrived(200);
      await relay.restart(signal);
      await next.goto(`${site.origin}/page/2`);
      await shop.track(next, 200, 1);
      await shop.settled(next, 201);
      expect(repeatsIn(site)).toEqual([]);
    });

/** Waits until the browser has the page's events, to send them if the page ends. */
const armed = (page: Page) =>
  page.waitForFunction(() =>
    Object.entries(localStorage).some(([key, text]) => key.startsWith('clew.handed ') && JSON.parse(text).isArmed),
  );

/** Opens a page that has delivered an event. The browser then has 20 more events, which it sends if the page ends. */
const openArmed = async ({ site, track }: Shop, context: BrowserContext): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(`${site.origin}/page/1${QUIET}`);
  await track(page, 0, 1);
  await page.evaluate(() => window.clew('flush'));
  await track(page, 1, 20);
  await armed(page);
  return page;
};

/** The visitor of `openArmed` comes back and tracks one more event. */
const returnTo = async ({ site, track, settled }: Shop, context: BrowserContext): Promise<void> => {
  const next = await context.newPage();
  await next.goto(`${site.origin}/page/2`);
  await track(next, 21, 1);
  await settled(next, 22);
};

for (const isRestarted of [false, true]) {
  const restart = isRestarted ? ', and then SIGKILL to the relay' : '';

  test(`a crash of the page${restart}: the browser sends the events, and no page sends them again`, {
    tag: [LONG, PROMISE],
  }, async ({ shop }) => {
    const { site, relay } = shop;
    await withProfile(async (profile) => {
      const { context, quit } = await openBrowser(profile);
      await crash(await openArmed(shop, context));
      await shop.arrived(21);
      if (isRestarted) await relay.restart('SIGKILL');
      await returnTo(shop, context);
      await quit();
    });
    expect(repeatsIn(site)).toEqual([]);
  });

  test(`SIGKILL to the browser${restart}: the next one sends the events once`, {
    tag: [LONG, PROMISE],
  }, async ({ shop }) => {
    const { site, relay } = shop;
    await withProfile(async (profile) => {
      const killed = await openBrowser(profile);
      await openArmed(shop, killed.context);
      await killed.kill();
      await shop.arrived(1);
      if (isRestarted) await relay.restart('SIGKILL');
      const { context, quit } = await openBrowser(profile);
      await returnTo(shop, context);
      await quit();
    });
    expect(repeatsIn(site)).toEqual([]);
  });
}

for (const [what, isLate] of [
  ['a departure', false],
  ['the next page', true],
] as const)
  test(`the answer to the first request of ${what} is lost: at most one request is repeated`, {
    tag: [LONG, PROMISE],
  }, async ({ shop, context }) => {
    const { site } = shop;
    const page = await context.newPage();
    await page.goto(`${site.origin}/page/1`);
    await shop.track(page, 0, 1);
    await shop.arrived(1);
    if (!isLate) site.fault = resetAfterStoring({ times: 1 });
    await shop.track(page, 1, 200, RAW);
    await expect.poll(async () => site.stored.size).toBe(201);
    if (isLate) site.fault = resetAfterStoring({ times: 1 });
    await page.goto(`${site.origin}/page/2`);
    await shop.track(page, 201, 1);
    await shop.settled(page, 202);
    expect(repeatsIn(site).length).toBeLessThanOrEqual(1);
  });

test('two tabs that open at once after a departure: each event goes out once and arrives once', {
  tag: [LONG, PROMISE],
}, async ({ shop, context }) => {
  const { site, relay } = shop;
  const tabs = await Promise.all([context.newPage(), context.newPage()]);
  for (let round = 0; round < 5; round++) {
    const from = round * 22;
    await tabs[0].goto(`${site.origin}/page/1`);
    await shop.track(tabs[0], from, 20, RAW);
    await tabs[1].goto(`${site.origin}${RAW}`);
    await shop.arrived(from + 20);
    if (round % 2) await relay.restart('SIGKILL');
    // While one tab waits for the answer about a handover, the other tab finds that handover, too.
    site.fault = slow(round * 100);
    await Promise.all(
      tabs.map(async (tab, at) => {
        await tab.goto(`${site.origin}/page/${at}`);
        await shop.track(tab, from + 20 + at, 1);
      }),
    );
    for (const tab of tabs) await shop.settled(tab, from + 22);
    site.fault = undefined;
  }
  expect(repeatsIn(site)).toEqual([]);
});
