import { usePlugins } from './support/plugins.ts';
import { expect, test, type Visitor } from './support/test.ts';

/** Opens a page with the plugin, and tracks. Returns how many events the tracker has dropped. */
const visit = async ({ page, load, clew }: Visitor, url: string, options: object): Promise<number> => {
  await page.goto(url);
  await load();
  await usePlugins(page, { exclude: options });
  await clew('track', 'clicked');
  return ((await clew('stats')) as { dropped: { filtered?: number } }).dropped.filtered ?? 0;
};

test('an automated browser and localhost are excluded', { tag: '@long' }, async ({ demo, visitor }) => {
  const url = `${demo.address}/blank`;
  expect(await visitor.page.evaluate(() => navigator.webdriver)).toBe(true);
  expect(await visit(visitor, url, {})).toBe(1);
  expect(await visit(visitor, url, { automated: false })).toBe(1);
  expect(await visit(visitor, url, { localhost: false })).toBe(1);
  expect(await visit(visitor, url, { automated: false, localhost: false })).toBe(0);
  await expect.poll(() => demo.events()).toHaveLength(1);
});

test('a link excludes the staff in all tabs until another link, and nothing else is stored for it', async ({
  demo,
  context,
  visitor,
  newVisitor,
}) => {
  const url = `${demo.address}/blank`;
  const options = { automated: false, localhost: false };
  expect(await visit(visitor, `${url}?clew_ignore=1`, options)).toBe(1);
  const other = await newVisitor(context);
  expect(await visit(other, url, options)).toBe(1);
  expect(await other.page.evaluate(() => localStorage['clew.plugins'])).toBe('{"exclude":true}');
  expect(await visit(other, `${url}?clew_ignore=0`, options)).toBe(0);
  expect(await visit(visitor, url, options)).toBe(0);
  await expect.poll(() => demo.events()).toHaveLength(2);
});

test('a sample is stated in the events, and a visitor id that is left out stays out', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const url = `${demo.address}/blank`;
  const options = { automated: false, localhost: false };
  expect(await visit(visitor, url, { ...options, sample: 0 })).toBe(1);
  expect(await visit(visitor, url, { ...options, sample: 0.999_999 })).toBe(0);
  await expect
    .poll(async () => (await demo.events()).map(({ payload }) => payload))
    .toEqual([{ sampleRate: 0.999_999 }]);
});
