import { isAll } from '../support/tags.ts';
import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import type { Stage } from './support/stage.ts';

const hasArrived = (stage: Stage, count: number) =>
  expect.poll(async () => (await stage.arrived()).length, { timeout: 30_000 }).toBe(count);
const numbersOf = async (stage: Stage): Promise<number[]> =>
  (await stage.arrived()).map(({ payload }) => (payload as { n: number }).n);

for (const count of [2, 5, 20]) {
  fault(
    32,
    `${count} tabs, interleaved, offline, then online`,
    async (stage) => {
      const { site, browser } = stage;
      const tabs: Tab[] = [];
      while (tabs.length < count) tabs.push(await stage.visit());
      const own = new Map<Tab, number[]>(tabs.map((tab) => [tab, []]));
      const trackInAll = async () => {
        for (const tab of tabs) own.get(tab)?.push(...(await stage.track(tab, 3)));
      };

      await trackInAll();
      // A request in flight would still be stored.
      await hasArrived(stage, count * 3);
      await browser.setOffline?.(true);
      await site.refuse();
      for (let round = 0; round < 2; round++) await trackInAll();
      const reaches = (tab: Tab) => tab.evaluate(() => fetch('/blank').then(Boolean, () => false));
      expect(await Promise.all(tabs.map(reaches))).not.toContain(true);
      expect(await stage.arrived()).toHaveLength(count * 3);

      await site.accept();
      await browser.setOffline?.(false);
      // The tabs send their events by themselves, without the fresh page of settling.
      await hasArrived(stage, count * 9);
      const arrived = await numbersOf(stage);
      for (const numbers of own.values()) {
        expect(
          arrived.filter((n) => numbers.includes(n)),
          'in the order of the calls',
        ).toEqual(numbers);
      }
    },
    { isLong: true },
  );
}

/** Puts one tab before the other until the page has seen it. */
const flip = async (tab: Tab, other: Tab) => {
  const sees = (isHidden: boolean) =>
    tab.evaluate(async (hidden) => {
      if (document.hidden !== hidden)
        await new Promise((resolve) => addEventListener('visibilitychange', resolve, { once: true }));
    }, isHidden);
  await other.activate();
  await sees(true);
  await tab.activate();
  await sees(false);
};

const ROUNDS = isAll ? 10 : 1;
/** How long (ms) the service asks for a pause. */
const PAUSE = isAll ? 15_000 : 5000;

fault(38, `hidden and visible ${10 * ROUNDS} times`, async (stage) => {
  const { requests } = stage.site;
  const tab = await stage.visit();
  const other = await stage.visit({ path: '/blank', wait: 'load' });
  const hides = () =>
    tab.evaluate(() => {
      const counted = window as { hides?: number };
      if (counted.hides !== undefined) return counted.hides;
      counted.hides = 0;
      addEventListener('visibilitychange', () => {
        if (document.hidden) counted.hides = (counted.hides ?? 0) + 1;
      });
      return 0;
    });
  await tab.activate();
  await hides();

  for (let times = 0; times < 4 * ROUNDS; times++) await flip(tab, other);
  expect(requests, 'nothing to send').toHaveLength(0);

  for (let times = 0; times < 3 * ROUNDS; times++) {
    await stage.track(tab);
    await flip(tab, other);
  }
  await hasArrived(stage, 3 * ROUNDS);
  expect(requests.length, 'one request for an event at most').toBeLessThanOrEqual(3 * ROUNDS);

  stage.site.fault = answer(503, { headers: { 'Retry-After': `${PAUSE / 1000}` } });
  const begun = Date.now();
  const sent = requests.length;
  for (let times = 0; times < 3 * ROUNDS; times++) {
    await stage.track(tab);
    await flip(tab, other);
  }
  await expect.poll(() => requests.length, 'the request that begins the pause').toBeGreaterThan(sent);
  // No return of the visitor ends the pause that the service asks for.
  const most = 1 + Math.floor((Date.now() - begun) / PAUSE);
  expect(requests.length - sent, 'the pause holds').toBeLessThanOrEqual(most);
  expect(await hides()).toBe(10 * ROUNDS);
});
