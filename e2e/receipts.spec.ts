import { setTimeout as pause } from 'node:timers/promises';
import { startSite } from './faults/support/site.ts';
import { marksIn, repeatsIn } from './support/receipts.ts';
import { expect, numbers, test, upTo } from './support/test.ts';

test('twenty quick pages, each left 5 ms after a click: each event goes out once and arrives once', {
  tag: '@promise',
}, async ({ demo, visitor }) => {
  const site = await startSite(demo);
  try {
    const { page } = visitor;
    for (let n = 0; n < 20; n++) {
      await page.goto(`${site.origin}/page/${n}`);
      await page.evaluate((at) => {
        window.clew('track', 'click', { n: 2 * at });
        window.clew('track', 'click', { n: 2 * at + 1 });
      }, n);
      await pause(5);
    }
    await page.goto(`${site.origin}/page/last`);
    await expect
      .poll(async () => numbers(await demo.events('click')).sort((one, other) => Number(one) - Number(other)))
      .toEqual(upTo(40));
    await visitor.clew('track', 'last');
    await visitor.clew('flush');
    expect(repeatsIn(site)).toEqual([]);
    expect(await marksIn(page)).toEqual([]);
  } finally {
    await site.close();
  }
});

for (const how of ['navigation', 'reload'] as const)
  test(`200 events before a ${how} go out once and arrive once`, { tag: '@promise' }, async ({ demo, visitor }) => {
    const site = await startSite(demo);
    try {
      const { page } = visitor;
      await page.goto(`${site.origin}/page/1`);
      const loaded = page.waitForEvent('load');
      await page
        .evaluate((isReload) => {
          for (let n = 0; n < 200; n++) window.clew('track', 'left', { n });
          if (isReload) location.reload();
          else location.href = '/page/2';
        }, how === 'reload')
        .catch(() => {});
      await loaded;
      // If the page leaves during a request, the events that it hands over may pass those of the request. The rest is in order.
      const arrived = async () => {
        const all = numbers(await demo.events('left'));
        const first = all.indexOf(0);
        return [...all.slice(first), ...all.slice(0, first)];
      };
      await expect.poll(arrived).toEqual(upTo(200));
      await visitor.clew('track', 'next');
      await visitor.clew('flush');
      expect(repeatsIn(site)).toEqual([]);
      expect(await marksIn(page)).toEqual([]);
    } finally {
      await site.close();
    }
  });
