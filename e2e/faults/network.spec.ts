import { isAll } from '../support/tags.ts';
import { expect, fault } from './support/fault.ts';
import { attemptsOf, countAttempts, stir, told } from './support/witness.ts';

/** A service worker that keeps the pages of a site, as apps that work offline do. Requests to the API go to the network. */
const KEEPER = `
const kept = ['/page/1', '/page/2', '/page/3', '/dist/clew.js'];
addEventListener('install', (event) => {
  skipWaiting();
  event.waitUntil(caches.open('pages').then((cache) => cache.addAll(kept)));
});
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (kept.includes(new URL(event.request.url).pathname))
    event.respondWith(caches.match(event.request).then((answer) => answer ?? fetch(event.request)));
});`;

fault(17, 'offline for the whole visit, several pages in three tabs, and online on the next page', async (stage) => {
  stage.site.files.set('/keeper.js', { type: 'text/javascript', body: KEEPER });
  const first = await stage.visit({ path: '/blank', wait: 'load' });
  await first.evaluate(async () => {
    await navigator.serviceWorker.register('/keeper.js');
    await navigator.serviceWorker.ready;
  });
  await stage.browser.setOffline?.(true);
  await stage.site.refuse();
  const tabs = [first, await stage.browser.newTab(), await stage.browser.newTab()];
  const before = Date.now();
  for (const path of ['/page/1', '/page/2', '/page/3']) {
    for (const tab of tabs) {
      await stage.visit({ tab, path });
      await stage.track(tab, 5);
      await stir(tab);
    }
  }
  if (stage.browser.setOffline) expect(await first.evaluate(() => navigator.onLine)).toBe(false);
  await expect.poll(() => stage.stored(first)).toBe(45);
  expect((await told(first)).delivered).toEqual([]);
  for (const tab of tabs) await tab.close();
  const after = Date.now();
  expect(stage.site.requests).toEqual([]);

  await stage.settle();
  const offline = (await stage.arrived()).filter(({ payload }) => (payload as { n: number }).n < 45);
  for (const { timestamp } of offline) {
    expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(timestamp)).toBeLessThanOrEqual(after);
  }
});

const UP = 1000;
const DOWN = 3000;
const ROUNDS = process.env.FAULT_LONG ? 30 : isAll ? 5 : 2;
/**
 * Most requests of a round. While the network is up, there is one request per flush interval of 200 ms, and one forced request.
 * One more fails as the network goes down. The back-offs of up to 1, 2, 4, … s then leave time for seven more. The chance of an
 * eighth failure in three seconds is one in a million.
 */
const MOST_PER_ROUND = UP / 200 + 2 + 7;

fault(
  18,
  'flapping, 1 s up and 3 s down: the number of requests stays bounded',
  async (stage) => {
    const tab = await stage.visit();
    await countAttempts(tab);
    const numbers = stage.next((ROUNDS * (UP + DOWN)) / 100);
    const tracking = tab.evaluate(
      ({ run, from, count }) =>
        new Promise<void>((resolve) => {
          let n = from;
          const timer = setInterval(() => {
            window.clew('track', 'ledger', { run, n: n++ });
            if (n < from + count) return;
            clearInterval(timer);
            resolve();
          }, 100);
        }),
      numbers,
    );
    const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    for (let round = 0; round < ROUNDS; round++) {
      await stage.site.accept();
      await stage.browser.setOffline?.(false);
      await pass(UP);
      await stage.browser.setOffline?.(true);
      await stage.site.refuse();
      await pass(DOWN);
    }
    await tracking;
    const { made, failed } = await attemptsOf(tab);
    // The network was down for some requests, and up for others.
    expect(failed).toBeGreaterThanOrEqual(ROUNDS);
    expect(made - failed).toBeGreaterThan(0);
    expect(made).toBeLessThanOrEqual(ROUNDS * MOST_PER_ROUND);
    expect((await told(tab)).dropped).toEqual([]);
  },
  { isLong: true, timeout: ROUNDS * (UP + DOWN) + 120_000 },
);
