import AxeBuilder from '@axe-core/playwright';
import { chromium, type FrameLocator, type Page } from '@playwright/test';
import { allArrive } from './support/allArrive.ts';
import { findChromium } from './support/chromium.ts';
import { bodyOf, expect, test } from './support/test.ts';

const open = async (page: Page, address: string): Promise<FrameLocator> => {
  await page.goto(address);
  const shop = page.frameLocator('#shop');
  await expect(shop.getByRole('heading', { level: 1 })).toBeVisible();
  return shop;
};

const station = (page: Page, name: string) => page.locator('#stations li', { hasText: name });
const signUp = async (shop: FrameLocator) => {
  await shop.getByRole('link', { name: 'Join' }).click();
  await shop.getByLabel('Name').fill('Ada Lovelace');
  await shop.getByLabel('E-mail').fill('ada@example.com');
  await shop.getByRole('radio', { name: 'Pro' }).check();
  await shop.getByRole('button', { name: 'Sign up' }).click();
  await expect(shop.getByRole('heading', { name: 'Hello, Ada' })).toBeVisible();
};

test('the page shows each step of a click up to the service', async ({ demo, visitor: { page } }) => {
  const shop = await open(page, demo.address);
  await expect(page.getByText('First: Press the button above')).toBeVisible();
  await shop.getByRole('button', { name: /Knossos Merino/ }).click();
  await expect(page.getByRole('heading', { name: 'Newest event: cart_added' })).toBeVisible();
  await expect(station(page, 'Stored')).toContainText('in IndexedDB');
  await expect(station(page, 'Confirmed')).toContainText('answered 201');
  await expect(station(page, 'Arrived')).toContainText('from an anonymous customer');
  await expect(page.getByText('Next: Press the button above')).toBeVisible();
  await expect(page.locator('#events')).toContainText(/cart_added\s+anonymous\s+sku merino price 14/);
  await expect(page.locator('clew-inspector')).toContainText(/2 tracked\s*=\s*2 delivered\s*\+\s*0 queued/);
  expect((await demo.events('cart_added')).map(({ payload }) => payload)).toEqual([{ sku: 'merino', price: '14' }]);
});

test('a visitor who signs up is a customer with all earlier events, and their journey starts', {
  tag: '@promise',
}, async ({ demo, visitor: { page } }) => {
  const shop = await open(page, demo.address);
  await shop.getByRole('link', { name: 'See the boxes' }).click();
  await shop.getByRole('link', { name: 'Choose Pro' }).click();
  await signUp(shop);
  await expect(page.getByText('started 1 time')).toBeVisible();
  await expect(station(page, 'Arrived')).toContainText('ada@example.com; started “Welcome to Pro”');
  await expect(page.locator('#counts')).toContainText('journey started');
  await expect(page.locator('#customers')).toContainText('ada@example.com this browser');
  // The page leaves as Ada signs up, and sends events and properties in separate requests.
  await expect
    .poll(() => demo.customers())
    .toMatchObject([{ primaryKey: 'ada@example.com', properties: { name: 'Ada Lovelace', plan: 'pro' } }]);
  const [ada] = await demo.customers();
  expect((await demo.events('plan_chosen')).map(({ customerId }) => customerId)).toEqual([ada?.id]);

  await shop.getByLabel('Tell me what is freshly dyed').check();
  await expect.poll(async () => (await demo.customers())[0]?.properties.newsletter).toBe(true);
  await page.getByRole('button', { name: 'Reload' }).click();
  await shop.getByRole('radio', { name: 'Free' }).check();
  await expect
    .poll(async () => (await demo.customers())[0]?.properties)
    .toMatchObject({ plan: 'free', newsletter: true });
  await expect(shop.getByLabel('Tell me what is freshly dyed')).toBeChecked();
  await shop.getByRole('button', { name: 'Log out' }).click();
  await shop.getByRole('button', { name: /Naxos Cotton/ }).click();
  await expect.poll(async () => (await demo.events('cart_added')).length).toBe(1);
  expect((await demo.events('cart_added'))[0]?.correlationValue).not.toBe(ada?.correlationValues[0]);
});

