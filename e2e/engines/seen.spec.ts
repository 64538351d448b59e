import type { ListedEvent } from '../../demo/collector/listings.ts';
import type { Tab } from '../faults/engines/engine.ts';
import { before } from '../faults/support/page.ts';
import type { Stage } from '../faults/support/stage.ts';
import { expect, test } from './staged.ts';

const VIEWS = 'data-page-views=';

/**
 * The addresses of each view, without the origin and the query that the test's site reads. The views are in the order of
 * their times. A reload may abort a request, whose events then arrive after the events that the page hands over.
 */
const viewsOf = async ({ demo, site }: Stage) => {
  const short = (url: unknown) => String(url).replace(site.origin, '').replace(/\?.*/, '');
  const events = await demo.events('page_view');
  const inTime = events.sort((one, other) => Date.parse(one.timestamp) - Date.parse(other.timestamp));
  return inTime.map(({ payload }) => {
    const { url, path, referrer } = payload as Record<string, unknown>;
    return [short(url), path, short(referrer)];
  });
};

const nameAndUrl = ({ event, payload }: ListedEvent) => [event, (payload as { url?: string }).url].join(' ').trim();

const push = (tab: Tab, path: string) =>
  tab.evaluate((to) => history.pushState({}, '', to + location.search), `/page/${path}`);

for (const has of [true, false]) {
  test(`one page view for each route, with back, forward, redirect and reload: ${
    has ? 'the engine as it is' : 'without the Navigation API'
  }`, { tag: has ? '@engines' : '@long' }, async ({ stage }) => {
    const old = before(() => Reflect.deleteProperty(window, 'navigation'));
    const tab = await stage.visit({ query: has ? VIEWS : `${VIEWS}&${old}` });
    await push(tab, 'products');
    await push(tab, 'cart');
    await tab.back();
    await stage.reached(tab, '/page/products');
    await tab.evaluate(() => history.forward());
    await stage.reached(tab, '/page/cart');
    await tab.evaluate(() => {
      history.pushState({}, '', `/page/account${location.search}`);
      history.replaceState({}, '', `/page/login${location.search}`);
    });
    await tab.evaluate(() => {
      Object.assign(window, { isOver: true });
      setTimeout(() => location.reload());
    });
    // Between two pages, `evaluate` fails.
    await expect.poll(() => tab.evaluate(() => 'isOver' in window).catch(() => true)).toBe(false);
    await stage.reached(tab, '/page/login');
    await expect
      .poll(() => viewsOf(stage))
      .toEqual([
        ['/page/1', '/page/1', ''],
        ['/page/products', '/page/products', '/page/1'],
        ['/page/cart', '/page/cart', '/page/products'],
        ['/page/products', '/page/products', '/page/cart'],
        ['/page/cart', '/page/cart', '/page/products'],
        ['/page/login', '/page/login', '/page/cart'],
        // In Chromium, a reloaded page is its own referrer.
        ['/page/login', '/page/login', expect.stringMatching(/^(.page.login)?$/)],
      ]);
  });
}

test('a page restored from the back/forward cache tracks a page view', { tag: '@engines' }, async ({ stage }) => {
  const tab = await stage.visit({ query: VIEWS });
  await tab.evaluate(() => {
    addEventListener('pageshow', ({ persisted }) => {
      localStorage.isBack = persisted;
    });
    location.href = '/blank';
  });
  await stage.reached(tab, '/blank');
  await tab.back();
  await stage.reached(tab, '/page/1');
  await expect.poll(() => tab.evaluate(() => localStorage.isBack)).toBe('true');
  const view = ['/page/1', '/page/1', ''];
  await expect.poll(() => viewsOf(stage)).toEqual([view, view]);
});

