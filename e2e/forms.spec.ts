import type { Page } from '@playwright/test';
import type { Demo } from './support/demo.ts';
import { goBack } from './support/goBack.ts';
import { crash, openBrowser, withProfile } from './support/ownBrowser.ts';
import { usePlugins } from './support/plugins.ts';
import { visitBlank } from './support/tag.ts';
import { firstOf } from './support/tags.ts';
import { expect, test, type Visitor } from './support/test.ts';

const FORM = `<form data-clew-form="signup" data-clew-plan="pro" action="/blank?sent">
  <input name="email" type="email" required><input name="pin" type="password"><textarea id="note"></textarea>
  <button>Send</button></form>`;

/** Names and payloads in the order of their times, without the durations. */
const formEvents = async (demo: Demo): Promise<[string, Record<string, unknown>][]> =>
  (await demo.events())
    .filter(({ event }) => event.startsWith('form_'))
    .sort((a, b) => a.timestamp.localeCompare(b.timestamp))
    .map(({ event, payload }) => {
      const { duration, ...rest } = payload as Record<string, unknown>;
      if (/submitted|abandoned/.test(event)) expect(duration).toEqual(expect.any(Number));
      return [event, rest];
    });

/** Opens a page with this form in it. */
const arrive = async (visitor: Visitor, demo: Demo, markup = FORM) => {
  await visitor.page.goto(`${demo.address}/blank`);
  await visitor.page.setContent(markup);
  await visitor.load({ pageViews: '' });
  await usePlugins(visitor.page, { forms: {} });
};
const MARKS = { form: 'signup', plan: 'pro' };
const STARTED = ['form_started', { ...MARKS, field: 'email' }];

test('start, errors and submit of a form that the browser checks, and no value', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await arrive(visitor, demo);
  // A page that checks its forms as it loads, or while the visitor types, shows no error.
  await page.evaluate(() => document.forms[0]?.checkValidity());
  await page.locator('[name=email]').pressSequentially('secret-value');
  await page.evaluate(() => document.forms[0]?.checkValidity());
  await page.getByText('Send').click();
  await page.locator('[name=email]').fill('secret-value@example.com');
  await page.locator('[name=pin]').fill('secret-value');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/blank?*');
  await expect.poll(() => formEvents(demo)).toHaveLength(3);
  expect(await formEvents(demo)).toEqual([
    STARTED,
    ['form_error', { ...MARKS, fields: ['email'] }],
    ['form_submitted', { ...MARKS, field: 'pin' }],
  ]);
  expect(JSON.stringify((await demo.events()).filter(({ event }) => event !== 'page_view'))).not.toContain(
    'secret-value',
  );
});

test('errors after a click in a button elsewhere, also within another form', async ({ demo, visitor }) => {
  const { page } = visitor;
  const icon = '<svg width="20" height="20"><rect width="20" height="20"/></svg>';
  const button = (text: string) => `<button form="signup"><b>${text}</b>${icon}</button>`;
  const markup = FORM.replace('<form', '<form id="signup"').replace(/<button>.*<\/button>/, '<input name="closest">');
  await arrive(visitor, demo, `${markup}${button('Outside')}<form data-clew-form="other">${button('Inside')}</form>`);
  await page.getByText('Outside').click();
  await page.locator('button:has-text("Inside") rect').click();
  const error = ['form_error', { ...MARKS, fields: ['email'] }];
  await expect.poll(() => formEvents(demo)).toEqual([['form_started', MARKS], error, error]);
  await page.locator('[name=email]').fill('ann@example.com');
  await page.getByText('Outside').click();
  const submitted = ['form_submitted', { ...MARKS, field: 'email' }];
  await expect.poll(() => formEvents(demo)).toEqual([['form_started', MARKS], error, error, submitted]);
});

test('errors of a form that the app checks, and a submit that it handles', async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(visitor, demo, `<form data-clew-form="login" novalidate><input name="user"><button>Go</button></form>`);
  await page.evaluate(() => {
    addEventListener('submit', (event) => {
      event.preventDefault();
      const field = document.querySelector('input');
      setTimeout(() => field?.setAttribute('aria-invalid', field.value ? 'false' : 'true'));
    });
  });
  await page.getByText('Go').click();
  await page.waitForSelector('[aria-invalid=true]');
  await page.locator('input').fill('ann');
  await page.getByText('Go').click();
  await expect.poll(() => formEvents(demo)).toHaveLength(4);
  expect(await formEvents(demo)).toEqual([
    ['form_started', { form: 'login' }],
    ['form_submitted', { form: 'login' }],
    ['form_error', { form: 'login', fields: ['user'] }],
    ['form_submitted', { form: 'login', field: 'user' }],
  ]);
});

const ABANDONED = ['form_abandoned', { ...MARKS, field: 'note' }];
const begin = async ({ page }: Visitor) => {
  await page.locator('[name=email]').fill('ann@example.com');
  await page.locator('textarea').fill('text');
};

