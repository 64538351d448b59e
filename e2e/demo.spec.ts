import { expect, test } from './support/test.ts';

test('a newcomer signs up in the shop and sees the journey fire for them', async ({ demo, visitor: { page } }) => {
  await page.goto(demo.address);
  await page
    .getByRole('button', { name: /to the cart/ })
    .first()
    .click();
  await page.getByLabel('Name').first().fill('Ada Lovelace');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('radio', { name: 'Pro' }).check();
  await page.getByRole('button', { name: 'Sign up' }).click();
  await expect(page.getByText('fired 1 time')).toBeVisible();
  await expect(page.getByText('balances')).toBeVisible();
  const [ada] = await demo.customers();
  expect(ada).toMatchObject({ primaryKey: 'ada@example.com', properties: { name: 'Ada Lovelace', plan: 'pro' } });
  expect((await demo.events('signup')).map(({ customerId }) => customerId)).toEqual([ada?.id]);
});

test('fits a phone without scrolling sideways', async ({ demo, visitor: { page } }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(demo.address);
  await expect(page.getByRole('button', { name: 'Sign up' })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('what is tracked in the moment of leaving is counted on the page that follows', async ({ demo, visitor }) => {
  await visitor.page.goto(demo.address);
  await visitor.page.getByRole('button', { name: 'Leave at once' }).click();
  await visitor.page.waitForURL(/thanks/);
  await expect.poll(async () => (await demo.events()).length).toBeGreaterThan(9);
});
