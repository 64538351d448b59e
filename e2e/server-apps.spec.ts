import type { Page } from '@playwright/test';
import { LONGEST, whyNot } from './support/npmApp.ts';
import { SERVER_APPS, type ServerApp, type ServerAppName, startServerApp } from './support/serverApp.ts';
import { test as base, expect } from './support/test.ts';

interface Apps {
  /** Each app is built once, when a test first asks for it. */
  open(name: ServerAppName): Promise<ServerApp>;
}

const test = base.extend<object, { apps: Apps; reason: string | undefined }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern
  reason: [async ({}, use) => use(await whyNot()), { scope: 'worker' }],
  apps: [
    async ({ server }, use) => {
      const opened = new Map<ServerAppName, Promise<ServerApp>>();
      const open = (name: ServerAppName) => {
        const app = opened.get(name) ?? startServerApp(name, server);
        opened.set(name, app);
        return app;
      };
      await use({ open });
      for (const app of await Promise.allSettled(opened.values()))
        if (app.status === 'fulfilled') await app.value.stop();
    },
    { scope: 'worker', timeout: 3 * LONGEST },
  ],
});

const heading = (page: Page, name: string) => expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();

/** Clicks the link whose name begins so, and waits for the heading that it leads to. */
const follow = async (page: Page, link: string, name: string) => {
  await page.getByRole('link', { name: new RegExp(`^${link}`) }).click();
  await heading(page, name);
};
const YARNS = 'Yarn from the islands';
const CLUB = 'Join the knitting club';

for (const name of Object.keys(SERVER_APPS) as ServerAppName[]) {
  test.describe(`the ${name} app`, () => {
    test.describe.configure({ timeout: 3 * LONGEST });
    test.beforeEach(({ reason }) => test.skip(reason !== undefined, reason));

    test('renders its pages on the server, and refuses other paths of the relay', { tag: '@long' }, async ({
      apps,
    }) => {
      const { address } = await apps.open(name);
      expect(await (await fetch(`${address}/yarns/sea`)).text()).toContain('as blue as the way to Naxos');
      const post = (path: string) => fetch(`${address}/clew${path}`, { method: 'POST', body: '{}' });
      expect((await post('/api/secrets')).status).toBe(404);
      expect((await post('/api/events/batch/')).headers.get('clew-relay')).not.toBeNull();
    });

    test('tracks one view for each route, through the relay of the app', { tag: '@long' }, async ({
      apps,
      demo,
      visitor: { page },
    }) => {
      const { address } = await apps.open(name);
      const origins = new Set<string>();
      page.on('request', (request) => origins.add(new URL(request.url()).origin));
      await page.goto(`${address}/`);
      await follow(page, 'Madder', 'Madder');
      await follow(page, 'Club', CLUB);
      await page.goBack();
      await heading(page, 'Madder');
      // A view that is left before its effects have run counts as a redirect. No visitor is so fast.
      await expect.poll(() => demo.events('page_view')).toHaveLength(4);
      await page.goForward();
      await heading(page, CLUB);
      await page.reload();
      await follow(page, 'Yarns', YARNS);
      await page.getByRole('link', { name: 'linen', exact: true }).click();
      await expect(page.getByRole('link', { name: 'Madder' })).toBeHidden();
      await follow(page, 'Sea', 'Sea');
      await page.getByRole('button', { name: 'basket' }).click();

      await expect.poll(() => demo.events('yarn added')).toHaveLength(1);
      const views = (await demo.events('page_view')).map(({ payload }) => payload as Record<string, string>);
      expect(views.map(({ path, referrer, title }) => [path, referrer?.replace(address, ''), title])).toEqual([
        ['/', '', 'Yarns · Ariadne Yarns'],
        ['/yarns/madder', '/', 'Madder · Ariadne Yarns'],
        ['/club', '/yarns/madder', 'Club · Ariadne Yarns'],
        ['/yarns/madder', '/club', 'Madder · Ariadne Yarns'],
        ['/club', '/yarns/madder', 'Club · Ariadne Yarns'],
        ['/club', '', 'Club · Ariadne Yarns'],
        ['/', '/club', 'Yarns · Ariadne Yarns'],
        ['/yarns/sea', expect.stringMatching(/^\/(\?fibre=linen)?$/), 'Sea · Ariadne Yarns'],
      ]);
      expect([...origins], 'the page asks only its own origin').toEqual([address]);
    });

    test('identifies the member, and starts another visitor at log-out', { tag: '@long' }, async ({
      apps,
      demo,
      visitor: { page },
    }) => {
      const { address } = await apps.open(name);
      await page.goto(`${address}/club`);
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await expect(page.getByRole('button', { name: 'Dismiss' })).toBeHidden();
      await page.getByLabel('Name').fill('Ann');
      await page.getByLabel('E-mail').fill('ann@example.com');
      await page.getByLabel('Free').check();
      await page.getByRole('button', { name: 'Sign up' }).click();
      await heading(page, 'Hello, Ann');
      await page.getByRole('button', { name: 'Log out' }).click();
      await heading(page, 'You are logged out');
      await follow(page, 'Yarns', YARNS);
      await follow(page, 'Ochre', 'Ochre');
      await page.getByRole('button', { name: 'basket' }).click();
      await expect.poll(() => demo.events('yarn added')).toHaveLength(1);

      const tracked = (await demo.events()).filter(({ event }) => event !== 'page_view');
      expect(tracked.map(({ event, payload }) => [event, payload])).toEqual([
        ['banner dismissed', null],
        ['$identify', { distinct_id: 'ann@example.com' }],
        ['signup', { plan: 'free' }],
        ['yarn added', { yarn: 'ochre', price: 11 }],
      ]);
      const ann = (await demo.customers()).find(({ primaryKey }) => primaryKey === 'ann@example.com');
      expect(ann?.properties).toEqual({ name: 'Ann', plan: 'free' });
      expect(tracked.map(({ customerId }) => customerId === ann?.id)).toEqual([true, true, true, false]);
      await expect(page.getByText(/^Arrived: \d+ of this page’s events/)).toContainText(/Arrived: [1-9]/);
    });
  });
}