test('tracks clicks, changes and submits of marked elements, in shadow roots and before an unload', {
  tag: ['@engines', '@promise'],
}, async ({ stage }) => {
  const tab = await stage.visit({ query: 'data-clicks=' });
  await tab.evaluate(() => {
    const mark = (element: Element | null | undefined, event: string) => {
      if (element instanceof HTMLElement) Object.assign(element.dataset, { clewEvent: event, clewPlanName: 'pro' });
    };
    const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
    root.innerHTML = '<form><input type="checkbox" value="secret"><button>send</button></form>';
    const form = root.querySelector('form');
    form?.addEventListener('submit', (event) => event.preventDefault());
    mark(form, 'form_sent');
    mark(root.querySelector('input'), 'terms_agreed');
    mark(document.querySelector('#button'), 'button_clicked');
    mark(document.querySelector('#form'), 'form_left');
    // The drivers do not look into shadow roots.
    Object.assign(window, {
      clickInside: (selector: string) => root.querySelector<HTMLElement>(selector)?.click(),
    });
  });
  type Inside = typeof window & { clickInside(selector: string): void };
  await tab.click('#button');
  await tab.evaluate(() => (window as Inside).clickInside('input'));
  await tab.evaluate(() => (window as Inside).clickInside('button'));
  await tab.click('#submit');
  await stage.reached(tab, '/page/submitted');
  const names = ['button_clicked', 'terms_agreed', 'form_sent', 'form_left'];
  const marked = async () => (await stage.demo.events()).filter(({ event }) => names.includes(event));
  await expect.poll(async () => (await marked()).map(({ event }) => event).sort()).toEqual(names.toSorted());
  for (const { payload } of await marked()) expect(payload).toEqual({ planName: 'pro' });
});

test('tracks clicks as the engine passes them on: labels, disabled controls, links in SVG, controls that hide properties', {
  tag: '@engines',
}, async ({ stage }) => {
  const tab = await stage.visit({ query: 'data-clicks=outbound,downloads' });
  await tab.evaluate(() => {
    const page = document.createElement('div');
    page.innerHTML = `<div><label id="terms" data-clew-event="terms">terms <a id="link" href="#link">link</a>
        <input type="checkbox"></label></div>
      <div id="host" data-clew-event="card"></div>
      <div><label id="off" data-clew-event="off" for="disabled">off</label> <input id="disabled" disabled></div>
      <div><label id="both" data-clew-event="label" for="agree">both</label>
        <input id="agree" type="checkbox" data-clew-event="control"></div>
      <div><label id="chosen" data-clew-event="label">chosen
        <input type="radio" checked data-clew-event="control"></label></div>
      <fieldset disabled><label id="set" data-clew-event="set" for="within">set</label> <input id="within"></fieldset>
      <svg width="90" height="20"><a id="svg" href="https://other.example/svg"><text y="15">svg</text></a></svg>
      <svg width="90" height="20"><a id="old" xlink:href="https://other.example/old"><text y="15">old</text></a></svg>
      <map name="map"><area id="area" shape="rect" coords="0,0,50,50" href="https://other.example/yarn.pdf"></map>
      <form data-clew-event="sent"><input name="dataset"><input name="localName"><button id="send">send</button></form>`;
    // At the beginning of the body, where all elements are visible and can be clicked.
    document.body.prepend(page);
    const root = page.querySelector('#host')?.attachShadow({ mode: 'open' });
    if (root) root.innerHTML = '<label>card <input type="checkbox"></label>';
    for (const type of ['click', 'submit'])
      page.addEventListener(type, (event) => {
        const { id } = (event.target as Element).closest('[id]') ?? {};
        if (/svg|old|area/.test(`${id}`) || type === 'submit') event.preventDefault();
      });
  });
  for (const id of ['link', 'both', 'chosen', 'send']) await tab.click(`#${id}`);
  // The drivers cannot click on disabled controls, or in SVG, image maps and shadow roots.
  await tab.evaluate(() => {
    const click = new MouseEvent('click', { bubbles: true, cancelable: true });
    for (const id of ['off', 'set']) document.getElementById(id)?.click();
    for (const id of ['svg', 'old', 'area']) document.getElementById(id)?.dispatchEvent(click);
    document.querySelector('#host')?.shadowRoot?.querySelector('label')?.click();
  });
  const names = ['terms', 'label', 'control', 'card', 'off', 'set', 'sent', 'outbound_clicked', 'file_downloaded'];
  await expect
    .poll(async () => (await stage.demo.events()).filter(({ event }) => names.includes(event)).map(nameAndUrl))
    .toEqual([
      'terms',
      'control',
      'label',
      'sent',
      'outbound_clicked https://other.example/svg',
      'outbound_clicked https://other.example/old',
      'file_downloaded https://other.example/yarn.pdf',
      'card',
    ]);
});
