import type { Demo } from './support/demo.ts';
import { goBack } from './support/goBack.ts';
import { openBrowser, withProfile } from './support/ownBrowser.ts';
import { usePlugins } from './support/plugins.ts';
import { visitBlank } from './support/tag.ts';
import { firstOf } from './support/tags.ts';
import { expect, test, type Visitor } from './support/test.ts';

interface Left {
  path: string;
  activeTime: number;
  totalTime: number;
  scrollDepth: number;
  part: number;
}

const leftOf = async (demo: Demo): Promise<Left[]> =>
  (await demo.events('page_left'))
    .sort((a, b) => a.timestamp.localeCompare(b.timestamp))
    .map(({ payload }) => payload as Left);

const elapsed = ({ page }: Visitor): Promise<number> => page.evaluate(() => performance.now());

/** Opens a page that is four windows high, and waits for its view. Returns a moment (ms) at which the plugin is at work. */
const arrive = async (demo: Demo, visitor: Visitor) => {
  await visitor.page.goto(`${demo.address}/blank`);
  await visitor.page.evaluate(() => {
    document.body.style.cssText = 'margin: 0; height: 400vh';
  });
  await visitor.load({ pageViews: '' });
  await usePlugins(visitor.page, { engagement: {} });
  await expect.poll(() => demo.events('page_view')).toHaveLength(1);
  return elapsed(visitor);
};

/** Scrolls down by a window, as a visitor does. */
const scroll = async ({ page }: Visitor) => {
  const scrolled = page.evaluate(() => new Promise((resolve) => addEventListener('scroll', resolve, { once: true })));
  await page.mouse.wheel(0, page.viewportSize()?.height ?? 0);
  await scrolled;
};

test('a view in a single-page app ends with the next one, with its time and depth', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const started = await arrive(demo, visitor);
  await scroll(visitor);
  await expect.poll(() => visitor.page.evaluate(() => Math.round((100 * scrollY) / innerHeight))).toBe(100);
  const before = await elapsed(visitor);
  await visitor.page.evaluate(() => history.pushState({}, '', '/cart'));
  await expect.poll(() => leftOf(demo)).toHaveLength(1);
  const after = await elapsed(visitor);
  const [left] = await leftOf(demo);
  expect(left).toMatchObject({ path: '/blank', scrollDepth: 50, part: 1 });
  expect(left?.activeTime).toBeGreaterThanOrEqual(Math.floor(before - started));
  expect(left?.activeTime).toBeLessThan(after);
  expect(left?.totalTime).toBe(left?.activeTime);
});

for (const how of firstOf(['navigate', 'close', 'reload'] as const))
  test(`a view that ends with the page arrives: ${how}`, { tag: '@promise' }, async ({ demo, visitor }) => {
    const started = await arrive(demo, visitor);
    const before = await elapsed(visitor);
    await visitor.trackAndLeave('last', 1, how);
    await expect.poll(() => leftOf(demo)).toHaveLength(1);
    const [left] = await leftOf(demo);
    expect(left).toMatchObject({ path: '/blank', part: 1 });
    expect(left?.activeTime).toBeGreaterThanOrEqual(Math.floor(before - started));
  });

test('a page that comes back from the back/forward cache has another view', async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(demo, visitor);
  await page.evaluate(() => {
    addEventListener('pageshow', ({ persisted }) => {
      document.title = `${persisted}`;
    });
    location.href = '/blank?next';
  });
  await page.waitForURL('**/blank?next');
  await goBack(page);
  await page.waitForFunction(() => document.title === 'true');
  await expect.poll(() => leftOf(demo)).toHaveLength(1);
  await visitor.trackAndLeave('last', 1, 'close');
  await expect.poll(() => leftOf(demo)).toHaveLength(2);
  const all = await leftOf(demo);
  expect(all.map(({ path, part, totalTime, activeTime }) => [path, part, totalTime === activeTime])).toEqual([
    ['/blank', 1, true],
    ['/blank', 1, true],
  ]);
});

test('with hiddenFor, a view whose tab was hidden and shown again has one event', { tag: '@long' }, async ({
  demo,
}) => {
  await withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    try {
      const [page, other] = [await browser.newPage(), await browser.newPage()];
      const draft = () => page.evaluate(() => localStorage['clew.plugins'] ?? '');
      await page.bringToFront();
      await visitBlank(page, demo.address, { pageViews: '' });
      await usePlugins(page, { engagement: { hiddenFor: 600_000 } });
      await expect.poll(() => demo.events('page_view')).toHaveLength(1);
      await other.bringToFront();
      await expect.poll(draft).toContain('totalTime');
      await page.bringToFront();
      await expect.poll(draft).not.toContain('totalTime');
      await page.close();
      await expect.poll(() => leftOf(demo)).toHaveLength(1);
      expect(await leftOf(demo)).toMatchObject([{ path: '/blank', part: 1 }]);
    } finally {
      await browser.kill();
    }
  });
});

test('a view in a tab that is hidden and never shown again arrives', { tag: ['@long', '@promise'] }, async ({
  demo,
}) => {
  await withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    try {
      const page = await browser.newPage();
      await visitBlank(page, demo.address, { pageViews: '' });
      await usePlugins(page, { engagement: {} });
      await expect.poll(() => demo.events('page_view')).toHaveLength(1);
      const other = await browser.newPage();
      await other.bringToFront();
      await expect.poll(() => leftOf(demo)).toHaveLength(1);
      expect(await page.evaluate(() => document.visibilityState)).toBe('hidden');
    } finally {
      await browser.kill();
    }
  });
  expect((await leftOf(demo))[0]).toMatchObject({ path: '/blank', part: 1 });
});
