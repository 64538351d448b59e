import type { Page } from '@playwright/test';
import type { AppName } from '../demo/apps.ts';
import type { Demo } from './support/demo.ts';
import { goBack } from './support/goBack.ts';
import { test as base, expect } from './support/test.ts';
import { startVite } from './support/vite.ts';

const test = base.extend<{ develop: (name: AppName, react?: 18 | 19) => ReturnType<typeof startVite> }>({
  develop: async ({ demo }, use) => {
    const started: Awaited<ReturnType<typeof startVite>>[] = [];
    await use(async (...app) => {
      const vite = await startVite(demo, ...app);
      started.push(vite);
      return vite;
    });
    for (const vite of started) await vite.stop();
  },
});

interface View {
  url: string;
  path: string;
  title: string;
  referrer: string;
}

/** Clicks the link whose name begins with `link`, and waits for the heading of the next page. */
const follow = async (page: Page, link: string, heading: string) => {
  await page.getByRole('link', { name: new RegExp(`^${link}`) }).click();
  await expect(page.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
};
const YARNS = 'Yarn from the islands';
const CLUB = 'Join the knitting club';

/**
 * Puts a yarn into the basket, and waits for that event, which arrives after all others. Returns the page views in the order of
 * their times. A page that is reloaded during a request hands over events that pass those of the request.
 */
const viewsUpToBasket = async (demo: Demo, page: Page): Promise<View[]> => {
  await page.getByRole('button', { name: 'basket' }).click();
  await expect.poll(() => demo.events('yarn added')).toHaveLength(1);
  const views = await demo.events('page_view');
  return views
    .toSorted((one, other) => Date.parse(one.timestamp) - Date.parse(other.timestamp))
    .map(({ payload }) => payload as unknown as View);
};
const pathsOf = (views: View[]) => views.map(({ path }) => path);

for (const app of ['react', 'vue'] as const) {
  test.describe(`the ${app} app`, () => {
    test('tracks one view for each route: forward, back, redirected, reloaded', { tag: '@long' }, async ({
      demo,
      visitor,
    }) => {
      const { page } = visitor;
      const at = `${demo.address}/${app}`;
      await page.goto(`${at}/`);
      await follow(page, 'Madder', 'Madder');
      await follow(page, 'Club', CLUB);
      await page.goBack();
      await expect(page.getByRole('heading', { name: 'Madder' })).toBeVisible();
      await page.goForward();
      await expect(page.getByRole('heading', { name: CLUB })).toBeVisible();
      await page.reload();
      await follow(page, 'Yarns', YARNS);
      // A visitor who has not joined the club is redirected to it, by a <Navigate> or a guard.
      await follow(page, 'Account', CLUB);
      // The router's own redirect, on load.
      await page.goto(`${at}/join`);
      await expect(page.getByRole('heading', { name: CLUB })).toBeVisible();
      await follow(page, 'Yarns', YARNS);
      await follow(page, 'Sea', 'Sea');

      const views = await viewsUpToBasket(demo, page);
      expect(views.map(({ path, url, referrer }) => [path, url.replace(at, ''), referrer.replace(at, '')])).toEqual([
        ['/', '/', ''],
        ['/yarns/madder', '/yarns/madder', '/'],
        ['/club', '/club', '/yarns/madder'],
        ['/yarns/madder', '/yarns/madder', '/club'],
        ['/club', '/club', '/yarns/madder'],
        ['/club', '/club', ''],
        ['/', '/', '/club'],
        ['/club', '/club', '/'],
        ['/club', '/club', ''],
        ['/', '/', '/club'],
        ['/yarns/sea', '/yarns/sea', '/'],
      ]);
      expect(views[2]?.title).toBe('Club · Ariadne Yarns');
    });

    test('shows its first page at an unknown address', { tag: '@long' }, async ({ demo, visitor: { page } }) => {
      await page.goto(`${demo.address}/${app}/nowhere/at-all`);
      await expect(page.getByRole('heading', { name: YARNS })).toBeVisible();
      await expect(page).toHaveURL(`${demo.address}/${app}/`);
    });

    test('tracks no view for another query or a link to the current route', { tag: '@long' }, async ({
      demo,
      visitor,
    }) => {
      const { page } = visitor;
      await page.goto(`${demo.address}/${app}/`);
      await page.getByRole('link', { name: 'linen', exact: true }).click();
      await expect(page.getByRole('link', { name: 'Madder' })).toBeHidden();
      await page.goBack();
      await expect(page.getByRole('link', { name: 'Madder' })).toBeVisible();
      await follow(page, 'Yarns', YARNS);
      await follow(page, 'Sage', 'Sage');
      expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/', '/yarns/sage']);
    });

    test('tracks each route, identifies the member and tracks a button whose click unmounts it', async ({
      demo,
      visitor,
    }) => {
      const { page } = visitor;
      await page.goto(`${demo.address}/${app}/club`);
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await expect(page.getByRole('button', { name: 'Dismiss' })).toBeHidden();
      await page.getByLabel('Name').fill('Ann');
      await page.getByLabel('E-mail').fill('ann@example.com');
      await page.getByLabel('Free').check();
      await page.getByRole('button', { name: 'Sign up' }).click();
      await expect(page.getByRole('heading', { name: 'Hello, Ann' })).toBeVisible();
      await follow(page, 'Yarns', YARNS);
      await follow(page, 'Ochre', 'Ochre');
      expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/club', '/account', '/', '/yarns/ochre']);
      const [customer] = await demo.customers();
      expect(customer).toMatchObject({
        primaryKey: 'ann@example.com',
        properties: { name: 'Ann', plan: 'free' },
      });
      const tracked = (await demo.events()).filter(({ event }) => event !== 'page_view');
      expect(tracked.map(({ event, payload }) => [event, payload])).toEqual([
        ['banner dismissed', null],
        ['$identify', { distinct_id: 'ann@example.com' }],
        ['signup', { plan: 'free' }],
        ['yarn added', { yarn: 'ochre', price: 11 }],
      ]);
    });
  });
}

// The vue app is left out: Vue Router writes into the history during unload, so Chromium drops the page from the cache.
test('the react app tracks a view when it returns from the back/forward cache', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/react/yarns/sea`);
  // A page that is left while it opens the database does not go into the cache.
  await expect.poll(() => demo.events('page_view')).toHaveLength(1);
  await page.evaluate(() => {
    document.documentElement.lang = 'kept';
  });
  await page.goto(`${demo.address}/blank`);
  await goBack(page);
  await expect(page.locator('html[lang=kept]')).toBeVisible();
  expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/yarns/sea', '/yarns/sea']);
});

test('v-clew tracks nothing after its element is removed', { tag: '@long' }, async ({ demo, visitor }) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/vue/yarns/sea`);
  const gone = await page.getByRole('button', { name: 'basket' }).elementHandle();
  await follow(page, 'Yarns', YARNS);
  await gone?.evaluate((button: HTMLElement) => button.click());
  await follow(page, 'Ochre', 'Ochre');
  await viewsUpToBasket(demo, page);
  expect((await demo.events('yarn added')).map(({ payload }) => payload)).toEqual([{ yarn: 'ochre', price: 11 }]);
});

