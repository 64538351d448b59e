import type { Page } from '@playwright/test';
import { allArrive } from './support/allArrive.ts';
import { longestTask, mark, markPages } from './support/cpu.ts';
import { expect, test } from './support/test.ts';

/** How many times the reference task the longest task may take. The reference takes about 25 ms, so no task takes 50 ms. */
const MOST = 2;

/** Tracks `count` events, `each` of them in one task, so that the page itself has no long task. */
const trackInTasks = (page: Page, count: number, each = 200) =>
  page.evaluate(
    ([count, each]) =>
      new Promise<void>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        let n = 0;
        port1.onmessage = () => {
          for (const end = Math.min(n + each, count); n < end; n++) window.clew('track', 'load', { n, plan: 'pro' });
          if (n < count) port2.postMessage(0);
          else resolve();
        };
        port2.postMessage(0);
      }),
    [count, each] as const,
  );

const arrival = (demo: { events(name: string): Promise<unknown[]> }, count: number) =>
  allArrive(count, async () => (await demo.events('load')).length, 60_000);

test.beforeEach(({ visitor }) => {
  // Longer than `arrival` waits.
  test.setTimeout(120_000);
  return markPages(visitor.page);
});

for (const count of [3000, 10_000]) {
  test(`${count} stored events cost the next page no long task`, { tag: '@long' }, async ({
    browser,
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
    const longest = await longestTask(browser, visitor.page, async () => {
      await visitor.visit();
      await arrival(demo, count);
    });
    expect(longest).toBeLessThan(MOST);
  });

  test(`${count} events of a page that leaves in the same task cost the next page no long task`, {
    tag: '@long',
  }, async ({ browser, demo, visitor }) => {
    await visitor.visit();
    await visitor.clew('correlationValue');
    const longest = await longestTask(browser, visitor.page, async () => {
      await visitor.trackAndLeave('load', count, 'reload');
      await visitor.load();
      await arrival(demo, count);
    });
    expect(longest).toBeLessThan(MOST);
  });
}

test('60,000 calls before consent: at most maxQueuedEvents wait, and consent costs no long task', {
  tag: '@long',
}, async ({ browser, demo, visitor }) => {
  await visitor.visit({ consent: 'required' });
  const longest = await longestTask(browser, visitor.page, async () => {
    await mark(visitor.page);
    await trackInTasks(visitor.page, 60_000);
    expect(await visitor.clew('stats')).toEqual({
      tracked: 60_000,
      delivered: 0,
      queued: 10_000,
      dropped: { full: 50_000 },
    });
    await visitor.clew('consent', true);
    await arrival(demo, 10_000);
  });
  expect(longest).toBeLessThan(MOST);
});

for (const refused of ['IndexedDB', 'IndexedDB and localStorage'])
  test(`10,000 events cost no long task if the browser refuses ${refused}`, { tag: '@long' }, async ({
    browser,
    demo,
    visitor,
  }) => {
    const { page } = visitor;
    await page.addInitScript((isAll) => {
      const refuse = () => {
        throw new DOMException('refused', 'SecurityError');
      };
      Object.defineProperty(IDBFactory.prototype, 'open', { value: refuse });
      if (isAll) Object.defineProperty(window, 'localStorage', { get: refuse });
    }, refused !== 'IndexedDB');
    await visitor.visit();
    const longest = await longestTask(browser, page, async () => {
      await mark(page);
      await trackInTasks(page, 10_000, 20);
      await arrival(demo, 10_000);
    });
    expect(longest).toBeLessThan(MOST);
  });

test('400 events of 20 kB, more than the storage may hold, cost no long task and arrive', { tag: '@long' }, async ({
  browser,
  demo,
  visitor,
}) => {
  const { page } = visitor;
  const session = await page.context().newCDPSession(page);
  await session.send('Storage.overrideQuotaForOrigin', { origin: demo.address, quotaSize: 2_000_000 });
  await visitor.visit();
  await visitor.clew('correlationValue');
  const longest = await longestTask(browser, page, async () => {
    await mark(page);
    await page.evaluate(async () => {
      const text = 'x'.repeat(20_000);
      for (let n = 0; n < 400; n++) {
        window.clew('track', 'load', { n, text });
        if (n % 10 === 9) await new Promise((resolve) => setTimeout(resolve));
      }
    });
    await arrival(demo, 400);
  });
  expect(longest).toBeLessThan(MOST);
});

test('100,000 events offline: memory does not grow with what is stored, and all arrive once', { tag: '@long' }, async ({
  context,
  demo,
  visitor,
}) => {
  test.setTimeout(600_000);
  const { page } = visitor;
  const session = await context.newCDPSession(page);
  /** Bytes of memory that the page's script needs, without garbage. */
  const memory = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  await visitor.visit({ maxQueuedEvents: '200000' });
  await visitor.clew('correlationValue');
  /** Resolves once memory has at most `most` bytes more than before. A transaction's timer keeps its events for 3 s. */
  const settled = (before: number, most: number) =>
    expect.poll(async () => (await memory()) - before, { timeout: 60_000 }).toBeLessThan(most);
  const begun = await memory();
  await context.setOffline(true);
  await trackInTasks(page, 10_000);
  await visitor.clew('flush');
  await settled(begun, 1_000_000);
  const before = await memory();
  await trackInTasks(page, 90_000);
  await visitor.clew('flush');
  await settled(before, 200_000);
  console.log(`90,000 events more: ${(await memory()) - before} bytes more of memory`);
  expect(await visitor.clew('stats')).toEqual({ tracked: 100_000, delivered: 0, queued: 100_000, dropped: {} });
  await context.setOffline(false);
  await allArrive(100_000, async () => ((await visitor.clew('stats')) as { delivered: number }).delivered, 500_000);
  await arrival(demo, 100_000);
});
