import type { Page } from '@playwright/test';
import type { Demo } from './support/demo.ts';
import { goBack } from './support/goBack.ts';
import { PROMISE } from './support/tags.ts';
import { expect, test, type Visitor } from './support/test.ts';

interface View {
  url: string;
  path: string;
  title: string;
  referrer: string;
  utm_source?: string;
}

/** Views in the order of their times, because the handover of a leaving page may overtake a request in flight. */
const viewsOf = async (demo: Demo): Promise<View[]> =>
  (await demo.events('page_view'))
    .sort((a, b) => a.timestamp.localeCompare(b.timestamp))
    .map(({ payload }) => payload as View);

/** The campaign’s source. Without one, an empty string, because `toEqual` of Playwright accepts a list that lacks an `undefined` at its end. */
const utm = ({ utm_source = '' }: View) => utm_source;

const push = (page: Page, to: string) => page.evaluate((url) => history.pushState({}, '', url), to);
const replace = (page: Page, to: string) => page.evaluate((url) => history.replaceState({}, '', url), to);
/** Replaces `page.goBack()`, which waits for a `load` that a page without a new document never fires. */
const traverse = async (page: Page, by: number, to: string) => {
  await page.evaluate((steps) => history.go(steps), by);
  await page.waitForFunction((path) => location.pathname === path, to);
};

/** The paths of all views in order. A last view, which arrives after them, is left out. */
const pathsOf = async (demo: Demo, page: Page): Promise<string[]> => {
  const last = `/last/${(await viewsOf(demo)).length}`;
  await push(page, last);
  await expect.poll(async () => (await viewsOf(demo)).at(-1)?.path).toBe(last);
  return (await viewsOf(demo)).slice(0, -1).map(({ path }) => path);
};

/** Opens a page of the demo's origin with page views on. */
const arrive = async (visitor: Visitor, url: string, pageViews = '', options = {}) => {
  await visitor.page.goto(url);
  await visitor.load({ pageViews, ...options });
};

/** Removes the Navigation API. An older browser has only `history`. */
const loseNavigation = (page: Page) =>
  page.addInitScript(() => {
    Reflect.deleteProperty(window, 'navigation');
    if ('navigation' in window) throw new Error('it is still there');
  });

