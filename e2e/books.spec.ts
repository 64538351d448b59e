import AxeBuilder from '@axe-core/playwright';
import { expect, test } from './support/test.ts';

test('the demo’s page about the books shows ten events as missing after it has deleted them', {
  tag: '@promise',
}, async ({ demo, visitor: { page } }) => {
  await page.goto(`${demo.address}/books?release=2.0`);
  await page.getByRole('button', { name: 'Track 10 events' }).click();
  const row = page.getByRole('row').filter({ hasText: '2.0' });
  const cells = row.getByRole('cell');
  await expect(cells).toHaveText(['2.0', 'chromium', '10', '10', '', '0', '0']);
  // These ten are still queued when the service is to fail.
  await page.getByRole('button', { name: 'Track 10 events' }).click();
  await page.getByRole('button', { name: 'Break something' }).click();
  await expect(cells).toHaveText(['2.0', 'chromium', '31', '21', '', '0', '10']);
  await expect(page.getByText('the deleted events are missing')).toBeVisible();
});

test('the page about the books shows that the demo is stopped', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await page.goto(`${demo.address}/books`);
  await page.route(/\/(books\/report|inspect\/faults)$/, (route) => route.abort());
  const stopped = page.getByText('No connection to the demo.');
  await expect(stopped).toHaveCount(1);
  await page.getByRole('button', { name: 'Break something' }).click();
  await expect(stopped).toHaveCount(2);
  await page.unroute(/\/(books\/report|inspect\/faults)$/);
  await expect(stopped).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Track 10 events' })).toBeEnabled();
});

test('axe finds nothing on the page about the books at 320 px', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(`${demo.address}/books`);
  await page.getByRole('button', { name: 'Track 10 events' }).click();
  await expect(page.getByRole('table')).toBeVisible();
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
});
