import { expect, test } from './support/test.ts';

test('the demo’s page about the books shows ten events as missing after it has deleted them', {
  tag: '@promise',
}, async ({ page, demo }) => {
  await page.goto(`${demo.address}/books?release=2.0`);
  await page.getByRole('button', { name: 'Track 10 events' }).click();
  const row = page.getByRole('row').filter({ hasText: '2.0' });
  const cells = row.getByRole('cell');
  await expect(cells).toHaveText(['2.0', 'chromium', '10', '10', '', '0', '0']);
  await page.getByRole('button', { name: 'Break something' }).click();
  await expect(cells).toHaveText(['2.0', 'chromium', '21', '11', '', '0', '10']);
});