for (const has of [true, false]) {
  const tag = has ? [] : ['@long'];
  test.describe(has ? 'with the Navigation API' : 'without the Navigation API', () => {
    test.beforeEach(async ({ visitor }) => {
      if (!has) await loseNavigation(visitor.page);
      await visitor.page.goto('about:blank');
      expect(await visitor.page.evaluate(() => 'navigation' in window)).toBe(has);
    });

    test('each route is one view, also with back, forward, redirect and reload', async ({ demo, visitor }) => {
      const { page } = visitor;
      await arrive(visitor, `${demo.address}/blank`);
      await push(page, '/products');
      await push(page, '/cart');
      await traverse(page, -1, '/products');
      await traverse(page, -1, '/blank');
      await traverse(page, 2, '/cart');
      await page.evaluate(() => {
        history.pushState({}, '', '/account');
        history.replaceState({}, '', '/login');
      });
      await traverse(page, -3, '/blank');
      await page.reload();
      await visitor.load({ pageViews: '' });
      expect(await pathsOf(demo, page)).toEqual([
        '/blank',
        '/products',
        '/cart',
        '/products',
        '/blank',
        '/cart',
        '/login',
        '/blank',
        '/blank',
      ]);
    });

    test('a redirect that the router makes after rendering is one view', { tag: '@long' }, async ({
      demo,
      visitor,
    }) => {
      await arrive(visitor, `${demo.address}/blank`);
      await visitor.page.evaluate(async () => {
        history.pushState({}, '', '/account');
        await new Promise((resolve) => setTimeout(resolve, 50));
        history.replaceState({}, '', '/login');
      });
      expect(await pathsOf(demo, visitor.page)).toEqual(['/blank', '/login']);
    });

    test('a pushed or replaced change of only the query is no view, without the option', { tag: '@long' }, async ({
      demo,
      visitor,
    }) => {
      const { page } = visitor;
      await arrive(visitor, `${demo.address}/blank?page=1`);
      await expect.poll(async () => (await viewsOf(demo)).length).toBe(1);
      await replace(page, '?page=2');
      await push(page, '?page=3');
      await push(page, '?page=3#details');
      expect(await pathsOf(demo, page)).toEqual(['/blank']);

      await demo.clear();
      await arrive(visitor, `${demo.address}/blank?page=1`, 'query');
      await expect.poll(async () => (await viewsOf(demo)).length).toBe(1);
      await replace(page, '?page=2');
      await expect.poll(async () => (await viewsOf(demo)).length).toBe(2);
      await push(page, '?page=2#details');
      expect(await pathsOf(demo, page)).toEqual(['/blank', '/blank']);
      expect((await viewsOf(demo)).map(({ url }) => url.slice(demo.address.length))).toEqual([
        '/blank?page=1',
        '/blank?page=2',
        expect.stringContaining('/last/'),
      ]);
    });

    test('a change of only the hash is a view with the option', { tag }, async ({ demo, visitor }) => {
      const { page } = visitor;
      const follow = (hash: string) => page.evaluate((to) => location.assign(to), `#${hash}`);
      await arrive(visitor, `${demo.address}/blank`);
      await follow('/unseen');
      await follow('/unseen/either');
      expect(await pathsOf(demo, page)).toEqual(['/blank']);

      await demo.clear();
      await arrive(visitor, `${demo.address}/blank`, 'hash');
      await follow('/products');
      await follow('/products?sort=price');
      await follow('/cart');
      await page.evaluate(() => history.back());
      await page.waitForFunction(() => location.hash === '#/products?sort=price');
      await pathsOf(demo, page);
      expect((await viewsOf(demo)).map(({ url }) => url.slice(demo.address.length))).toEqual([
        '/blank',
        '/blank#/products',
        '/blank#/cart',
        '/blank#/products?sort=price',
        expect.stringContaining('/last/'),
      ]);
    });

    test('a hash that a script replaces at once is no view', { tag: '@long' }, async ({ demo, visitor }) => {
      const { page } = visitor;
      await arrive(visitor, `${demo.address}/blank`, 'hash');
      await page.evaluate(() => {
        location.hash = '/old';
        location.replace('#/new');
        location.hash = '/next';
      });
      await expect.poll(async () => (await viewsOf(demo)).length).toBe(3);
      await page.evaluate(async () => {
        const isShown = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
        history.back();
        await isShown;
        location.replace('#/login');
      });
      await pathsOf(demo, page);
      expect((await viewsOf(demo)).map(({ url }) => url.slice(demo.address.length))).toEqual([
        '/blank',
        '/blank#/new',
        '/blank#/next',
        '/blank#/login',
        expect.stringContaining('/last/'),
      ]);
    });

    test('each route that is left immediately is a view with its own address', {
      tag: ['@promise', ...tag],
    }, async ({ demo, visitor }) => {
      await arrive(visitor, `${demo.address}/blank`);
      await visitor.page.evaluate(() => {
        for (const path of ['/a', '/b', '/c']) history.pushState({}, '', path);
        location.href = '/blank?next';
      });
      await visitor.page.waitForURL('**/blank?next');
      await expect
        .poll(async () => (await viewsOf(demo)).map(({ url }) => url).sort())
        .toEqual(['/a', '/b', '/blank', '/c'].map((path) => demo.address + path));
    });

    test('after stop() nothing is tracked and no browser function stays patched', { tag }, async ({
      demo,
      visitor,
    }) => {
      const { page } = visitor;
      await page.goto(`${demo.address}/blank`);
      await page.evaluate(() => {
        Object.assign(window, { originals: [history.pushState, history.replaceState] });
      });
      await visitor.load({ pageViews: '' });
      await push(page, '/before');
      await visitor.clew('stop');
      expect(
        await page.evaluate(() => {
          const [pushState, replaceState] = (window as unknown as { originals: unknown[] }).originals;
          return [history.pushState === pushState, history.replaceState === replaceState];
        }),
      ).toEqual([true, true]);
      await push(page, '/after');
      await page.evaluate(() => Reflect.deleteProperty(window, 'clew'));
      await visitor.load({ pageViews: '' });
      await push(page, '/again');
      expect(await pathsOf(demo, page)).toEqual(['/blank', '/before', '/after', '/again']);
      const views = await viewsOf(demo);
      // This is the first view of the second tracker, so it has no referrer.
      expect(views[2]?.referrer).toBe('');
    });
  });
}

test('a later patch of history stays after stop(), and clew tracks nothing', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await loseNavigation(page);
  await arrive(visitor, `${demo.address}/blank`);
  const isKept = await page.evaluate(() => {
    const { pushState } = history;
    const theirs: History['pushState'] = (...state) => pushState.apply(history, state);
    history.pushState = theirs;
    window.clew('stop');
    history.pushState({}, '', '/after');
    return history.pushState === theirs && location.pathname === '/after';
  });
  expect(isKept).toBe(true);
  await visitor.clew('track', 'last');
  await visitor.page.goto(`${demo.address}/blank`);
  await expect.poll(() => demo.events('last')).toHaveLength(1);
  expect((await viewsOf(demo)).map(({ path }) => path)).toEqual(['/blank']);
});