for (const version of [18, 19] as const) {
  test(`React ${version} in strict mode mounts twice and tracks one view`, { tag: '@long' }, async ({
    demo,
    visitor,
    develop,
  }) => {
    const { page } = visitor;
    const vite = await develop('react', version);
    await vite.edit('src/Layout.tsx', "{ useState } from 'react'", "{ useEffect, useState, version } from 'react'");
    await vite.edit(
      'src/Layout.tsx',
      'usePageViews(useLocation());',
      'usePageViews(useLocation()); useEffect(() => console.log("mounted by", version), []);',
    );
    const mounted: string[] = [];
    page.on('console', (message) => message.text().startsWith('mounted') && mounted.push(message.text()));
    await page.goto(vite.url);
    await follow(page, 'Account', CLUB);
    await follow(page, 'Yarns', YARNS);
    await follow(page, 'Sea', 'Sea');
    expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/', '/club', '/', '/yarns/sea']);
    const by = expect.stringMatching(new RegExp(`^mounted by ${version}\\.`));
    expect(mounted).toEqual([by, by]);
  });
}

/** A log-in and a log-out in the layout of each app, with `useIdentity`. Each button changes the session several times in one task. */
const SESSIONS = {
  react: async (vite: Awaited<ReturnType<typeof startVite>>) => {
    await vite.edit('src/Layout.tsx', 'usePageViews }', 'useIdentity, usePageViews }');
    const hook = 'usePageViews(useLocation());';
    const session = 'const [session, setSession] = useState<{ primaryKey: string } | null>(); useIdentity(session);';
    await vite.edit('src/Layout.tsx', hook, `${hook} ${session}`);
    const buttons = ['ann', 'bob']
      .map(
        (name) =>
          `<button type="button" onClick={() => { setSession(null); setSession(undefined); setSession({ primaryKey: '${name}' }); }}>${name}</button>`,
      )
      .join('');
    const out = '<button type="button" onClick={() => setSession(null)}>log out</button>';
    await vite.edit('src/Layout.tsx', '<Banner />', `<Banner />${buttons}${out}`);
  },
  vue: async (vite: Awaited<ReturnType<typeof startVite>>) => {
    await vite.edit(
      'src/App.vue',
      '<script setup lang="ts">',
      `<script setup lang="ts">
import { useIdentity } from 'clew/vue';
import { shallowRef } from 'vue';
const session = shallowRef<{ primaryKey: string } | null>();
useIdentity(session);
const logIn = (primaryKey: string) => { session.value = null; session.value = undefined; session.value = { primaryKey }; };
`,
    );
    const buttons = ['ann', 'bob'].map((name) => `<button @click="logIn('${name}')">${name}</button>`).join('');
    await vite.edit(
      'src/App.vue',
      '<Banner />',
      `<Banner />${buttons}<button @click="session = null">log out</button>`,
    );
  },
};
for (const [app, version] of [
  ['react', 18],
  ['react', 19],
  ['vue', undefined],
] as const) {
  test(`useIdentity of ${app} ${version ?? ''} identifies, switches and resets in strict mode and after a reload`, {
    tag: ['@long', '@promise'],
  }, async ({ demo, visitor, develop }) => {
    const { page } = visitor;
    const vite = await develop(app, version);
    await SESSIONS[app](vite);
    await page.goto(`${vite.url}yarns/sea`);
    /** Tracks one event as this person. */
    const basketOf = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'basket' }).click();
    };
    for (const name of ['ann', 'ann', 'bob', 'log out']) await basketOf(name);
    await basketOf('ann');
    await expect.poll(() => demo.events('yarn added')).toHaveLength(5);
    await page.reload();
    // A page whose session has ended meanwhile.
    await basketOf('log out');
    await expect.poll(() => demo.events('yarn added')).toHaveLength(6);
    const customers = await demo.customers();
    const keys = new Map(customers.map(({ id, primaryKey }) => [id, primaryKey]));
    const events = (await demo.events()).filter(({ event }) => event !== 'page_view');
    expect(events.map(({ event, customerId }) => [event, keys.get(customerId as never) ?? null])).toEqual([
      ['$identify', 'ann'],
      ['yarn added', 'ann'],
      ['yarn added', 'ann'],
      ['$identify', 'bob'],
      ['yarn added', 'bob'],
      ['yarn added', 'ann'],
      ['$identify', 'ann'],
      ['yarn added', 'ann'],
      ['yarn added', null],
    ]);
    const visitors = events.map(({ correlationValue }) => correlationValue);
    expect(new Set(visitors).size).toBe(4);
  });
}

