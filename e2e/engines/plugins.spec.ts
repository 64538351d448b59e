import type { Tab } from '../faults/engines/engine.ts';
import type { Stage } from '../faults/support/stage.ts';
import { expect, test } from './staged.ts';

const VIEWS = 'data-page-views=';

/** Starts a plugin of `clew/plugins`, as a page with the script tag does. */
const use = (tab: Tab, name: string, options: object = {}) =>
  tab.evaluate(
    async ({ name: plugin, options: given }) => {
      const file = '/dist/plugins.js';
      const plugins: Record<string, (options: object) => unknown> = await import(file);
      window.clew('use', plugins[plugin]?.(given));
    },
    { name, options },
  );

/** The events of these names, in the order of their times, each with its payload. */
const eventsOf = async ({ demo }: Stage, ...names: string[]) =>
  (await demo.events())
    .filter(({ event }) => names.includes(event))
    .sort((one, other) => one.timestamp.localeCompare(other.timestamp))
    .map(({ event, payload }) => [event, payload as Record<string, unknown>] as const);

/** Leaves for a page without clew. */
const leave = async (stage: Stage, tab: Tab) => {
  await tab.evaluate(() => {
    setTimeout(() => {
      location.href = '/blank';
    });
  });
  await stage.reached(tab, '/blank');
};

test('engagement: a view that unloads has its time and depth, and another one after the back/forward cache', {
  tag: '@engines',
}, async ({ stage }) => {
  const tab = await stage.visit({ query: VIEWS });
  await tab.evaluate(() => {
    document.body.style.height = '400vh';
    addEventListener('pageshow', ({ persisted }) => {
      localStorage.isBack = persisted;
    });
  });
  await use(tab, 'engagement');
  await tab.click('#button');
  await tab.evaluate(
    () =>
      new Promise<void>((resolve) => {
        addEventListener('scroll', () => resolve(), { once: true });
        scrollTo(0, document.body.scrollHeight);
      }),
  );
  await leave(stage, tab);
  const left = async () => (await eventsOf(stage, 'page_left')).map(([, payload]) => payload);
  await expect.poll(left).toHaveLength(1);
  const [first] = await left();
  expect(first).toMatchObject({ path: '/page/1', scrollDepth: 100, part: 1 });
  expect(first?.activeTime).toBeGreaterThan(0);
  expect(first?.totalTime).toBe(first?.activeTime);
  await tab.back();
  await stage.reached(tab, '/page/1');
  await expect.poll(() => tab.evaluate(() => localStorage.isBack)).toBe('true');
  await leave(stage, tab);
  await expect.poll(left).toHaveLength(2);
  expect((await left())[1]).toMatchObject({ path: '/page/1', part: 1 });
});

test('forms: errors that the engine shows, and a form that is left, and no value', {
  tag: ['@engines', '@long'],
}, async ({ stage }) => {
  const tab = await stage.visit();
  await tab.evaluate(() => {
    const page = document.createElement('div');
    page.innerHTML = `<form data-clew-form="signup" data-clew-plan="pro" action="/blank"><input name="email" type="email" required>
      <input name="pin" required><button id="send">send</button></form>`;
    document.body.prepend(page);
  });
  await use(tab, 'forms');
  const type = (name: string, value: string) =>
    tab.evaluate(
      (given) => {
        const field = document.querySelector<HTMLInputElement>(`[name=${given.name}]`);
        if (!field) throw new Error(`no field ${given.name}`);
        field.value = given.value;
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      },
      { name, value },
    );
  await type('email', 'secret-value');
  await tab.click('#send');
  await type('email', 'secret-value@example.com');
  await leave(stage, tab);
  const names = ['form_started', 'form_error', 'form_submitted', 'form_abandoned'];
  await expect.poll(() => eventsOf(stage, ...names)).toHaveLength(3);
  const marks = { form: 'signup', plan: 'pro' };
  expect(await eventsOf(stage, ...names)).toEqual([
    ['form_started', { ...marks, field: 'email' }],
    ['form_error', { ...marks, fields: ['email', 'pin'] }],
    ['form_abandoned', { ...marks, field: 'email', duration: expect.any(Number) }],
  ]);
  expect(JSON.stringify(await stage.demo.events())).not.toContain('secret-value');
});

test('sessions: two tabs share a session, and a campaign begins another one', { tag: ['@engines', '@long'] }, async ({
  stage,
}) => {
  const track = async (query: string) => {
    const tab = await stage.visit({ query });
    await use(tab, 'sessions');
    await tab.evaluate(() => {
      window.clew('track', 'clicked');
      return window.clew('flush');
    });
  };
  await track('');
  await track('');
  await track('utm_source=mail');
  await expect.poll(() => eventsOf(stage, 'clicked')).toHaveLength(3);
  const sessions = (await eventsOf(stage, 'clicked')).map(([, payload]) => payload);
  expect(sessions.map(({ sessionNumber }) => sessionNumber)).toEqual([1, 1, 2]);
  expect(sessions[1]?.sessionId).toBe(sessions[0]?.sessionId);
  expect(sessions[2]?.sessionId).not.toBe(sessions[0]?.sessionId);
});

test('exclude: a link excludes the browser until another link, and its driver counts as automated', {
  tag: ['@engines', '@long'],
}, async ({ stage }) => {
  const track = async (query: string, options: object) => {
    const tab = await stage.visit({ query });
    await use(tab, 'exclude', { localhost: false, ...options });
    return tab.evaluate(async () => {
      window.clew('track', 'clicked');
      const { dropped } = (await window.clew('stats')) as { dropped: { filtered?: number } };
      return { filtered: dropped.filtered ?? 0, isDriven: navigator.webdriver };
    });
  };
  const { filtered, isDriven } = await track('', {});
  expect(filtered).toBe(isDriven ? 1 : 0);
  expect(await track('clew_ignore=1', { automated: false })).toMatchObject({ filtered: 1 });
  expect(await track('', { automated: false })).toMatchObject({ filtered: 1 });
  expect(await track('clew_ignore=0', { automated: false })).toMatchObject({ filtered: 0 });
});
