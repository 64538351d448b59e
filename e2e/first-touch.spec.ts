import type { Page } from '@playwright/test';
import { loadPackage } from './support/app.ts';
import { holdDatabase } from './support/busyDatabase.ts';
import { expect, test } from './support/test.ts';

/** Starts a tracker with the plugin on this page. */
const start = async (page: Page) => {
  await loadPackage(page);
  await page.evaluate(() => {
    const { createTracker, firstTouch } = window.app;
    const tracker = createTracker({ baseUrl: '/clew', flushInterval: 50, plugins: [firstTouch()] });
    Object.assign(window, { clew: (method: 'flush', ...args: []) => tracker[method](...args) });
  });
};

test('firstTouch gives campaign, referrer and landing page of the first visit to a customer, once', {
  tag: '@promise',
}, async ({ demo, visitor }) => {
  const { page, clew } = visitor;
  const { port } = new URL(demo.address);
  await page.goto(`http://localhost:${port}/blank?search=yarn`);
  const landing = `${demo.address}/blank?utm_source=news&utm_campaign=spring&email=ann@example.com`;
  await page.evaluate((href) => {
    document.body.innerHTML = `<a href="${href}" referrerpolicy="unsafe-url">Ariadne Yarns</a>`;
  }, landing);
  await page.getByRole('link').click();
  await page.waitForURL(landing);
  await start(page);
  await clew('track', 'seen');
  await expect.poll(() => demo.events('seen')).toHaveLength(1);

  await page.goto(`${demo.address}/blank?utm_source=other`);
  await start(page);
  await clew('identify', 'ann@example.com', { plan: 'pro' });
  // A log-in leads to another page at once.
  await page.goto(`${demo.address}/blank`);
  await start(page);
  await clew('identify', 'ann@example.com');
  await clew('reset');
  await clew('identify', 'bob@example.com');
  await clew('track', 'of bob');
  await expect.poll(() => demo.events('of bob')).toHaveLength(1);

  const touch = {
    first_utm_source: 'news',
    first_utm_campaign: 'spring',
    first_referrer: `http://localhost:${port}/blank`,
    first_landing_page: `${demo.address}/blank`,
  };
  await expect.poll(() => demo.events('first_touch')).toMatchObject([{ payload: touch }]);
  // A page that leaves sends events and properties in separate requests.
  await expect
    .poll(async () => (await demo.customers()).map(({ primaryKey, properties }) => [primaryKey, properties]))
    .toEqual([
      ['ann@example.com', { plan: 'pro', ...touch }],
      ['bob@example.com', {}],
    ]);
  const [ann] = await demo.customers();
  const [event] = await demo.events('first_touch');
  expect(event?.customerId).toBe(ann?.id);
});

test('firstTouch gives the first visit to a customer whose page leaves before the database has answered', {
  tag: ['@long', '@promise'],
}, async ({ demo, visitor, context }) => {
  const { page, clew } = visitor;
  await page.goto(`${demo.address}/blank?utm_source=news`);
  await start(page);
  await clew('track', 'seen');
  await expect.poll(() => demo.events('seen')).toHaveLength(1);

  const other = await context.newPage();
  await other.goto(`${demo.address}/blank`);
  const release = await holdDatabase(other);
  await page.goto(`${demo.address}/blank?utm_source=other`);
  await start(page);
  await clew('identify', 'ann@example.com');
  await page.goto(`${demo.address}/blank`);
  await release();
  await start(page);
  await clew('identify', 'ann@example.com');

  const touch = { first_utm_source: 'news', first_landing_page: `${demo.address}/blank` };
  await expect.poll(() => demo.events('first_touch')).toMatchObject([{ payload: touch }]);
  await expect.poll(() => demo.customers()).toMatchObject([{ primaryKey: 'ann@example.com', properties: touch }]);
});