test.describe('the react app', () => {
  const HOOK = 'usePageViews(useLocation());';
  /** Adds an effect to the layout for each location, as apps and react-helmet-async do. */
  const withEffect = async (vite: Awaited<ReturnType<typeof startVite>>, effect: string) => {
    await vite.edit('src/Layout.tsx', "{ useState } from 'react'", "{ useEffect, useState } from 'react'");
    const hook = `const at = useLocation(); usePageViews(at); useEffect(() => { ${effect} }, [at]);`;
    await vite.edit('src/Layout.tsx', HOOK, hook);
  };

  test('tracks the title that an effect sets a moment after rendering', { tag: '@long' }, async ({
    demo,
    visitor,
    develop,
  }) => {
    const { page } = visitor;
    const vite = await develop('react');
    await withEffect(vite, "requestAnimationFrame(() => { document.title = 'at ' + at.pathname; });");
    await page.goto(vite.url);
    for (const [link, heading] of [
      ['Club', CLUB],
      ['Yarns', YARNS],
      ['Sea', 'Sea'],
    ] as const) {
      await expect(page).toHaveTitle(/^at /);
      await follow(page, link, heading);
    }
    await expect(page).toHaveTitle('at /yarns/sea');
    const views = await viewsUpToBasket(demo, page);
    expect(views.map(({ title }) => title)).toEqual(['/', '/club', '/', '/yarns/sea'].map((path) => `at ${path}`));
  });

  test('tracks a route whose effect makes the address canonical', { tag: '@long' }, async ({
    demo,
    visitor,
    develop,
  }) => {
    const { page } = visitor;
    const vite = await develop('react');
    const canonical = "at.pathname === '/club' && history.replaceState(history.state, '', '/club-of-knitters');";
    await withEffect(vite, canonical);
    await page.goto(`${vite.url}club`);
    await expect(page.getByRole('heading', { name: CLUB })).toBeVisible();
    await expect.poll(() => demo.events('page_view')).toHaveLength(1);
    const [view] = await demo.events('page_view');
    expect(view?.payload).toMatchObject({ path: '/club', url: expect.stringMatching(/\/club-of-knitters$/) });
  });

  test('counts a <Navigate> once with a router in the hash', { tag: '@long' }, async ({ demo, visitor, develop }) => {
    const { page } = visitor;
    const vite = await develop('react');
    await vite.edit('src/router.tsx', 'createBrowserRouter, redirect', 'createHashRouter, redirect');
    await vite.edit('src/router.tsx', 'createBrowserRouter(', 'createHashRouter(');
    await vite.edit('src/router.tsx', 'import.meta.env.BASE_URL', "'/'");
    await page.goto(`${vite.url}#/`);
    await follow(page, 'Account', CLUB);
    await follow(page, 'Yarns', YARNS);
    await follow(page, 'Sea', 'Sea');
    expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/', '/club', '/', '/yarns/sea']);
  });
});

