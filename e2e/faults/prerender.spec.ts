import { expect, fault } from './support/fault.ts';
import { before } from './support/page.ts';

/** Runs before the page's own code. Tracks as soon as the stub is there, and reports to the site whether the page is visible. */
const trackUnseen = ({ run, from, count }: { run: string; from: number; count: number }) => {
  type Unseen = Document & { prerendering?: boolean };
  const tell = (what: string) => fetch(`/api${location.pathname}/${what}`, { method: 'POST' });
  document.addEventListener('DOMContentLoaded', () => {
    for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
  });
  document.addEventListener('prerenderingchange', () => tell('activated'));
  addEventListener('load', async () => {
    await tell(`${(document as Unseen).prerendering ? 'un' : ''}seen`);
    localStorage[location.pathname] = 'loaded';
  });
};

/** Has both pages prerendered, discards the one and activates the other. */
const prerenderBoth = (urls: string[]) => {
  const prerender = async (url: string) => {
    const rules = Object.assign(document.createElement('script'), { type: 'speculationrules' });
    rules.textContent = JSON.stringify({ prerender: [{ source: 'list', urls: [url], eagerness: 'immediate' }] });
    document.head.append(rules);
    const { pathname } = new URL(url, location.href);
    while (!localStorage[pathname]) await new Promise((resolve) => setTimeout(resolve, 10));
    return rules;
  };
  // Waits until the driver is disconnected, because a page that is debugged prerenders nothing.
  setTimeout(async () => {
    const [discarded = '', seen = ''] = urls;
    const rules = await prerender(discarded);
    rules.remove();
    await prerender(seen);
    location.href = seen;
  }, 500);
};

fault(
  16,
  'document.prerendering: a page counts once when activated, never when discarded',
  async (stage) => {
    const browser = await stage.openOwn();
    const tab = await stage.visit({ browser });
    const discarded = stage.next(3);
    stage.drop(
      [0, 1, 2].map((index) => discarded.from + index),
      'never seen',
    );
    const seen = stage.next(3);
    const urls = [discarded, seen].map((numbers, index) => `/page/${index}?${before(trackUnseen, numbers)}`);
    await tab.evaluate(prerenderBoth, urls);
    // This only disconnects the driver.
    await tab.page?.context().browser()?.close();
    await expect.poll(() => stage.arrived()).toHaveLength(3);
    const told = stage.site.requests.map(({ path, uuids }) => (uuids.length ? 'batch' : path));
    expect(told).toEqual(['/api/page/0/unseen', '/api/page/1/unseen', '/api/page/1/activated', 'batch']);
    await browser.kill();
  },
  { cannot: { firefox: 'it does not prerender', webkit: 'it does not prerender' } },
);

/** Runs before the page's own code: reports by the page's own clock when it is activated, before any listener of the tracker. */
const reportActivation = () => {
  document.addEventListener('prerenderingchange', () => fetch(`/api/activated/${Date.now()}`, { method: 'POST' }));
  addEventListener('load', () => {
    localStorage[location.pathname] = 'loaded';
  });
};

fault(
  16,
  'document.prerendering: the page view has the time of the activation',
  async (stage) => {
    const browser = await stage.openOwn();
    const tab = await stage.visit({ browser });
    const urls = ['discarded', 'seen'].map((name) => `/page/${name}?data-page-views=&${before(reportActivation)}`);
    await tab.evaluate(prerenderBoth, urls);
    await tab.page?.context().browser()?.close();
    const views = () => stage.demo.events('page_view');
    await expect.poll(async () => (await views()).length).toBe(1);
    const activations = () => stage.site.requests.flatMap(({ path }) => /activated.(\d+)/.exec(path)?.[1] ?? []);
    await expect.poll(() => activations().length).toBe(1);
    const [view] = await views();
    expect(view?.payload).toMatchObject({ path: '/page/seen' });
    expect(Date.parse(view?.timestamp ?? '')).toBeGreaterThanOrEqual(Number(activations()[0]));
    await browser.kill();
  },
  { cannot: { firefox: 'it does not prerender', webkit: 'it does not prerender' }, isLong: true },
);
