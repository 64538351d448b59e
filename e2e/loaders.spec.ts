import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Demo } from './support/demo.ts';
import { type Site, startSite } from './support/site.ts';
import { test as base, expect, stub } from './support/test.ts';

/** `site` is a customer's web site. `host` has clew.js and the relay. */
const test = base.extend<{ site: Site; host: Site }>({
  site: async ({ demo }, use) => {
    const site = await startSite(demo);
    await use(site);
    await site.stop();
  },
  host: async ({ demo, site }, use) => {
    const host = await startSite(demo, { allowedOrigins: [site.address] });
    await use(host);
    await host.stop();
  },
});

const read = (path: string) => readFile(join(import.meta.dirname, '..', path), 'utf8');

/** Every block of HTML that docs/script-tag.md has under this heading, with the stub and addresses of this machine put in. */
const allPasted = async (heading: string, { address }: Site): Promise<string[]> => {
  const [, section = ''] = (await read('docs/script-tag.md')).split(new RegExp(`\n##+ ${heading}\n`));
  const text = await stub();
  return [...(section.split(/\n##+ /)[0] ?? '').matchAll(/```html\n([\s\S]*?)```/g)].map(([, html = '']) =>
    html
      .replace('/* contents of dist/stub.js */', () => text)
      .replace("{{ 'clew.js' | asset_url }}", 'https://clew.example.com/clew.js')
      .replace(/https:[^"']*\/clew\.js/g, `${address}/dist/clew.js`)
      .replaceAll('https://clew.example.com', address),
  );
};

/** The first of these blocks: the tag itself. */
const pasted = async (heading: string, host: Site): Promise<string> => {
  const [html] = await allPasted(heading, host);
  if (!html) throw new Error(`there is nothing to paste for ${heading}`);
  return html;
};

/** The form of the section about results, without the tag. */
const pastedForm = async (host: Site): Promise<string> =>
  (await allPasted('Results of calls', host)).find((html) => html.includes('<form')) ?? '';

const EARLY = "<script>window.clew && clew('track', 'early')</script>";
const BODY = '<body><button data-clew-event="signup_clicked">Sign up</button></body>';
const pageOf = (head: string, body = BODY) =>
  `<!doctype html><html lang="en"><head><title>Loaded</title>${head}</head>${body}</html>`;

/** Inserts HTML as a tag manager does. The function creates each script again, so that it runs, and keeps only some attributes. */
const insertCopied = (page: Page, html: string) =>
  page.evaluate((markup) => {
    const parsed = new DOMParser().parseFromString(markup, 'text/html');
    for (const { id, text, src } of parsed.querySelectorAll('script'))
      document.body.append(
        Object.assign(document.createElement('script'), { async: false, id, text, ...(src && { src }) }),
      );
  }, html);

/** Waits until the bundle has run. */
const isThere = (page: Page) => page.waitForFunction(() => window.clew && !('q' in window.clew));
const namesOf = async (demo: Demo) => (await demo.events()).map(({ event }) => event).toSorted();

for (const system of ['WordPress', 'Shopify', 'Webflow', 'Squarespace', 'Wix']) {
  test(`the documented tag for ${system} tracks views, clicks and early calls`, { tag: '@long' }, async ({
    demo,
    site,
    host,
    visitor,
  }) => {
    // WordPress has a relay of its own origin.
    site.pages['/'] = { html: pageOf((await pasted(system, host)) + EARLY) };
    await visitor.page.goto(`${site.address}/`);
    await isThere(visitor.page);
    await visitor.page.locator('button').click();
    await expect.poll(() => namesOf(demo)).toEqual(['early', 'page_view', 'signup_clicked']);
  });
}

test('the documented form sends the visitor id, and the Shopify script stores it once in the cart', {
  tag: '@long',
}, async ({ site, host, visitor }) => {
  const { page } = visitor;
  const form = await pastedForm(host);
  const [tag = '', recipe = ''] = await allPasted('Shopify', host);
  const cart: { attributes: Record<string, string> } = { attributes: {} };
  const updates: unknown[] = [];
  await page.route('**/cart.js', (route) => route.fulfill({ json: cart }));
  await page.route('**/cart/update.js', (route) => {
    updates.push(route.request().postDataJSON());
    Object.assign(cart, updates.at(-1));
    return route.fulfill({ json: cart });
  });
  site.pages['/'] = { html: pageOf(tag + recipe, `<body>${form}</body>`) };
  await page.goto(`${site.address}/`);
  await expect.poll(() => updates.length).toBe(1);
  const visitorId = await visitor.clew('correlationValue');
  expect(updates).toEqual([{ attributes: { visitorId } }]);
  await expect(page.locator('input[name=visitorId]')).toHaveValue(`${visitorId}`);
  const asked = page.waitForResponse('**/cart.js');
  await page.reload();
  await asked;
  await expect(page.locator('input[name=visitorId]')).toHaveValue(`${visitorId}`);
  expect(updates).toHaveLength(1);
});

test('a call before the bundle loads resolves to its result, and stays pending while the bundle is blocked', {
  tag: '@promise',
}, async ({ site, host, context }) => {
  const page = await context.newPage();
  const [tag = ''] = await allPasted('Shopify', host);
  const early = `<script>clew('track', 'early'); clew('stats').then(({ tracked }) => { document.title = tracked; });</script>`;
  site.pages['/'] = { html: pageOf(tag + early) };
  await page.route('**/dist/clew.js', (route) => route.abort());
  await page.goto(`${site.address}/`, { waitUntil: 'load' });
  expect(await page.title()).toBe('Loaded');
  await page.unroute('**/dist/clew.js');
  await page.reload();
  // The call of the page before, whose events the stub has saved, the view, and the call of this page.
  await expect.poll(() => page.title()).toMatch(/^[1-3]$/);
});

test('the documented recipes for the visitor id do nothing when the browser blocks clew.js', { tag: '@long' }, async ({
  site,
  host,
  context,
}) => {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  const form = await pastedForm(host);
  const [tag = '', recipe = ''] = await allPasted('Shopify', host);
  await page.route('**/dist/clew.js', (route) => route.abort());
  await page.route('**/cart.js', (route) => route.fulfill({ json: { attributes: {} } }));
  site.pages['/'] = { html: pageOf(tag + recipe, `<body>${form}</body>`) };
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${site.address}/`, { waitUntil: 'load' });
  await expect(page.locator('input[name=visitorId]')).toHaveValue('');
  expect(asked).not.toContain('/cart.js');
  expect(errors).toEqual([]);
});

test('the documented tag for Google Tag Manager works after script copying, with calls of surrounding tags', {
  tag: '@promise',
}, async ({ demo, site, host, visitor }) => {
  const { page } = visitor;
  site.pages['/'] = { html: pageOf('') };
  await page.goto(`${site.address}/`);
  await insertCopied(page, (await pasted('Google Tag Manager', host)) + EARLY);
  await isThere(page);
  await page.locator('button').click();
  await expect.poll(() => namesOf(demo)).toEqual(['early', 'page_view', 'signup_clicked']);
});

test('a stub in the page stays in place when the tag manager brings a second stub', { tag: '@long' }, async ({
  demo,
  site,
  host,
  visitor,
}) => {
  const { page } = visitor;
  site.pages['/'] = { html: pageOf(`<script>${await stub()}</script>${EARLY}`) };
  await page.goto(`${site.address}/`);
  await insertCopied(page, await pasted('Google Tag Manager', host));
  await isThere(page);
  await expect.poll(() => namesOf(demo)).toEqual(['early', 'page_view']);
});

test('a tag that lost its attributes or cannot read them reports it, and the page continues', { tag: '@long' }, async ({
  context,
  site,
}) => {
  const tag = '<script src="/dist/clew.js" data-base-url="/clew"></script>';
  const ways: [name: string, load: (page: Page) => Promise<unknown>][] = [
    ['copied', (page) => insertCopied(page, tag)],
    ['module', (page) => page.addScriptTag({ url: '/dist/clew.js', type: 'module' })],
  ];
  site.pages['/'] = { html: pageOf(`<script>${await stub()}</script>${EARLY}`) };
  for (const [name, load] of ways) {
    const page = await context.newPage();
    await page.goto(`${site.address}/`);
    const [error] = await Promise.all([page.waitForEvent('pageerror'), load(page)]);
    expect(error.message, name).toContain('baseUrl: expected a string');
    expect(await page.evaluate(() => 'q' in window.clew), name).toBe(true);
  }
});

const DATA = 'data-base-url="/clew" data-page-views data-clicks';
const inserted = (when: string) => `<script>
  const insert = () => {
    const script = Object.assign(document.createElement('script'), { src: '/dist/clew.js' });
    Object.assign(script.dataset, { baseUrl: '/clew', pageViews: '', clicks: '' });
    document.head.append(script);
  };
  ${when}
</script>`;
const TAG = `<script src="/dist/clew.js" ${DATA}></script>`;
const WAYS: Record<string, (bundle: string) => [head: string, body?: string]> = {
  'with async': () => [TAG.replace('src', 'async src')],
  'with defer': () => [TAG.replace('src', 'defer src')],
  'with neither async nor defer': () => [TAG],
  'at the end of the body': () => ['', BODY.replace('</body>', `${TAG}</body>`)],
  'inserted by a script at once': () => [inserted('insert();')],
  'inserted by a script after load': () => [inserted("addEventListener('load', () => setTimeout(insert));")],
  'written by document.write': () => [`<script>document.write(${JSON.stringify(TAG).replace('</', '<\\/')})</script>`],
  'pasted inline': (bundle) => [`<script ${DATA}>${bundle}</script>`],
  twice: () => [TAG + TAG + inserted("addEventListener('load', insert);")],
};

/** In each of these, the browser gives the bundle its script element by other means. The others run with `TEST_ALL` only. */
const TELLING = ['with async', 'inserted by a script at once', 'twice'];

for (const [way, markup] of Object.entries(WAYS)) {
  const tag = ['@promise', ...(TELLING.includes(way) ? [] : ['@long'])];
  test(`loaded ${way}, the bundle finds its options and tracks everything once`, { tag }, async ({
    demo,
    site,
    visitor,
  }) => {
    const { page } = visitor;
    const [head, body] = markup(await read('dist/clew.js'));
    site.pages['/'] = { html: pageOf(`<script>${await stub()}</script>${EARLY}${head}`, body) };
    await page.goto(`${site.address}/`, { waitUntil: 'load' });
    await isThere(page);
    await page.locator('button').click();
    await visitor.clew('flush');
    await expect.poll(() => namesOf(demo)).toEqual(['early', 'page_view', 'signup_clicked']);
  });
}

test('in a sandboxed frame the bundle starts a separate visitor, and the relay refuses it', {
  tag: '@promise',
}, async ({ context, demo, site, host }) => {
  const page = await context.newPage();
  const tag = `<script src="${host.address}/dist/clew.js" data-base-url="${host.address}/clew"></script>`;
  const pixel = `${tag}<script>clew('trackNow', 'purchase')</script>`.replaceAll('"', '&quot;');
  site.pages['/'] = { html: pageOf(tag, `<body><iframe sandbox="allow-scripts" srcdoc="${pixel}"></iframe></body>`) };
  const refused = page.waitForEvent('console', (message) => /origin 'null'.*CORS policy/.test(message.text()));
  await page.goto(`${site.address}/`);
  await refused;
  const visitorIds = page.frames().map((each) => each.evaluate(() => window.clew('correlationValue')));
  expect(new Set(await Promise.all(visitorIds)).size).toBe(2);
  expect(await demo.events('purchase')).toEqual([]);
});