test('the inspector keeps its sums over the pages of the shop, and they balance with what arrived', {
  tag: '@long',
}, async ({ demo, visitor: { page } }) => {
  const shop = await open(page, demo.address);
  await shop.getByRole('button', { name: /Minotaur Mohair/ }).click();
  await shop.getByRole('link', { name: 'Basket' }).click();
  await shop.getByRole('button', { name: 'Pay' }).click();
  await expect(shop.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await signUp(shop);
  await expect.poll(async () => (await demo.events('page_view')).length).toBe(5);
  const { length } = await demo.events();
  const sum = new RegExp(`${length} tracked\\s*=\\s*${length} delivered\\s*\\+\\s*0 queued\\s*\\+\\s*0 dropped`);
  await expect(page.locator('clew-inspector')).toContainText(sum);
});

test('the page shows a request that the service answers 500, and its retry', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  const shop = await open(page, demo.address);
  await expect(station(page, 'Confirmed')).toContainText('answered 201');
  await page.getByLabel('next').fill('1');
  await page.getByRole('button', { name: '500' }).click();
  await expect(page.getByText('The next request will be answered 500')).toBeVisible();
  await shop.getByRole('button', { name: /Knossos Merino/ }).click();
  await page.getByRole('button', { name: 'Flush' }).click();
  await expect(station(page, 'Sent')).toContainText('try 2');
  await expect(station(page, 'Arrived')).toContainText('anonymous customer');
  expect(await demo.events('cart_added')).toHaveLength(1);
});

test('ten events arrive that are tracked in the task in which the page leaves', { tag: '@promise' }, async ({
  demo,
  visitor: { page },
}) => {
  const shop = await open(page, demo.address);
  await page.getByRole('button', { name: 'Track 10 and leave' }).click();
  await expect(shop.getByRole('heading', { name: 'Thank you' })).toBeVisible();
  await expect(page.getByText('all 10 arrived, none twice')).toBeVisible();
  expect(await demo.events('last_words')).toHaveLength(10);
  // No page sends them again: the next one learns from the relay that they have arrived.
  await expect(page.locator('clew-inspector')).toContainText(/12 tracked\s*=\s*12 delivered\s*\+\s*0 queued/);
});

test('200 events of one task arrive, and a payload that JSON cannot hold is dropped with a reason', {
  tag: '@long',
}, async ({ demo, visitor: { page } }) => {
  await open(page, demo.address);
  await page.getByRole('button', { name: 'Track 200 events' }).click();
  await page.getByRole('button', { name: 'Flush' }).click();
  await allArrive(200, async () => (await demo.events('sheep_counted')).length);
  await page.getByRole('button', { name: 'Invalid payload' }).click();
  await expect(station(page, 'Dropped')).toContainText('unserialisable');
});

test('another tab is the same visitor, with the inspector docked over it', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  const shop = await open(page, demo.address);
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Another tab' }).click();
  const other = await opened;
  await expect(other.getByRole('region', { name: 'clew inspector' })).toBeVisible();
  await other.getByRole('link', { name: 'Pricing' }).click();
  await expect(other.getByRole('region', { name: 'clew inspector' })).toBeVisible();
  await other.getByRole('link', { name: 'Choose Free' }).click();
  await other.getByRole('button', { name: 'Sign up' }).click();
  await expect(other.getByRole('heading', { name: /^Hello/ })).toBeVisible();
  await expect(other.getByRole('region', { name: 'clew inspector' })).toBeVisible();
  await expect(shop.getByRole('link', { name: 'Account' })).toBeVisible();
  await shop.getByRole('button', { name: /Knossos Merino/ }).click();
  await expect.poll(async () => (await demo.events('cart_added')).length).toBe(1);
  expect(new Set((await demo.events()).map(({ correlationValue }) => correlationValue)).size).toBe(1);
  expect(await demo.customers()).toHaveLength(1);
});

test('the inspector counts events as delivered that another tab has sent', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  const shop = await open(page, demo.address);
  await expect.poll(() => demo.events()).toHaveLength(1);
  const other = await page.context().newPage();
  await other.goto(`${demo.address}/shop/`);
  await other.evaluate(() => setInterval(() => window.clew('track', 'elsewhere'), 300));
  const sent = other.waitForRequest((request) => bodyOf(request).includes('in_frame'));
  const timer = await shop.locator('body').evaluate(() => setInterval(() => window.clew('track', 'in_frame'), 400));
  await sent;
  await shop.locator('body').evaluate((_, timer) => clearInterval(timer), timer as never);
  await page.bringToFront();
  await other.close();
  await expect(page.locator('clew-inspector')).toContainText(/[1-9]\d* delivered\s*\+\s*0 queued/);
});

