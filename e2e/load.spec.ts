import type { Page } from '@playwright/test';
import { expect, test } from './support/test.ts';

/** Runs in every page from its beginning on: the browser reports tasks of more than 50 ms. https://w3.org/TR/longtasks */
const observe = () => {
  const long: number[] = [];
  Object.assign(window, { long });
  const look = (list: PerformanceObserverEntryList) => long.push(...list.getEntries().map(({ duration }) => duration));
  new PerformanceObserver(look).observe({ type: 'longtask' });
};
const longTasks = (page: Page) => page.evaluate(() => (window as unknown as { long: number[] }).long);

/** Tracks so many events, 200 in each task, so that the page itself has no long task. */
const trackInTasks = (page: Page, count: number) =>
  page.evaluate(
    (count) =>
      new Promise<void>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        let n = 0;
        port1.onmessage = () => {
          for (const end = Math.min(n + 200, count); n < end; n++) window.clew('track', 'load', { n, plan: 'pro' });
          if (n < count) port2.postMessage(0);
          else resolve();
        };
        port2.postMessage(0);
      }),
    count,
  );

test.beforeEach(({ context }) => context.addInitScript(observe));

for (const count of [3000, 8000, 10_000]) {
  test(`${count} stored events cost the next page no long task`, { tag: '@long' }, async ({
    demo,
    context,
    visitor,
  }) => {
    await visitor.visit();
    await visitor.clew('correlationValue');
    await context.setOffline(true);
    await trackInTasks(visitor.page, count);
    await visitor.clew('flush');
    await context.setOffline(false);
    await visitor.visit();
    await expect.poll(async () => (await demo.events('load')).length, { timeout: 40_000 }).toBe(count);
    expect(await longTasks(visitor.page)).toEqual([]);
  });

  test(`${count} events of a page that leaves in the same task cost the next page no long task`, {
    tag: '@long',
  }, async ({ demo, visitor }) => {
    await visitor.visit();
    await visitor.clew('correlationValue');
    await visitor.trackAndLeave('load', count, 'reload');
    await visitor.load();
    await expect.poll(async () => (await demo.events('load')).length, { timeout: 40_000 }).toBe(count);
    expect(await longTasks(visitor.page)).toEqual([]);
  });
}

test('60,000 calls before consent: at most maxQueuedEvents wait, without a long task', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit({ consent: 'required' });
  await trackInTasks(visitor.page, 60_000);
  expect(await longTasks(visitor.page)).toEqual([]);
  expect(await visitor.clew('stats')).toEqual({
    tracked: 60_000,
    delivered: 0,
    queued: 10_000,
    dropped: { full: 50_000 },
  });
  await visitor.clew('consent', true);
  await expect.poll(async () => (await demo.events('load')).length, { timeout: 40_000 }).toBe(10_000);
});
