import type { ListedEvent } from '../../demo/collector/listings.ts';
import type { Tab } from '../faults/engines/engine.ts';
import { openEngine } from '../faults/engines/engine.ts';
import { test as base, expect } from '../faults/support/fault.ts';
import type { Demo } from '../support/demo.ts';
import { withProfile } from '../support/ownBrowser.ts';
import { countedViews, type Moment, moments, type Row, rows, shown, titles, urlOf, type View } from './routers/rows.ts';
import { type RouterSite, startSite } from './routers/site.ts';

/** How long (ms) a test may take that installs and builds a framework's app. */
const BUILD = 900_000;

const test = base.extend<object, { site: RouterSite }>({
  site: [
    async ({ collector }, use) => {
      const site = await startSite(collector);
      await use(site);
      await site.close();
    },
    { scope: 'worker' },
  ],
});

/** Views in the order of their times, because the handover of a leaving page may overtake other requests. */
const viewsOf = async (demo: Demo, origin: string): Promise<View[]> =>
  (await demo.events('page_view'))
    .sort((one: ListedEvent, other: ListedEvent) => Date.parse(one.timestamp) - Date.parse(other.timestamp))
    .map(({ payload }) => payload as View)
    .map(({ title, url }) => ({ title, url: url.replace(origin, '') }));

/** The visible heading. React's `Activity` hides those of other pages. */
const heading = () => {
  const all = [...document.querySelectorAll('h1')];
  return document.readyState === 'loading' ? '' : all.find((one) => one.offsetParent)?.textContent;
};
/** Waits until the heading shows. Between two pages, `evaluate` fails. */
const shows = (tab: Tab, text: string) => expect.poll(() => tab.evaluate(heading).catch(() => '')).toBe(text);

const leave = async (tab: Tab) => {
  await tab.evaluate(() => void setTimeout(() => location.assign('/away')));
  await shows(tab, 'Away');
};

type Act = (tab: Tab, origin: string, row: Row) => Promise<unknown>;
const acts: Record<Exclude<Moment, 'prerendered'>, Act> = {
  load: (tab, origin, row) => tab.goto(origin + urlOf(row, 'one')),
  route: (tab) => tab.click('#two'),
  redirect: (tab) => tab.click('#old'),
  back: (tab) => tab.back(),
  reload: (tab) => tab.evaluate(() => void setTimeout(() => location.reload())),
  async restored(tab) {
    await leave(tab);
    await tab.back();
  },
};

const walked = moments.filter((moment) => moment !== 'prerendered');

for (const row of rows) {
  test(`page views of ${row.id}: load, route, redirect, back, reload, restored`, { tag: '@long' }, async ({
    collector,
    shared,
    site,
  }) => {
    if (row.framework) test.setTimeout(BUILD);
    const missing = await site.prepare(row);
    test.skip(!!missing, missing);
    await collector.clear();
    const engine = await shared();
    const tab = await engine.newTab();
    const counted: View[] = [];
    for (const moment of walked) {
      // The heading is removed first, so that `shows` finds only that of the reloaded page.
      if (moment === 'reload') await tab.evaluate(() => document.body.replaceChildren());
      await acts[moment](tab, site.origin, row);
      await shows(tab, titles[shown[moment]]);
      counted.push(...countedViews(row, moment));
      await expect.poll(() => viewsOf(collector, site.origin), moment).toEqual(counted);
    }
    const isRestored = await tab.evaluate(() => sessionStorage.isRestored);
    expect(isRestored, 'from the back/forward cache').toBe(String(!row.uncached?.includes(engine.name)));
    // The last event arrives after all views of the page, also after views that should not exist.
    await tab.evaluate(() => addEventListener('pagehide', () => window.clew('track', 'last'), { capture: true }));
    await leave(tab);
    await expect.poll(() => collector.events('last')).toHaveLength(1);
    expect(await viewsOf(collector, site.origin)).toEqual(counted);
    expect(site.problems.splice(0).filter((problem) => !row.problem?.test(problem))).toEqual([]);
    await tab.close();
  });
}

test('page views of all apps: prerendered', { tag: '@long' }, async ({ engine, collector, site }) => {
  test.skip(engine !== 'chromium', 'it does not prerender');
  test.setTimeout(BUILD);
  const played: Row[] = [];
  for (const row of rows) if (!(await site.prepare(row))) played.push(row);
  await collector.clear();
  await withProfile(async (profile) => {
    const browser = await openEngine('chromium', profile);
    const tab = await browser.newTab();
    await tab.goto(`${site.origin}/away`);
    const [first, ...others] = played;
    await tab.evaluate((path) => void setTimeout(() => location.assign(path), 500), `/launch/${first?.id}`);
    // This only disconnects the driver, because a page that is debugged prerenders nothing.
    await tab.page?.context().browser()?.close();
    const counted: View[] = [];
    for (const row of played) {
      await expect.poll(() => site.turns.length, row.id).toBe(1);
      counted.push(...countedViews(row, 'prerendered'));
      await expect.poll(() => viewsOf(collector, site.origin), row.id).toEqual(counted);
      const next = others.shift();
      site.turns.shift()?.(next ? `/launch/${next.id}` : '/away');
    }
    await browser.kill();
  });
  expect(site.problems.splice(0)).toEqual([]);
});
