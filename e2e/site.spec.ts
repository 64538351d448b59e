import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import AxeBuilder from '@axe-core/playwright';
import { test as base, expect } from '@playwright/test';
import { preview } from 'vite';

/** The documentation as `npm run docs:build` has left it. */
const folder = join(import.meta.dirname, '../docs/.vitepress/dist');
const isBuilt = existsSync(join(folder, 'index.html'));

const test = base.extend<object, { address: string }>({
  address: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern
    async ({}, use) => {
      if (!isBuilt) throw new Error('there is no site: run `npm run docs:build` first');
      const server = await preview({
        configFile: false,
        logLevel: 'silent',
        appType: 'mpa',
        build: { outDir: folder },
        preview: { host: '127.0.0.1', port: 0 },
      });
      await use((server.resolvedUrls?.local[0] ?? '').replace(/\/$/, ''));
      await server.close();
    },
    { scope: 'worker' },
  ],
});

const PAGES = (isBuilt ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [])
  .filter((name) => name.endsWith('.html') && name !== '404.html')
  .toSorted();
const LOOKED_AT = [
  '',
  'start-next.html',
  'script-tag.html',
  'relay.html',
  'benchmarks.html',
  'api/index.html',
  'project/changelog.html',
];
const WIDTHS = [1280, 390];

test('no page asks another site for anything, or reports an error', { tag: '@long' }, async ({ address, page }) => {
  test.setTimeout(240_000);
  const faults: string[] = [];
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(address)) faults.push(request.url());
  });
  page.on('console', (message) => message.type() === 'error' && faults.push(`${page.url()}: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  expect(PAGES.length).toBeGreaterThan(30);
  for (const name of PAGES) {
    await page.goto(`${address}/${name}`);
    await expect(page.locator('h1').first()).toBeVisible();
    await expect(page, name).toHaveTitle(/clew/);
  }
  expect(faults).toEqual([]);
});

for (const width of WIDTHS) {
  test(`the start page, ${width} px wide, loads less than 100 kB of script and does not move`, {
    tag: '@long',
  }, async ({ address, page }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.addInitScript(() => {
      const seen = { shifts: 0 };
      Object.assign(globalThis, { seen });
      new PerformanceObserver((list) => {
        seen.shifts += list.getEntries().length;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    const scripts: Promise<number>[] = [];
    page.on('response', (response) => {
      if (/javascript/.test(response.headers()['content-type'] ?? ''))
        scripts.push(response.body().then((body) => gzipSync(body).length));
    });
    await page.goto(`${address}/`, { waitUntil: 'networkidle' });
    const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
    test.info().annotations.push({ type: 'script, gzip', description: `${bytes} bytes in ${scripts.length} files` });
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(100_000);
    expect(await page.evaluate(() => (globalThis as unknown as { seen: { shifts: number } }).seen.shifts)).toBe(0);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing, and no page is too wide, in the ${colorScheme} scheme, ${width} px wide`, {
      tag: '@long',
    }, async ({ address, page }) => {
      test.setTimeout(300_000);
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const path of LOOKED_AT) {
        await page.goto(`${address}/${path}`);
        await expect(page.locator('h1').first()).toBeVisible();
        expect((await new AxeBuilder({ page }).analyze()).violations, path).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(width);
      }
    });
  }
}

test('the search finds a page by a word and opens it, and axe finds nothing in it', { tag: '@long' }, async ({
  address,
  page,
}) => {
  await page.goto(`${address}/`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('Trusted Types');
  await expect(page.getByRole('option').first()).toBeVisible();
  // VitePress makes each result an option that holds a link. The field names the selected one to screen readers.
  const axe = new AxeBuilder({ page }).exclude('#localsearch-list');
  expect((await axe.analyze()).violations).toEqual([]);
  await page
    .getByRole('option', { name: /Strict policies/ })
    .first()
    .click();
  await expect(page).toHaveURL(/script-tag(\.html)?#strict-policies/);
  await expect(page.getByRole('heading', { name: 'Strict policies' })).toBeInViewport();
});
