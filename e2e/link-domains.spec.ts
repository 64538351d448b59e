import type { BrowserContext, Page } from '@playwright/test';
import { visitBlank } from './support/tag.ts';
import { test as base, expect } from './support/test.ts';

const LINKED = { linkDomains: 'shop.example,Help.example', flushInterval: '50' };
const SHOP = 'www.shop.example';
const HELP = 'help.example';

const openOn = async (context: BrowserContext, address: string, options: object) => {
  const page = await context.newPage();
  await visitBlank(page, address, { ...LINKED, ...options });
  return visitorOf(page);
};

const visitorOf = (page: Page) => ({
  page,
  clew: (method: string, ...args: unknown[]) =>
    page.evaluate(([name, ...rest]) => window.clew(name, ...rest), [method, ...args] as [string, ...unknown[]]),
  visitorId: () => page.evaluate(() => window.clew('correlationValue') as Promise<string>),
});
type Visitor = ReturnType<typeof visitorOf>;

interface Fixtures {
  /** Opens the blank page of a host, with the script tag. */
  visit(host: string, options?: object): Promise<Visitor>;
  addressOf(host: string): string;
}

const test = base.extend<Fixtures>({
  addressOf: async ({ demo }, use) => {
    const { port } = new URL(demo.address);
    await use((host) => `http://${host}:${port}`);
  },
  visit: async ({ addressOf, context }, use) => {
    await use((host, options = {}) => openOn(context, addressOf(host), options));
  },
});

const MARK = 'clew_link=';

/** Replaces the content of the page by a link. */
const addLink = ({ page }: Visitor, href: string, attributes = '') =>
  page.evaluate(
    ([to, more]) => {
      document.body.innerHTML = `<a href="${to}" ${more}>there</a>`;
    },
    [href, attributes] as const,
  );

/** Follows a link in this tab, and starts the other site's tracker there. `landed` is the address before the start. */
const follow = async (from: Visitor, href: string, options: object = {}) => {
  await addLink(from, href);
  await from.page.locator('a').click();
  await from.page.waitForURL((url) => url.hostname === new URL(href).hostname);
  const landed = from.page.url();
  await load(from.page, options);
  return { ...from, landed };
};

const load = (page: Page, options: object) =>
  page.evaluate(
    (dataset) =>
      new Promise((resolve, reject) => {
        const script = Object.assign(document.createElement('script'), {
          src: '/dist/clew.js',
          onload: resolve,
          onerror: reject,
        });
        Object.assign(script.dataset, { baseUrl: '/clew', ...dataset });
        document.head.append(script);
      }),
    { ...LINKED, ...options },
  );

/** Opens a page by a link that any person could have made. */
const arriveBy = async (context: BrowserContext, url: string, referer?: string, options: object = {}) => {
  const page = await context.newPage();
  await page.goto(url, referer ? { referer } : {});
  await load(page, options);
  return visitorOf(page);
};

const inSeconds = (seconds: number) => Math.ceil(Date.now() / 1000 + seconds).toString(36);
const VISITOR_ID = '11111111-1111-4111-8111-111111111111';

test('a link to the other site takes the visitor id there, and both addresses stay clean', {
  tag: '@promise',
}, async ({ demo, visit, addressOf }) => {
  const shop = await visit(SHOP, { pageViews: '' });
  const visitorId = await shop.visitorId();
  await shop.clew('track', 'here');
  const href = `${addressOf(HELP)}/blank?q=a%20b+%E4&flag#part`;
  await addLink(shop, href);
  const before = await shop.page.evaluate(() => document.body.innerHTML);
  await shop.page.evaluate(() => {
    document.querySelector('a')?.addEventListener('click', (event) => event.preventDefault());
  });
  await shop.page.locator('a').click();
  await shop.page.waitForFunction((html) => document.body.innerHTML === html, before);

  const help = await follow(shop, href, { pageViews: 'query' });
  expect(help.landed).toContain(`${MARK}${visitorId}.`);
  expect(help.page.url()).toBe(href);
  expect(await help.visitorId()).toBe(visitorId);
  await help.clew('track', 'there');
  await expect.poll(async () => (await demo.events()).length).toBe(4);
  const events = await demo.events();
  expect(new Set(events.map(({ correlationValue }) => correlationValue))).toEqual(new Set([visitorId]));
  expect(JSON.stringify(events)).not.toContain(MARK);
  await help.page.goto(`${addressOf(HELP)}/blank`);
  await load(help.page, {});
  expect(await help.visitorId()).toBe(visitorId);
});