test('a view has the title that the app sets after it renders the route', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await arrive(visitor, `${demo.address}/blank`);
  await expect.poll(async () => (await viewsOf(demo)).length).toBe(1);
  await page.evaluate(async () => {
    history.pushState({}, '', '/products');
    await new Promise((resolve) => setTimeout(resolve, 50));
    document.title = 'Products';
  });
  await pathsOf(demo, page);
  expect((await viewsOf(demo)).map(({ title }) => title).slice(0, 2)).toEqual(['Blank', 'Products']);
});

test('a view of an intercepted navigation has the title that is there at its end', async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(visitor, `${demo.address}/blank`);
  await expect.poll(async () => (await viewsOf(demo)).length).toBe(1);
  await page.evaluate(async () => {
    const handler = async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      document.title = location.pathname;
    };
    navigation.addEventListener('navigate', (event) => event.intercept({ handler }), { once: true });
    await navigation.navigate('/products').finished;
  });
  await pathsOf(demo, page);
  expect((await viewsOf(demo)).map(({ title }) => title).slice(0, 2)).toEqual(['Blank', '/products']);
});

test('an intercepted navigation that is aborted before the page shows it is no view', async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(visitor, `${demo.address}/blank`);
  await expect.poll(async () => (await viewsOf(demo)).length).toBe(1);
  await page.evaluate(async () => {
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    navigation.addEventListener('navigate', (event) => {
      const { pathname } = new URL(event.destination.url);
      if (!event.canIntercept || pathname.startsWith('/last') || event.destination.url.endsWith('?tab')) return;
      const handler = async () => {
        if (pathname === '/tabs') history.replaceState({}, '', '?tab');
        await pause(pathname === '/slow' ? 5000 : 50);
        document.title = pathname;
      };
      event.intercept({ handler });
    });
    const { finished } = navigation.navigate('/slow');
    finished?.catch(() => {});
    await pause(150);
    await navigation.navigate('/products').finished;
    await pause(150);
    navigation.navigate('/slow').finished?.catch(() => {});
    await pause(50);
    window.stop();
    await pause(150);
    // The handler of this navigation ends it by `replaceState`.
    navigation.navigate('/tabs').finished?.catch(() => {});
    await pause(250);
  });
  expect(await pathsOf(demo, page)).toEqual(['/blank', '/products', '/tabs']);
  expect((await viewsOf(demo)).map(({ title }) => title).slice(1, 3)).toEqual(['/products', '/tabs']);
});

test('a redirect is one view also if the app calls updateCurrentEntry before it', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await arrive(visitor, `${demo.address}/blank`);
  await page.evaluate(() => {
    history.pushState({}, '', '/old');
    navigation.updateCurrentEntry({ state: { scroll: 7 } });
    history.replaceState({}, '', '/new');
  });
  expect(await pathsOf(demo, page)).toEqual(['/blank', '/new']);
});

test('another customer on the page has no campaign of the one before', { tag: PROMISE }, async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(visitor, `${demo.address}/blank?utm_source=mail`, 'campaign');
  await expect.poll(async () => (await viewsOf(demo)).length).toBe(1);
  await visitor.clew('identify', 'ann');
  await visitor.clew('identify', 'bob');
  await push(page, '/cart?utm_source=mail');
  await pathsOf(demo, page);
  expect((await viewsOf(demo)).map(utm).slice(0, 2)).toEqual(['mail', '']);
});

test('a visitor’s first view is sent immediately, whatever the flush interval is', async ({ demo, visitor }) => {
  await visitor.page.goto(`${demo.address}/blank`);
  await visitor.load({ pageViews: '', flushInterval: '600000' });
  await expect.poll(() => viewsOf(demo)).toHaveLength(1);
});