test('a visitor who objects is not tracked, on later pages either', { tag: ['@long', '@promise'] }, async ({
  demo,
  visitor: { page },
}) => {
  const shop = await open(page, demo.address);
  await shop.getByRole('link', { name: 'Privacy' }).click();
  await expect.poll(async () => (await demo.events('page_view')).length).toBe(2);
  await shop.getByLabel('Count what I do').uncheck();
  await shop.getByRole('link', { name: 'Yarns', exact: true }).click();
  await shop.getByRole('button', { name: /Knossos Merino/ }).click();
  await shop.getByRole('link', { name: 'Privacy' }).click();
  await shop.getByLabel('Count what I do').check();
  await shop.getByRole('link', { name: 'Pricing' }).click();
  await shop.getByRole('link', { name: 'Choose Free' }).click();
  await expect.poll(async () => (await demo.events('plan_chosen')).length).toBe(1);
  expect(await demo.events('cart_added')).toEqual([]);
});

test('all events of many visitors arrive, once each', { tag: ['@long', '@promise'] }, async ({
  demo,
  visitor: { page },
}) => {
  // The page is of one site with the crowd's frames, because browsers may refuse storage to frames of other sites.
  await open(page, demo.address.replace('127.0.0.1', 'clew.localhost'));
  await page.getByRole('spinbutton', { name: 'Visitors' }).fill('4');
  await page.getByRole('button', { name: 'Start visitors' }).click();
  await expect(page.locator('#crowd li')).toHaveCount(4);
  const sum = page.locator('#crowd-sum');
  const tracked = async () => Number(/(\d+)\s+tracked/.exec((await sum.textContent()) ?? '')?.[1]);
  // Each of the four visitors first loads a page of its own.
  await expect.poll(tracked, { timeout: 40_000 }).toBeGreaterThan(20);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(sum).toContainText('none lost, none twice');

  const all = await demo.events();
  const isOfVisitor = (payload: unknown) =>
    /\/\/v\d-\w+\.clew\.localhost/.test((payload as { url?: string } | null)?.url ?? '');
  const ids = new Set(
    all.filter(({ payload }) => isOfVisitor(payload)).map(({ correlationValue }) => correlationValue),
  );
  expect(ids.size).toBe(4);
  const arrived = all.filter(({ correlationValue }) => ids.has(correlationValue));
  expect(new Set(arrived.map(({ uuid }) => uuid)).size).toBe(arrived.length);
  expect(await tracked()).toBe(arrived.length);
  expect(await sum.textContent()).toContain(`${arrived.length} arrived`);
});

test('the page explains when the browser does not find the names of the visitors’ sites', { tag: '@long' }, async ({
  demo,
}) => {
  const executablePath = findChromium();
  const browser = await chromium.launch({
    ...(executablePath && { executablePath }),
    args: ['--no-sandbox', '--host-resolver-rules=MAP *.localhost ~NOTFOUND'],
  });
  const page = await browser.newPage();
  await open(page, demo.address);
  await page.getByRole('button', { name: 'Start visitors' }).click();
  await expect(page.getByText('this browser does not find')).toBeVisible();
  await expect(page.locator('#crowd li')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Start visitors' })).toBeEnabled();
  await browser.close();
});

test('the service fails for ten seconds while a visitor clicks, and every event arrives once', {
  tag: ['@promise', '@long'],
}, async ({ demo, visitor: { page } }) => {
  const shop = await open(page, demo.address);
  const id = await shop.locator('body').evaluate(() => window.clew('correlationValue'));
  // An event of the page before may still be on its path through the relay.
  const events = async () => (await demo.events()).filter(({ correlationValue }) => correlationValue === id);
  await expect.poll(async () => (await events()).length).toBe(1);
  const [opened] = await events();
  const outage = page.getByRole('region', { name: 'The service fails for ten seconds' });
  const button = outage.getByRole('button', { name: 'Break the service' });
  const number = async (name: string) =>
    Number(await outage.locator('.numbers div', { hasText: name }).locator('dd').textContent());
  await button.click();
  await expect(outage.getByText('The service answers 503')).toBeVisible();
  await expect(page.locator('#guide')).toBeHidden();
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  await expect.poll(() => number('waiting')).toBeGreaterThan(5);
  // A second press changes nothing, and the numbers continue.
  await button.click({ force: true });
  expect(await number('tracked')).toBeGreaterThan(5);
  expect(await number('arrived')).toBe(0);
  expect(await events()).toEqual([opened]);

  const verdict = outage.getByText(/events were tracked/);
  await expect(verdict).toBeVisible({ timeout: 45_000 });
  const tracked = await number('tracked');
  await expect(verdict).toHaveText(`${tracked} events were tracked, ${tracked} arrived.`);
  expect(await number('waiting')).toBe(0);
  expect(await number('arrived')).toBe(tracked);
  const arrived = (await events()).filter(({ uuid }) => uuid !== opened?.uuid);
  expect(arrived).toHaveLength(tracked);
  expect(new Set(arrived.map(({ uuid }) => uuid)).size).toBe(tracked);
  await expect(shop.locator('#basket-size')).toHaveText(
    String(arrived.filter(({ event }) => event === 'cart_added').length),
  );
  await expect(button).toHaveAttribute('aria-disabled', 'false');
});

test('the story follows the service when a fault button changes the fault', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await open(page, demo.address);
  const state = page.locator('#outage-state');
  await page.getByRole('button', { name: 'Break the service' }).click();
  await expect(page.getByText('For a limited time')).toBeVisible();
  await page.getByLabel('next').fill('');
  await page.getByRole('button', { name: '500' }).click();
  await expect(state).toHaveText('The service has the fault chosen under “Service faults”.');
  await page.getByRole('button', { name: 'None' }).first().click();
  await expect(page.locator('#state')).toHaveText('service answers');
  await expect(state).not.toContainText('503');
  await expect(page.locator('#outage')).not.toHaveAttribute('data-phase', 'down');
  await expect(page.locator('#outage-clock')).not.toContainText('until the service is back');
  await expect(state).toContainText(/(\d+) events? (was|were) tracked, \1 arrived/, { timeout: 30_000 });
});