test('links to subdomains take the visitor id, other hosts and other buttons do not', { tag: '@long' }, async ({
  visit,
  addressOf,
}) => {
  const shop = await visit('shop.example');
  await shop.visitorId();
  const seen = async (host: string, button: 'left' | 'right' = 'left') => {
    await addLink(shop, `${addressOf(host)}/blank`);
    return shop.page.evaluate((which) => {
      const link = document.querySelector('a') as HTMLAnchorElement;
      let href = '';
      link.addEventListener(which === 'left' ? 'click' : 'auxclick', (event) => {
        event.preventDefault();
        ({ href } = link);
      });
      const init = { bubbles: true, composed: true, cancelable: true, button: which === 'left' ? 0 : 2 };
      link.dispatchEvent(new MouseEvent(which === 'left' ? 'click' : 'auxclick', init));
      return href;
    }, button);
  };
  for (const host of [HELP, `eu.${HELP}`]) expect(await seen(host), host).toContain(MARK);
  for (const host of ['nothelp.example', 'help.example.evil.example', 'other.example'])
    expect(await seen(host), host).not.toContain(MARK);
  expect(await seen(HELP, 'right')).not.toContain(MARK);
});

test('a link that the page clicks again during the click is restored, too', { tag: '@long' }, async ({
  visit,
  addressOf,
}) => {
  const shop = await visit(SHOP);
  const visitorId = await shop.visitorId();
  const href = `${addressOf(HELP)}/blank`;
  await addLink(shop, href);
  await shop.page.evaluate(() => {
    const link = document.querySelector('a') as HTMLAnchorElement;
    const clicks: string[] = [];
    Object.assign(window, { clicks });
    link.onclick = (event) => {
      event.preventDefault();
      if (clicks.push(link.href) < 2) link.click();
    };
  });
  await shop.page.locator('a').click();
  await shop.page.waitForFunction((to) => document.querySelector('a')?.getAttribute('href') === to, href);
  const clicks = await shop.page.evaluate(() => (window as unknown as { clicks: string[] }).clicks);
  expect(clicks).toEqual(Array(2).fill(expect.stringContaining(MARK + visitorId)));
  const landed = (await follow(shop, href)).landed;
  expect(landed.split(MARK)).toHaveLength(2);
});

test('keyboard, middle button, shadow root and new-tab links take the visitor id, too', {
  tag: '@long',
}, async ({ context, visit, addressOf }) => {
  const shop = await visit(SHOP);
  const visitorId = await shop.visitorId();
  const landing = async (act: () => Promise<unknown>) => {
    const [page] = await Promise.all([context.waitForEvent('page'), act()]);
    await page.waitForURL(/blank/);
    const url = page.url();
    await page.close();
    return url;
  };
  const href = `${addressOf(HELP)}/blank`;
  await addLink(shop, href, 'target="_blank"');
  const link = shop.page.locator('a');
  await link.focus();
  expect(await landing(() => shop.page.keyboard.press('Enter'))).toContain(MARK + visitorId);
  expect(await landing(() => link.click())).toContain(MARK + visitorId);
  await addLink(shop, href);
  expect(await landing(() => link.click({ button: 'middle' }))).toContain(MARK + visitorId);
  expect(await landing(() => link.click({ modifiers: ['Control'] }))).toContain(MARK + visitorId);
  await shop.page.evaluate(() => {
    const host = document.createElement('div');
    host.attachShadow({ mode: 'open' }).append(document.querySelector('a') as Node);
    document.body.append(host);
  });
  expect(await landing(() => link.click({ modifiers: ['Control'] }))).toContain(MARK + visitorId);
  await shop.clew('stop');
  expect(await landing(() => link.click({ modifiers: ['Control'] }))).not.toContain(MARK);
});