test('the referrer is the previous view, and document.referrer for the first view', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank?from`);
  await page.evaluate(() => location.assign('/blank'));
  await page.waitForURL('**/blank');
  await visitor.load({ pageViews: '' });
  await page.evaluate(() => {
    history.pushState({}, '', '/products?sort=price');
    history.replaceState({}, '', '/products?sort=name');
  });
  await push(page, '/cart');
  await traverse(page, -1, '/products');
  await pathsOf(demo, page);
  const paths = ['/blank?from', '/blank', '/products?sort=name', '/cart', '/products?sort=name'];
  expect((await viewsOf(demo)).map(({ referrer }) => referrer.slice(demo.address.length))).toEqual(paths);
});

test('a page restored from the back/forward cache tracks a page view', async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(visitor, `${demo.address}/blank`);
  // A page that is left while it opens the database does not go into the cache.
  await visitor.clew('correlationValue');
  await push(page, '/products');
  await page.evaluate(() => {
    addEventListener('pageshow', ({ persisted }) => persisted && Object.assign(window, { isRestored: true }));
    location.href = '/blank?next';
  });
  await page.waitForURL('**/blank?next');
  await goBack(page);
  await page.waitForFunction(() => 'isRestored' in window);
  expect(await pathsOf(demo, page)).toEqual(['/blank', '/products', '/products']);
  const [, first, restored] = await viewsOf(demo);
  expect(restored).toEqual(first);
});

test('the first view of a visit has the campaign, and every view with the option', async ({ demo, visitor }) => {
  const { page } = visitor;
  const link = `${demo.address}/blank?utm_source=news&q=x&utm_medium=e%20mail&gclid=g-1&msclkid=m&utm_=&mygclid=n`;
  await arrive(visitor, link);
  await push(page, '/products');
  await page.waitForFunction(() => sessionStorage['clew.visit']);
  await arrive(visitor, link);
  await arrive(visitor, `${demo.address}/blank`, 'campaign');
  await push(page, '/products');
  await pathsOf(demo, page);
  const [first, ...later] = await viewsOf(demo);
  expect(first).toEqual({
    url: link,
    path: '/blank',
    title: 'Blank',
    referrer: '',
    utm_source: 'news',
    utm_medium: 'e mail',
    gclid: 'g-1',
    msclkid: 'm',
  });
  expect(later.map(utm)).toEqual(['', '', 'news', 'news', 'news']);
});

test('another campaign in the same tab starts another visit', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, `${demo.address}/blank?utm_source=news`);
  await arrive(visitor, `${demo.address}/blank?utm_source=ad`);
  await arrive(visitor, `${demo.address}/blank`, 'campaign');
  await pathsOf(demo, visitor.page);
  expect((await viewsOf(demo)).map(utm)).toEqual(['news', 'ad', 'ad', 'ad']);
});

test('without sessionStorage the campaign is kept until the page unloads', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.addInitScript(() => {
    Object.defineProperty(window, 'sessionStorage', {
      get() {
        throw new DOMException('refused', 'SecurityError');
      },
    });
  });
  await arrive(visitor, `${demo.address}/blank?utm_source=news`, 'campaign');
  await push(page, '/products');
  await pathsOf(demo, page);
  expect((await viewsOf(demo)).map(utm)).toEqual(['news', 'news', 'news']);
});

test('a corrupt campaign in sessionStorage is ignored', { tag: '@long' }, async ({ demo, visitor }) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank`);
  for (const rubbish of ['?utm_source=x', '"?url=evil"', '[1,[2]]', '{"toString":1}', '"?utm_source=%zz"']) {
    await page.evaluate((text) => sessionStorage.setItem('clew.visit', text), rubbish);
    await arrive(visitor, `${demo.address}/blank`, 'campaign');
    await pathsOf(demo, page);
  }
  const views = await viewsOf(demo);
  expect(views).toHaveLength(10);
  for (const view of views.slice(0, 8)) expect(Object.keys(view).sort()).toEqual(['path', 'referrer', 'title', 'url']);
});

test('a campaign that the app removes immediately from the address is tracked', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank?utm_source=news`);
  // The address changes in the task that has run the bundle, because an address that stands for longer is a view itself.
  await page.evaluate(() =>
    document.addEventListener('load', () => history.replaceState({}, '', '/blank'), { capture: true, once: true }),
  );
  await visitor.load({ pageViews: '' });
  await pathsOf(demo, page);
  expect((await viewsOf(demo)).map((view) => [view.url, utm(view)])).toEqual([
    [`${demo.address}/blank`, 'news'],
    [`${demo.address}/last/0`, ''],
  ]);
});

test('no campaign is written before consent, and a refusal erases it', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  const written = () =>
    page.evaluate(async () => [
      ...Object.keys(sessionStorage),
      ...Object.keys(localStorage),
      ...(await indexedDB.databases()),
    ]);
  await arrive(visitor, `${demo.address}/blank?utm_source=news`, '', { consent: 'required' });
  await push(page, '/products');
  await visitor.clew('flush');
  expect(await written()).toEqual([]);
  await visitor.clew('consent', true);
  await expect.poll(async () => (await viewsOf(demo)).map(utm)).toEqual(['news', '']);
  expect(await written()).toContain('clew.visit');
  await visitor.clew('consent', false);
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
});

test('data-page-views="false" turns page views off', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, `${demo.address}/blank`, 'false');
  await push(visitor.page, '/products');
  await visitor.clew('track', 'last');
  await visitor.page.goto(`${demo.address}/blank`);
  await expect.poll(() => demo.events('last')).toHaveLength(1);
  expect(await viewsOf(demo)).toEqual([]);
});