test('a second tab cannot extend the outage of the first tab', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await open(page, demo.address);
  const other = await page.context().newPage();
  await open(other, demo.address);
  const button = other.getByRole('button', { name: 'Break the service' });
  await expect(button).toHaveAttribute('aria-disabled', 'false');
  await page.getByRole('button', { name: 'Break the service' }).click();
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  await expect(other.getByText('The service fails already.')).toBeVisible();
  const ends = async () => {
    const { duration } = await (await fetch(`${demo.address}/inspect/faults`)).json();
    return Date.now() + duration;
  };
  const before = await ends();
  await button.click({ force: true });
  // A new outage would show its numbers at once.
  await expect(other.locator('#outage')).toHaveAttribute('data-phase', 'rest');
  expect((await ends()) - before).toBeLessThan(1000);
});

test('a reload in the middle of the outage ends the fault', { tag: '@long' }, async ({ demo, visitor: { page } }) => {
  await open(page, demo.address);
  // The page's own view is no click.
  await expect.poll(async () => (await demo.events()).length).toBe(1);
  await page.getByRole('button', { name: 'Break the service' }).click();
  await expect(page.locator('#state')).toHaveText('service fails');
  await expect(page.locator('#outage-numbers .waiting dd')).not.toHaveText('0');
  await page.reload();
  await expect(page.locator('#state')).toHaveText('service answers');
  await expect(page.getByText('The service works.')).toBeVisible();
  await expect.poll(async () => (await demo.events('cart_added')).length).toBeGreaterThan(0);
  await expect(
    page.getByText(/^(\d+) events? waited when the page was reloaded: \1 ha(s|ve) arrived\.$/),
  ).toBeVisible();
});

test('the back button of the shop never leaves the demo', { tag: '@long' }, async ({ demo, visitor: { page } }) => {
  await page.goto(`${demo.address}/blank`);
  const shop = await open(page, demo.address);
  const back = page.getByRole('button', { name: 'Back' });
  await expect(back).toHaveAttribute('aria-disabled', 'true');
  await back.click({ force: true });
  await shop.getByRole('link', { name: 'Pricing' }).click();
  await expect(page.locator('#address')).toHaveText('ariadne.example/pricing');
  await back.click();
  await expect(page.locator('#address')).toHaveText('ariadne.example/');
  await expect(back).toHaveAttribute('aria-disabled', 'true');
});