test('a link that is expired, malformed or of a foreign page is ignored and removed from the address', {
  tag: ['@long', '@promise'],
}, async ({ context, addressOf }) => {
  const url = (value: string) => `${addressOf(HELP)}/blank?a=1&${MARK}${value}&b=2`;
  const shop = `${addressOf(SHOP)}/`;
  const cases: [value: string, referer: string | undefined, isBelieved: boolean][] = [
    [`${VISITOR_ID}.${inSeconds(-60)}`, shop, true],
    [`${VISITOR_ID}.${inSeconds(-60)}`, undefined, true],
    [`${VISITOR_ID}.${inSeconds(60)}`, shop, true],
    [`${VISITOR_ID}.${inSeconds(-180)}`, shop, false],
    [`${VISITOR_ID}.${inSeconds(180)}`, shop, false],
    [`${VISITOR_ID}.${inSeconds(0)}`, `${addressOf('evil.example')}/`, false],
    [`${VISITOR_ID}.${inSeconds(0)}`, `${addressOf('notshop.example')}/`, false],
    [`${VISITOR_ID}.`, shop, false],
    [VISITOR_ID, shop, false],
    [`${VISITOR_ID.replace('1', 'X')}.${inSeconds(0)}`, shop, false],
    [`${'-'.repeat(36)}.${inSeconds(0)}`, shop, false],
    [`%00.${inSeconds(0)}`, shop, false],
    ['', shop, false],
  ];
  for (const [value, referer, isBelieved] of cases) {
    // A link that is not accepted leaves the browser as it was.
    const browser = isBelieved ? ((await context.browser()?.newContext()) as BrowserContext) : context;
    const help = await arriveBy(browser, url(value), referer);
    const label = `${value} from ${referer}`;
    expect((await help.visitorId()) === VISITOR_ID, label).toBe(isBelieved);
    expect(help.page.url(), label).toBe(`${addressOf(HELP)}/blank?a=1&b=2`);
    await (isBelieved ? browser : help.page).close();
  }
});

test('an identified customer keeps the visitor id, and no customers are merged', {
  tag: '@promise',
}, async ({ demo, context, visit, addressOf }) => {
  const help = await visit(HELP);
  await help.clew('identify', 'bob@example.com');
  const bob = await help.visitorId();
  const shop = await visit(SHOP);
  await shop.clew('identify', 'ann@example.com');
  const ann = await shop.visitorId();
  const moved = await follow(shop, `${addressOf(HELP)}/blank`);
  expect(moved.landed).toContain(MARK + ann);
  expect(moved.page.url()).not.toContain(MARK);
  expect(await moved.visitorId()).toBe(bob);

  await moved.clew('reset');
  const link = `${addressOf(HELP)}/blank?${MARK}${ann}.${inSeconds(0)}.1`;
  const again = await arriveBy(context, link, addressOf(SHOP));
  expect(await again.visitorId()).toBe(ann);
  await again.clew('identify', 'bob@example.com');
  expect(await again.visitorId()).not.toBe(ann);
  await again.clew('track', 'last');
  await expect.poll(() => demo.events('last')).toHaveLength(1);
  const customers = (await demo.customers()).filter(({ correlationValues }) => correlationValues.includes(ann));
  expect(customers.map(({ primaryKey }) => primaryKey)).toEqual(['ann@example.com']);
});

test('the other tabs of the site take over the visitor id of the link', { tag: ['@long', '@promise'] }, async ({
  context,
  visit,
  addressOf,
}) => {
  const tab = await visit(HELP);
  expect(await tab.visitorId()).not.toBe(VISITOR_ID);
  await arriveBy(context, `${addressOf(HELP)}/blank?${MARK}${VISITOR_ID}.${inSeconds(0)}`);
  await expect.poll(() => tab.visitorId()).toBe(VISITOR_ID);
});

