import type { Page } from '@playwright/test';
import type { Demo } from './support/demo.ts';
import { usePlugins } from './support/plugins.ts';
import { expect, stub, test } from './support/test.ts';

interface InSession {
  sessionId: string;
  sessionNumber: number;
}

/** A page of a site with the script tag, as docs/plugins.md shows it. The page tracks before all scripts have loaded. */
const serve = async (page: Page, attributes: string) => {
  const html = `<!doctype html><title>Shop</title>
    <script>${await stub()}</script>
    <script>clew('track', 'early');</script>
    <script type="module">
      import { sessions } from '/dist/plugins.js';
      clew('use', sessions());
    </script>
    <script defer src="/dist/clew.js" data-base-url="/clew" data-flush-interval="200" ${attributes}></script>`;
  await page.route('**/shop*', (route) => route.fulfill({ contentType: 'text/html', body: html }));
};

const sessionsOf = async (demo: Demo, name: string): Promise<InSession[]> =>
  (await demo.events(name)).map(({ payload }) => payload as InSession);

test('a plugin from the file beside the script tag sees all events, also in the next tab', { tag: '@long' }, async ({
  demo,
  context,
  visitor,
  newVisitor,
}) => {
  const next = await newVisitor(context);
  for (const [i, { page }] of [visitor, next].entries()) {
    await serve(page, 'data-page-views');
    await page.goto(`${demo.address}/shop`);
    await expect.poll(() => demo.events('page_view')).toHaveLength(i + 1);
  }
  const all = [...(await sessionsOf(demo, 'early')), ...(await sessionsOf(demo, 'page_view'))];
  expect(all).toHaveLength(4);
  expect(new Set(all.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(all.map(({ sessionNumber }) => sessionNumber)).toEqual([1, 1, 1, 1]);

  await next.page.goto(`${demo.address}/shop?utm_source=news`);
  await expect.poll(() => demo.events('page_view')).toHaveLength(3);
  await visitor.clew('track', 'other tab');
  await expect.poll(() => sessionsOf(demo, 'other tab')).toMatchObject([{ sessionNumber: 2 }]);
});

test('a session ends after its time without an event', { tag: '@long' }, async ({ demo, visitor }) => {
  await visitor.visit();
  await usePlugins(visitor.page, { sessions: { timeout: 300 } });
  await visitor.clew('track', 'first');
  const at = await visitor.page.evaluate(() => Date.now());
  await visitor.page.waitForFunction((before) => Date.now() > before + 300, at);
  await visitor.clew('track', 'second');
  await expect.poll(() => sessionsOf(demo, 'second')).toMatchObject([{ sessionNumber: 2 }]);
  expect(await sessionsOf(demo, 'first')).toMatchObject([{ sessionNumber: 1 }]);
});

test('a session is stored only with consent, and a refusal erases it', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  const stored = () => page.evaluate(() => localStorage['clew.plugins']);
  await serve(page, 'data-consent="required"');
  await page.goto(`${demo.address}/shop?utm_source=news`);
  await page.waitForFunction(() => document.readyState === 'complete');
  await visitor.clew('track', 'later');
  expect(await stored()).toBeUndefined();
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  await visitor.clew('consent', true);
  await visitor.clew('track', 'last');
  await expect.poll(() => sessionsOf(demo, 'last')).toMatchObject([{ sessionNumber: 1 }]);
  expect(new Set((await sessionsOf(demo, 'early')).map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(await stored()).toContain('"sessions"');
  await visitor.clew('consent', false);
  expect(await stored()).toBeUndefined();
});