test('the form for a new journey refuses blank fields and an identical journey', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await open(page, demo.address);
  await page.getByText('New journey').click();
  const form = page.locator('#new-journey');
  const [name, event] = [form.getByLabel('Name'), form.getByLabel('Starts on the event')];
  const create = form.getByRole('button', { name: 'Create' });
  await name.fill('   ');
  await create.click();
  await expect(name).toHaveAccessibleDescription('Enter a name.');
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await name.fill('  Yarn is back ');
  await expect(name).not.toHaveAttribute('aria-invalid');
  await create.click();
  await expect(event).toHaveAccessibleDescription('Enter the name of an event.');
  await event.fill(' cart_added ');
  await create.click();
  const row = page.locator('#journeys .journeys > li', { hasText: 'Yarn is back' });
  await expect(row).toContainText('on cart_added');
  await expect(name).toHaveValue('');
  await name.fill('Yarn is back');
  await event.fill('cart_added');
  await create.click();
  await expect(form.getByText('a journey with this name, event and filter exists already')).toBeVisible();
  await expect(row).toHaveCount(1);
});

test('the form for visitors names the allowed range, and keeps the number', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await open(page, demo.address.replace('127.0.0.1', 'clew.localhost'));
  const field = page.getByRole('spinbutton', { name: 'Visitors' });
  const start = page.getByRole('button', { name: 'Start visitors' });
  for (const count of ['0', '-3', '', '1.5', '500']) {
    await field.fill(count);
    await start.click();
    await expect(field).toHaveAccessibleDescription('Visitors: expected a whole number from 1 to 24.');
    await expect(field).toHaveValue(count);
    await expect(field).toHaveAttribute('aria-invalid', 'true');
  }
  await expect(page.locator('#crowd li')).toHaveCount(0);
  await field.fill('2');
  await expect(field).toHaveAccessibleDescription('');
  await start.click();
  await expect(page.locator('#crowd-sum')).toContainText(/[1-9]\d* arrived/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('#crowd-sum')).toContainText('none lost, none twice');
  await expect(page.locator('#crowd iframe')).toHaveCount(0);
});

test('the fault form names the field with a wrong number, and shows that the demo is stopped', {
  tag: '@long',
}, async ({ demo, visitor: { page } }) => {
  await open(page, demo.address);
  const [next, wait] = [page.getByLabel('next'), page.getByRole('textbox', { name: 'wait s' })];
  await next.fill('-1');
  await page.getByRole('button', { name: '500' }).click();
  await expect(next).toHaveAccessibleDescription(/^next … requests: expected a whole number from 1/);
  await expect(next).toHaveAttribute('aria-invalid', 'true');
  await next.fill('1');
  await expect(next).toHaveAccessibleDescription('');
  await wait.fill('soon');
  await page.getByRole('button', { name: 'Slow' }).click();
  await expect(wait).toHaveAccessibleDescription('wait … s: expected a whole number from 0 to 600.');
  await expect(next).not.toHaveAttribute('aria-invalid');
  await page.getByRole('button', { name: '500' }).click();
  await expect(page.getByText('The next request will be answered 500')).toBeVisible();
  await expect(wait).toHaveAccessibleDescription('');
  await page.route('**/inspect/faults', (route) => route.abort());
  await page.getByRole('button', { name: 'Hang' }).click();
  await expect(page.locator('#faults').getByRole('alert')).toHaveText('No connection to the demo.');
});

for (const width of [1280, 390])
  test(`a count of three digits moves no other count at ${width} px`, { tag: '@long' }, async ({
    demo,
    visitor: { page },
  }) => {
    await page.setViewportSize({ width, height: 900 });
    await open(page, demo.address);
    await expect(page.locator('#counts')).toContainText('1');
    const boxes = () =>
      page
        .locator('#counts > div')
        .evaluateAll((all: HTMLElement[]) => all.map((each) => [each.offsetLeft, each.clientHeight]));
    const before = await boxes();
    await page.locator('#many').evaluate((button: HTMLElement) => button.click());
    await page.locator('#flush').evaluate((button: HTMLElement) => button.click());
    await expect(page.locator('#counts')).toContainText(/20\d/);
    expect(await boxes()).toEqual(before);
    const overflow = await page
      .locator('#counts dt')
      .evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth));
    expect(overflow).toEqual([0, 0, 0]);
  });

const PAGES = ['', 'shop/', 'shop/pricing', 'shop/join', 'shop/account', 'shop/basket', 'shop/thanks', 'shop/privacy'];

