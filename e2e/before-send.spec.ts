import type { Page } from '@playwright/test';
import { loadPackage } from './support/app.ts';
import { expect, test } from './support/test.ts';

/** All text that the page has put into IndexedDB and localStorage. */
const stored = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('clew');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const all = await new Promise<unknown[]>((resolve, reject) => {
      const request = database.transaction('clew').objectStore('clew').getAll();
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    database.close();
    return JSON.stringify([all, { ...localStorage }]);
  });

test('an event that beforeSend drops is never written to disk and never sent', { tag: '@promise' }, async ({
  demo,
  context,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank?token=s3cret&page=2#code=s3cret`);
  await loadPackage(page);
  await context.setOffline(true);
  await page.evaluate(async () => {
    const tracker = window.app.createTracker({ baseUrl: '/clew', beforeSend: window.app.redactUrls() });
    Object.assign(window, { tracker });
    tracker.page();
    await tracker.flush();
  });
  expect(await stored(page)).toContain('/blank?token=redacted&page=2#code=redacted');
  expect(await stored(page)).not.toContain('s3cret');
  await context.setOffline(false);
  await expect.poll(() => demo.events('page_view')).toHaveLength(1);
  expect((await demo.events())[0]?.payload).toMatchObject({
    url: `${demo.address}/blank?token=redacted&page=2#code=redacted`,
    path: '/blank',
  });
});

test('beforeSend changes and drops events, and the objects of the page stay unchanged', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank`);
  await loadPackage(page);
  const seen = await page.evaluate(async () => {
    const tracker = window.app.createTracker({
      baseUrl: '/clew',
      beforeSend(event) {
        (event.payload as { seen?: boolean }).seen = true;
        return event.event === 'noise' ? null : event;
      },
    });
    const dropped: unknown[] = [];
    tracker.on('dropped', ({ events, reason }) => dropped.push([events[0]?.event, reason]));
    const payload = { n: 1 };
    tracker.track('noise', payload);
    tracker.track('signal', payload);
    tracker.identify('ann@example.com');
    await tracker.flush();
    return { payload, dropped, stats: tracker.stats() };
  });
  expect(seen).toEqual({
    payload: { n: 1 },
    dropped: [['noise', 'filtered']],
    stats: { tracked: 3, delivered: 2, queued: 0, dropped: { filtered: 1 } },
  });
  expect((await demo.events()).map(({ event, payload }) => [event, payload])).toEqual([
    ['signal', { n: 1, seen: true }],
    ['$identify', { distinct_id: 'ann@example.com' }],
  ]);
});

test('the script tag adds browser properties to events only if `context` is set', async ({ demo, visitor }) => {
  await visitor.visit({ context: '' });
  await visitor.clew('track', 'with context', { language: 'xx', n: 1 });
  await visitor.clew('track', 'bare', [1]);
  await expect.poll(() => demo.events()).toHaveLength(2);
  const [first, second] = await demo.events();
  expect(first?.payload).toEqual({
    language: 'xx',
    n: 1,
    timeZone: await visitor.page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone),
    screen: await visitor.page.evaluate(() => ({ width: screen.width, height: screen.height })),
    viewport: visitor.page.viewportSize(),
    userAgent: {
      brands: expect.arrayContaining([{ brand: 'Chromium', version: expect.any(String) }]),
      mobile: false,
      platform: expect.any(String),
    },
  });
  expect(second?.payload).toEqual([1]);
  await visitor.visit();
  await visitor.clew('track', 'without');
  await expect.poll(() => demo.events('without')).toHaveLength(1);
  expect((await demo.events('without'))[0]?.payload ?? null).toBe(null);
});