test('the vue app tracks the first view if the plugin is installed after router.isReady()', { tag: '@long' }, async ({
  demo,
  visitor,
  develop,
}) => {
  const { page } = visitor;
  const vite = await develop('vue');
  const all = "createApp(App).use(router).use(createClew({ tracker, router })).mount('#app');";
  const late =
    "const app = createApp(App).use(router); await router.isReady(); app.use(createClew({ tracker, router })).mount('#app');";
  await vite.edit('src/main.ts', all, late);
  await page.goto(`${vite.url}club`);
  await expect(page.getByRole('heading', { name: CLUB })).toBeVisible();
  await follow(page, 'Yarns', YARNS);
  await follow(page, 'Sea', 'Sea');
  expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/club', '/', '/yarns/sea']);
});

for (const [app, layout, detail] of [
  ['react', 'src/Layout.tsx', 'src/pages/YarnPage.tsx'],
  ['vue', 'src/App.vue', 'src/pages/YarnPage.vue'],
] as const) {
  test(`hot reload of the ${app} app leaves no listener behind and tracks no view twice`, { tag: '@long' }, async ({
    demo,
    visitor,
    develop,
  }) => {
    const { page } = visitor;
    const vite = await develop(app);
    await page.goto(`${vite.url}yarns/sea`);
    await expect(page.getByRole('heading', { name: 'Sea' })).toBeVisible();
    await page.evaluate(() => {
      document.documentElement.lang = 'kept';
    });
    await vite.edit(layout, 'Ariadne Yarns', 'Theseus Yarns');
    await expect(page.getByRole('link', { name: 'Theseus Yarns' })).toBeVisible();
    await vite.edit(detail, 'Add to basket', 'Drop into the basket');
    await expect(page.getByRole('button', { name: 'Drop into the basket' })).toBeVisible();
    await expect(page.locator('html[lang=kept]'), 'reloaded hot').toBeVisible();
    expect(pathsOf(await viewsUpToBasket(demo, page))).toEqual(['/yarns/sea']);
    await follow(page, 'Club', CLUB);
    await expect
      .poll(async () => (await demo.events()).map(({ event }) => event))
      .toEqual(['page_view', 'yarn added', 'page_view']);
  });
}