for (const how of firstOf(['navigate', 'close', 'reload'] as const))
  test(`a form that is begun and left is abandoned: ${how}`, { tag: '@promise' }, async ({ demo, visitor }) => {
    await arrive(visitor, demo);
    await begin(visitor);
    await visitor.trackAndLeave('last', 1, how);
    await expect.poll(() => formEvents(demo)).toEqual([STARTED, ABANDONED]);
  });

test('a form of one customer is not abandoned by the next one, who has logged in beside it', {
  tag: '@promise',
}, async ({ context, demo, newVisitor, visitor }) => {
  await arrive(visitor, demo);
  await visitor.clew('identify', 'ann');
  await visitor.page.locator('[name=email]').fill('ann@example.com');
  await visitor.clew('flush');
  const other = await newVisitor(context);
  await other.visit();
  await other.clew('reset');
  await other.clew('identify', 'bob');
  const bob = await other.clew('correlationValue');
  await expect.poll(() => visitor.clew('correlationValue')).toBe(bob);
  await visitor.page.goto(`${demo.address}/blank`);
  await other.clew('track', 'last');
  await expect.poll(() => demo.events('last')).toHaveLength(1);
  expect((await formEvents(demo)).map(([event]) => event)).toEqual(['form_started']);
});

test('a form whose page comes back from the back/forward cache is begun again', async ({ demo, visitor }) => {
  const { page } = visitor;
  await arrive(visitor, demo);
  await begin(visitor);
  await page.evaluate(() => {
    addEventListener('pageshow', ({ persisted }) => {
      document.title = `${persisted}`;
    });
    location.href = '/blank?next';
  });
  await page.waitForURL('**/blank?next');
  await goBack(page);
  await page.waitForFunction(() => document.title === 'true');
  await begin(visitor);
  await visitor.trackAndLeave('last', 1, 'close');
  await expect.poll(() => formEvents(demo)).toEqual([STARTED, ABANDONED, STARTED, ABANDONED]);
});

test('a form that a single-page app removes with its view is abandoned, and one that stays is not', async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await arrive(visitor, demo, `<main>${FORM}</main><form data-clew-form="news"><input name="address"></form>`);
  await expect.poll(() => demo.events('page_view')).toHaveLength(1);
  await page.locator('[name=address]').fill('ann@example.com');
  await begin(visitor);
  await page.evaluate(() => {
    history.pushState({}, '', '/cart');
    document.querySelector('main')?.remove();
  });
  await expect.poll(() => demo.events('page_view')).toHaveLength(2);
  const news = { form: 'news', field: 'address' };
  await expect.poll(() => formEvents(demo)).toEqual([['form_started', news], STARTED, ABANDONED]);
});

/** Runs a visit in a browser whose tabs are really hidden behind each other. */
const inTabs = (
  demo: Demo,
  visit: (page: Page, other: Page, begin: (page: Page, hiddenFor: number) => Promise<void>) => Promise<void>,
) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const beginIn = async (page: Page, hiddenFor: number) => {
      await page.bringToFront();
      await visitBlank(page, demo.address, { flushInterval: '200' });
      await page.evaluate((markup) => {
        document.body.innerHTML = markup;
      }, FORM);
      await usePlugins(page, { forms: { hiddenFor } });
      await page.locator('[name=email]').fill('ann@example.com');
      await page.locator('textarea').fill('text');
    };
    try {
      await visit(await browser.newPage(), await browser.newPage(), beginIn);
    } finally {
      await browser.kill();
    }
  });

test('a form in a tab that stays hidden is abandoned', { tag: ['@long', '@promise'] }, ({ demo }) =>
  inTabs(demo, async (page, other, beginIn) => {
    await beginIn(page, 300);
    await other.bringToFront();
    await expect.poll(() => formEvents(demo)).toEqual([STARTED, ABANDONED]);
    expect(await page.evaluate(() => localStorage['clew.plugins'])).not.toContain('signup');
  }),
);

test('a later page tracks a form in a hidden tab that ends without an event', { tag: '@promise' }, ({ demo }) =>
  inTabs(demo, async (page, other, beginIn) => {
    const draft = () => page.evaluate(() => localStorage['clew.plugins'] ?? '');
    await beginIn(page, 600_000);
    await other.bringToFront();
    await expect.poll(draft).toContain('signup');
    await page.bringToFront();
    await expect.poll(draft).not.toContain('signup');
    await other.bringToFront();
    await expect.poll(draft).toContain('signup');
    await expect.poll(() => formEvents(demo)).toEqual([STARTED]);
    await crash(page);
    await visitBlank(other, demo.address, { flushInterval: '200' });
    await usePlugins(other, { forms: { hiddenFor: 0 } });
    const late = ['form_abandoned', { ...MARKS, field: 'note', endedAt: expect.any(String) }];
    await expect.poll(() => formEvents(demo)).toEqual([STARTED, late]);
  }),
);