test('every page fits a phone without scrolling sideways', { tag: '@long' }, async ({ demo, visitor: { page } }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of PAGES) {
    await page.goto(`${demo.address}/${path}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
  }
  const shop = await open(page, demo.address);
  await shop.getByRole('button', { name: /Knossos Merino/ }).click();
  await expect(page.locator('#now')).toContainText('Arrived');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await expect(page.locator('clew-inspector')).toHaveCount(0);
  const inFrame = shop.locator('html');
  expect(await inFrame.evaluate((html) => html.scrollWidth - html.clientWidth)).toBe(0);
});

test('a phone shows the service’s side after one swipe or one press', { tag: '@long' }, async ({
  demo,
  visitor: { page },
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await open(page, demo.address);
  const service = page.getByRole('heading', { name: 'Service faults' });
  await expect(service).not.toBeInViewport();
  await page.getByRole('button', { name: 'At the service' }).click();
  await expect(service).toBeInViewport();
  await page.locator('#service').hover();
  await page.mouse.wheel(-390, 0);
  await expect(service).not.toBeInViewport();
  await expect(page.getByRole('button', { name: 'In the browser' })).toHaveAttribute('aria-pressed', 'true');
});

for (const width of [1280, 1440, 390])
  test(`no row of buttons at ${width} px ends with an orphan, and the path ends at its last station`, {
    tag: '@long',
  }, async ({ demo, visitor: { page } }) => {
    await page.setViewportSize({ width, height: 900 });
    await open(page, demo.address);
    for (const row of ['#fault-modes', '.lab .row']) {
      const tops = await page
        .locator(`${row} button`)
        .evaluateAll((buttons) => buttons.map((each) => each.getBoundingClientRect().top));
      const lastRow = tops.filter((top) => Math.abs(top - (tops.at(-1) ?? 0)) < 10);
      expect(lastRow.length, row).toBeGreaterThan(1);
    }
    await expect(page.locator('#stations li').last()).toHaveCSS('border-top-color', 'rgba(0, 0, 0, 0)');
  });

test('a keyboard is enough', { tag: '@long' }, async ({ demo, visitor: { page } }) => {
  const shop = await open(page, demo.address);
  /** Presses Tab until the element has the focus. */
  const reach = async (what: ReturnType<Page['locator']>) => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press('Tab');
      if (await what.evaluate((element) => element === (element.getRootNode() as Document).activeElement)) return;
    }
    throw new Error(`the focus does not reach ${what}`);
  };
  await reach(page.getByRole('button', { name: 'Break the service' }));
  await reach(shop.getByRole('link', { name: 'See the boxes' }));
  await page.keyboard.press('Enter');
  await expect(shop.getByRole('heading', { name: /A box each month/ })).toBeVisible();
  await reach(page.getByRole('button', { name: /Export/ }));
  await reach(page.getByRole('button', { name: 'Track 200 events' }));
  await page.keyboard.press('Enter');
  await reach(page.getByRole('spinbutton', { name: 'Visitors' }));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');
  await expect(page.locator('#crowd li')).toHaveCount(1);
  await reach(page.getByRole('button', { name: '429' }));
  await page.keyboard.press('Space');
  await expect(page.getByText('will be answered 429')).toBeVisible();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing in the ${colorScheme} scheme`, { tag: '@long' }, async ({ demo, visitor: { page } }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const path of PAGES.slice(1)) {
      await page.goto(`${demo.address}/${path}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      expect((await new AxeBuilder({ page }).analyze()).violations, path).toEqual([]);
    }
    const shop = await open(page, demo.address);
    await page.getByRole('spinbutton', { name: 'Visitors' }).fill('2');
    await page.getByRole('button', { name: 'Start visitors' }).click();
    await signUp(shop);
    await expect(station(page, 'Arrived')).toContainText('ada@example.com');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(page.locator('#crowd-sum')).toContainText('none lost, none twice');
    await page.getByRole('button', { name: 'Down' }).click();
    await expect(page.getByText('will find no server')).toBeVisible();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await page.getByRole('button', { name: 'None' }).first().click();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(page.getByRole('button', { name: 'Break the service' })).toHaveAttribute('aria-disabled', 'false');
    await page.getByRole('button', { name: 'Break the service' }).click();
    for (const phase of ['down', 'done']) {
      await expect(page.locator(`#outage[data-phase=${phase}]`)).toBeVisible({ timeout: 45_000 });
      expect((await new AxeBuilder({ page }).analyze()).violations, phase).toEqual([]);
    }
  });
}

test('the same shop as an app is a link away', { tag: '@long' }, async ({ demo, visitor: { page } }) => {
  await open(page, demo.address);
  await expect(page.getByRole('link', { name: 'React' })).toHaveAttribute('href', '/react/');
  await expect(page.getByRole('link', { name: 'Vue' })).toHaveAttribute('href', '/vue/');
});