test('the history state of an app stays unchanged', { tag: '@long' }, async ({ context, addressOf }) => {
  const page = await context.newPage();
  await page.goto(`${addressOf(HELP)}/blank?${MARK}${VISITOR_ID}.${inSeconds(0)}`);
  await page.evaluate(() => history.replaceState({ scroll: 7 }, ''));
  await load(page, {});
  expect(await page.evaluate(() => [history.state, location.search])).toEqual([{ scroll: 7 }, '']);
});

test('before consent the link is not read and no link is changed, however late consent comes', {
  tag: ['@long', '@promise'],
}, async ({ context, visit, addressOf }) => {
  const shop = await visit(SHOP, { consent: 'required' });
  const moved = await follow(shop, `${addressOf(HELP)}/blank`, { consent: 'required' });
  expect(moved.landed).not.toContain(MARK);

  const link = `${addressOf(HELP)}/blank?${MARK}${VISITOR_ID}.${inSeconds(-60)}`;
  const refused = await arriveBy(context, link, undefined, { consent: 'required' });
  expect(refused.page.url()).toBe(link);
  await refused.clew('consent', false);
  expect(refused.page.url()).not.toContain(MARK);
  const granted = await arriveBy(context, link, undefined, { consent: 'required' });
  // The visitor gives consent only after an hour.
  await granted.page.evaluate((late) => {
    for (const clock of [Date, performance]) {
      const now = clock.now.bind(clock);
      clock.now = () => now() + late;
    }
  }, 3_600_000);
  await granted.clew('consent', true);
  expect(granted.page.url()).not.toContain(MARK);
  expect(await granted.visitorId()).toBe(VISITOR_ID);
});

test('a click that logs the visitor out hands over the next visitor id, a refusal none', {
  tag: '@promise',
}, async ({ visit, addressOf }) => {
  for (const [method, ...args] of [['reset'], ['identify', 'bob'], ['consent', false]] as const) {
    const shop = await visit(SHOP);
    await shop.clew('consent', true);
    await shop.clew('identify', 'ann');
    const ann = await shop.visitorId();
    await addLink(shop, `${addressOf(HELP)}/blank`);
    await shop.page.evaluate(
      (call) => {
        const link = document.querySelector('a') as HTMLAnchorElement;
        // The page's listener keeps the click from all later listeners of clew.
        link.onclick = (event) => {
          event.stopPropagation();
          window.clew(...call);
        };
      },
      [method, ...args] as [string, ...unknown[]],
    );
    await shop.page.locator('a').click();
    await shop.page.waitForURL((url) => url.hostname === HELP);
    expect(shop.page.url(), method).not.toContain(ann);
    expect(shop.page.url().includes(MARK), method).toBe(method !== 'consent');
    await shop.page.close();
  }
});

test('a link that a router brings back into the address is not accepted again after reset()', {
  tag: ['@long', '@promise'],
}, async ({ context, addressOf }) => {
  const link = `${addressOf(HELP)}/blank?${MARK}${VISITOR_ID}.${inSeconds(0)}`;
  const help = await arriveBy(context, link, undefined, { consent: 'required' });
  await help.clew('consent', true);
  expect(await help.visitorId()).toBe(VISITOR_ID);
  await help.page.evaluate((url) => history.pushState(null, '', url), `${link}&tab=1`);
  await help.clew('identify', 'customer-1');
  await help.clew('reset');
  const next = await help.visitorId();
  await help.page.reload();
  await load(help.page, { consent: 'required' });
  await help.clew('consent', true);
  expect(await help.visitorId()).toBe(next);
  expect(help.page.url()).toBe(`${addressOf(HELP)}/blank?tab=1`);
});

test('an address of the app itself is no link, however late consent comes', { tag: '@long' }, async ({
  context,
  addressOf,
}) => {
  const help = await arriveBy(context, `${addressOf(HELP)}/blank`, undefined, { consent: 'required' });
  await help.page.evaluate((query) => history.pushState(null, '', query), `?${MARK}${VISITOR_ID}.${inSeconds(0)}`);
  await help.clew('consent', true);
  expect(await help.visitorId()).not.toBe(VISITOR_ID);
});

test('after log-out at one site, the other one takes the next visitor id by a link', {
  tag: ['@long', '@promise'],
}, async ({ visit, addressOf }) => {
  const shop = await visit(SHOP);
  await shop.clew('identify', 'customer-1');
  const customer = await shop.visitorId();
  const help = await follow(shop, `${addressOf(HELP)}/blank`);
  expect(await help.visitorId()).toBe(customer);
  await shop.page.goto(`${addressOf(SHOP)}/blank`);
  await load(shop.page, {});
  await shop.clew('reset');
  const next = await shop.visitorId();
  await follow(shop, `${addressOf(HELP)}/blank`);
  expect(await help.visitorId()).toBe(next);
  expect(next).not.toBe(customer);
});

test('a landing page that redirects before clew is there passes the link on', { tag: ['@long', '@promise'] }, async ({
  context,
  addressOf,
}) => {
  const page = await context.newPage();
  await page.goto(`${addressOf(HELP)}/blank?${MARK}${VISITOR_ID}.${inSeconds(0)}`, { referer: addressOf(SHOP) });
  await page.evaluate(() => location.replace('/blank?home'));
  await page.waitForURL(/home/);
  await load(page, {});
  expect(await visitorOf(page).visitorId()).toBe(VISITOR_ID);
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
});

test('a link within the host is unchanged, and a change that the page makes stays', {
  tag: '@promise',
}, async ({ visit, addressOf }) => {
  const shop = await visit(SHOP, { linkDomains: 'shop.example help.example' });
  await shop.visitorId();
  await addLink(shop, '#part');
  await shop.page.evaluate(() => {
    document.title = 'not reloaded';
  });
  await shop.page.locator('a').click();
  await expect(shop.page).toHaveURL(/\/blank#part$/);
  expect(await shop.page.title()).toBe('not reloaded');
  await addLink(shop, `${addressOf(HELP)}/blank`);
  const href = await shop.page.evaluate(async () => {
    const link = document.querySelector('a') as HTMLAnchorElement;
    link.addEventListener('click', (event) => {
      event.preventDefault();
      link.href = '/out';
    });
    link.click();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return link.getAttribute('href');
  });
  expect(href).toBe('/out');
});

test('a download and a link to an app get no visitor id', { tag: '@long' }, async ({ visit, addressOf }) => {
  const shop = await visit(SHOP);
  await shop.visitorId();
  const followed = await shop.page.evaluate((address) => {
    document.body.innerHTML = `<a href="${address}/file?signature=7" download>file</a> <a href="app://help.example/">app</a>
      <a href="${address}/">page</a>`;
    return [...document.querySelectorAll('a')].map((link) => {
      let href = '';
      link.onclick = () => {
        href = link.href;
        return false;
      };
      link.click();
      return href;
    });
  }, addressOf(HELP));
  expect(followed).toEqual([
    `${addressOf(HELP)}/file?signature=7`,
    'app://help.example/',
    expect.stringContaining(MARK),
  ]);
});

test('an area of an image map takes the visitor id along', { tag: '@long' }, async ({ visit, addressOf }) => {
  const shop = await visit(SHOP);
  const visitorId = await shop.visitorId();
  const followed = await shop.page.evaluate(
    (href) => {
      document.body.innerHTML = `<map name="map"><area href="${href}"></map>`;
      const area = document.querySelector('area') as HTMLAreaElement;
      let address = '';
      area.onclick = () => {
        address = area.href;
        return false;
      };
      area.click();
      return address;
    },
    `${addressOf(HELP)}/blank`,
  );
  expect(followed).toContain(`${MARK}${visitorId}.`);
});

test('without the option links and addresses stay unchanged', { tag: '@long' }, async ({
  context,
  visit,
  addressOf,
}) => {
  const shop = await visit(SHOP, { linkDomains: 'false' });
  const link = `${addressOf(HELP)}/blank`;
  expect((await follow(shop, link, { linkDomains: 'false' })).landed).toBe(link);
  const forged = `${link}?${MARK}${VISITOR_ID}.${inSeconds(0)}`;
  const help = await arriveBy(context, forged, undefined, { linkDomains: 'false' });
  expect(help.page.url()).toBe(forged);
  expect(await help.visitorId()).not.toBe(VISITOR_ID);
});
