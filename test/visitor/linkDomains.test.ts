// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkOptions, type TrackerOptions } from '../../src/api/options.ts';
import type { Store, Tracker } from '../../src/index.ts';
import { linkDomains } from '../../src/visitor/linkDomains.ts';
import { createMemoryStore, openPage, type Page, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000 }));

afterEach(() => vi.clearAllTimers());

it.each([
  undefined,
  'shop.example',
  ['https://shop.example'],
  ['Shop.example'],
  ['müller.example'],
  ['.shop.example'],
  [''],
  [{}],
])('linkDomains() refuses %j and names the expected list of domains', (domains) => {
  expect(() => linkDomains(domains as string[])).toThrow(/^clew: linkDomains: expected a list of domains/);
});

it('linkDomains() accepts domains, also in Punycode', () => {
  const links = linkDomains(['shop.example', 'xn--mller-kva.example', 'localhost']);
  expect(() => checkOptions({ baseUrl: '/clew', linkDomains: links })).not.toThrow();
});

it.each([true, 'shop.example', ['shop.example']])(
  'createTracker refuses linkDomains: %j, with the import to use',
  (given) => {
    const options = { baseUrl: '/clew', linkDomains: given } as unknown as TrackerOptions;
    expect(() => checkOptions(options)).toThrow('linkDomains: expected linkDomains(), imported from clew');
  },
);

const VISITOR = '01234567-89ab-4cde-8f01-23456789abcd';
const HERE = 'https://www.yarns.example/start';
const SHOP = 'https://www.shop.example/yarns';

/** The time in a link, in s from now. */
const time = (seconds = 0) => Math.ceil(Date.now() / 1000 + seconds).toString(36);
const startLinked = (options: Partial<TrackerOptions> = {}) =>
  start({ baseUrl: '/clew', linkDomains: linkDomains(['shop.example', 'help.example']), ...options });

describe('a page opened by a link', () => {
  const arrive = (query: string, referrer = SHOP) => {
    const page = openPage(`${HERE}${query}`, referrer);
    return { page, ...startLinked() };
  };

  it('takes the visitor id from the link', async () => {
    const { tracker, events } = arrive(`?clew_link=${VISITOR}.${time()}`);
    tracker.track('seen');
    await tracker.flush();
    expect(events()).toMatchObject([{ correlationValue: VISITOR }]);
  });

  it.each([
    ['alone', '?clew_link=x', ''],
    ['first', '?clew_link=x&a=1', '?a=1'],
    ['in the middle', '?a=1&clew_link=x&b=2', '?a=1&b=2'],
    ['last', '?a=1&clew_link=x', '?a=1'],
    ['before a fragment', '?clew_link=x#yarns', '#yarns'],
    ['before a query and a fragment', '?clew_link=x&a=1#yarns', '?a=1#yarns'],
  ])('removes the parameter from its address: %s', async (_where, query, left) => {
    const { page, tracker } = arrive(query);
    await tracker.correlationValue();
    expect(page.location.href).toBe(`${HERE}${left}`);
    expect(history.replaceState).toHaveBeenCalledWith({ of: 'the router' }, '', `${HERE}${left}`);
  });

  it('keeps an address without the parameter', async () => {
    const { page, tracker } = arrive('?myclew_link=x&a=1');
    await tracker.correlationValue();
    expect(page.location.href).toBe(`${HERE}?myclew_link=x&a=1`);
    expect(history.replaceState).not.toHaveBeenCalled();
  });

  it.each<[string, () => string, string?]>([
    ['older than two minutes', () => `${VISITOR}.${time(-125)}`],
    ['more than two minutes ahead', () => `${VISITOR}.${time(125)}`],
    ['without a time', () => VISITOR],
    ['of a visitor id that is none', () => `somebody.${time()}`],
    ['from a site that is not in the list', () => `${VISITOR}.${time()}`, 'https://shop.example.evil.example/'],
    ['from a site whose name only ends alike', () => `${VISITOR}.${time()}`, 'https://evilshop.example/'],
  ])('does not trust a link %s', async (_what, value, referrer) => {
    const { tracker } = arrive(`?clew_link=${value()}`, referrer);
    expect(await tracker.correlationValue()).not.toBe(VISITOR);
  });

  it.each<[string, number, string]>([
    ['without a referrer', 0, ''],
    ['from the domain itself', 0, 'https://shop.example/'],
    ['from the second domain', 0, 'https://help.example/'],
    ['of almost two minutes ago', -115, SHOP],
    ['of almost two minutes ahead', 115, SHOP],
  ])('trusts a link %s', async (_what, seconds, referrer) => {
    const { tracker } = arrive(`?clew_link=${VISITOR}.${time(seconds)}`, referrer);
    expect(await tracker.correlationValue()).toBe(VISITOR);
  });

  it('keeps the visitor id of a customer who is identified here', async () => {
    const store = createMemoryStore();
    openPage(HERE);
    const first = startLinked({ store });
    first.tracker.identify('ann');
    const known = await first.tracker.correlationValue();
    await first.tracker.flush();
    first.tracker.stop();
    openPage(`${HERE}?clew_link=${VISITOR}.${time()}`, SHOP);
    expect(await startLinked({ store }).tracker.correlationValue()).toBe(known);
  });

  it('gives an anonymous visitor of earlier pages the id of the link', async () => {
    const store = createMemoryStore();
    openPage(HERE);
    const first = startLinked({ store });
    await first.tracker.flush();
    first.tracker.stop();
    openPage(`${HERE}?clew_link=${VISITOR}.${time()}`, SHOP);
    expect(await startLinked({ store }).tracker.correlationValue()).toBe(VISITOR);
    openPage(HERE);
    expect(await startLinked({ store }).tracker.correlationValue()).toBe(VISITOR);
  });

  it('identifies an anonymous visitor under the id of the link', async () => {
    const { tracker, events } = arrive(`?clew_link=${VISITOR}.${time()}`);
    tracker.identify('ann');
    await tracker.flush();
    expect(events()).toMatchObject([{ event: '$identify', correlationValue: VISITOR }]);
  });

  it('starts a new visitor id for identify() if the link is from an identified customer', async () => {
    const { tracker, events } = arrive(`?clew_link=${VISITOR}.${time()}.1`);
    expect(await tracker.correlationValue()).toBe(VISITOR);
    tracker.identify('ann');
    await tracker.flush();
    expect(events()[0]?.correlationValue).not.toBe(VISITOR);
  });
});

describe('a link that comes again', () => {
  const OTHER = '89abcdef-89ab-4cde-8f01-23456789abcd';
  const land = (at: string, options: Partial<TrackerOptions>, referrer = SHOP) => {
    const page = openPage(at, referrer);
    return { page, ...startLinked(options) };
  };
  const next = (store: Store) => vi.advanceTimersByTimeAsync(5000).then(() => store);
  beforeEach(() => void vi.stubGlobal('sessionStorage', {}));

  it('is not accepted after reset(), also after a reload', async () => {
    const store = createMemoryStore();
    const link = `${HERE}?clew_link=${VISITOR}.${time()}`;
    const { tracker } = land(link, { store });
    expect(await tracker.correlationValue()).toBe(VISITOR);
    tracker.reset();
    const fresh = await tracker.correlationValue();
    await tracker.flush();
    tracker.stop();
    expect(await land(link, { store: await next(store) }).tracker.correlationValue()).toBe(fresh);
  });

  it('is accepted once in a page load, also by a page that the browser restores', async () => {
    const store = createMemoryStore();
    const { page, tracker } = land(`${HERE}?clew_link=${VISITOR}.${time()}`, { store });
    await tracker.correlationValue();
    page.leave();
    page.location.href = `${HERE}?clew_link=${OTHER}.${time()}`;
    page.restore();
    expect(await tracker.correlationValue()).toBe(VISITOR);
    expect(page.location.href).toBe(HERE);
  });

  it('is not accepted after a refusal, which removes it from the address', async () => {
    const { page, tracker } = land(`${HERE}?clew_link=${VISITOR}.${time()}`, { consent: 'required' });
    tracker.consent(false);
    expect(page.location.href).toBe(HERE);
    page.location.href = `${HERE}?clew_link=${VISITOR}.${time()}`;
    tracker.consent(true);
    expect(await tracker.correlationValue()).not.toBe(VISITOR);
  });

  it('counts with another visitor id if no customer is identified here', async () => {
    const store = createMemoryStore();
    const first = land(`${HERE}?clew_link=${VISITOR}.${time()}.1`, { store });
    expect(await first.tracker.correlationValue()).toBe(VISITOR);
    await first.tracker.flush();
    first.tracker.stop();
    const { tracker, events } = land(`${HERE}?clew_link=${OTHER}.${time()}`, { store: await next(store) });
    expect(await tracker.correlationValue()).toBe(OTHER);
    tracker.identify('ann');
    await tracker.flush();
    expect(events().at(-1)).toMatchObject({ event: '$identify', correlationValue: OTHER });
  });

  it('marks the same visitor id as identified by the other site', async () => {
    const store = createMemoryStore();
    const first = land(`${HERE}?clew_link=${VISITOR}.${time()}`, { store });
    await first.tracker.flush();
    first.tracker.stop();
    const { tracker } = land(`${HERE}?clew_link=${VISITOR}.${time()}.1`, { store: await next(store) });
    expect(await tracker.correlationValue()).toBe(VISITOR);
    tracker.identify('ann');
    expect(await tracker.correlationValue()).not.toBe(VISITOR);
  });

  it('marks the visitor id at a second service, too, whose tracker starts later', async () => {
    const link = `${HERE}?clew_link=${VISITOR}.${time()}.1`;
    const navigation = { name: link } as PerformanceEntry;
    vi.spyOn(performance, 'getEntriesByType').mockReturnValue([navigation]);
    const store = createMemoryStore();
    await land(link, { store, baseUrl: '/one' }).tracker.flush();
    const { tracker } = startLinked({ store, baseUrl: '/two' });
    expect(await tracker.correlationValue()).toBe(VISITOR);
    tracker.identify('ann');
    expect(await tracker.correlationValue()).not.toBe(VISITOR);
  });

  it('keeps the visitor id at a second service if the first one has identified it here', async () => {
    const store = createMemoryStore();
    const first = land(HERE, { store, baseUrl: '/one' });
    first.tracker.identify('ann');
    await first.tracker.flush();
    const visitor = await first.tracker.correlationValue();
    first.tracker.stop();
    await next(store);
    const { tracker } = land(`${HERE}?clew_link=${visitor}.${time()}.1`, { store, baseUrl: '/two' });
    tracker.identify('ann');
    expect(await tracker.correlationValue()).toBe(visitor);
  });

  it('is accepted by the next page if the first one leaves before the database has answered', async () => {
    const store = createMemoryStore();
    const { page } = land(`${HERE}?clew_link=${VISITOR}.${time()}`, { store });
    expect(page.location.href).toBe(HERE);
    page.leave();
    expect(await land(`${HERE}/home`, { store }, HERE).tracker.correlationValue()).toBe(VISITOR);
    expect(sessionStorage).toEqual({});
  });

  it.each(['', `?clew_link=${VISITOR}.${time()}`])(
    'is accepted by the page to which the first one redirects before clew is there: /home%s',
    async (query) => {
      const link = `${HERE}?clew_link=${VISITOR}.${time()}`;
      const { page, tracker } = land(`https://www.yarns.example/home${query}`, {}, link);
      expect(await tracker.correlationValue()).toBe(VISITOR);
      expect(page.location.search).toBe('');
    },
  );

  it('is not accepted from a referrer of a site that is not in the list', async () => {
    const link = `https://evil.example/?clew_link=${VISITOR}.${time()}`;
    expect(await land(HERE, {}, link).tracker.correlationValue()).not.toBe(VISITOR);
  });
});

describe('a link to another domain', () => {
  /** A link as an event finds it. */
  const linkTo = (attribute: string | null) => {
    let href = attribute;
    const url = () => new URL(href ?? '', HERE);
    return {
      localName: 'a',
      get protocol() {
        return url().protocol;
      },
      get hostname() {
        return url().hostname;
      },
      get host() {
        return url().host;
      },
      get href() {
        return url().href;
      },
      get search() {
        return url().search;
      },
      set search(search: string) {
        href = Object.assign(url(), { search }).href;
      },
      hasAttribute: (name: string) => name === 'href',
      getAttribute: (name: string) => (name === 'href' ? href : null),
      setAttribute: (name: string, value: string | null) => {
        if (name === 'href') href = value;
      },
    };
  };
  /** Clicks a link. Returns the address to which the browser navigates. */
  const click = (page: Page, link: ReturnType<typeof linkTo>, type = 'click', button = 0) => {
    page.fire(type, { button, composedPath: () => [{ localName: 'b' }, link, page.document] });
    return link.href;
  };

  it('has the visitor id during the click and its own address afterwards', async () => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    const visitor = await tracker.correlationValue();
    const link = linkTo('https://help.example/faq?a=1#top');
    expect(click(page, link)).toBe(`https://help.example/faq?clew_link=${visitor}.${time()}&a=1#top`);
    // A second listener of the page may click the link again.
    expect(click(page, link)).toBe(`https://help.example/faq?clew_link=${visitor}.${time()}&a=1#top`);
    vi.advanceTimersByTime(0);
    expect(link.href).toBe('https://help.example/faq?a=1#top');
  });

  it.each<[what: string, change: (href: string) => string | null, expected: string | null]>([
    ['another address', () => '/out?to=faq', '/out?to=faq'],
    ['a parameter more', (href) => `${href}&b=2`, 'https://help.example/faq?a=1&b=2'],
    ['no address', () => null, null],
  ])('keeps %s, which the page has given it during the click', async (_what, change, expected) => {
    const page = openPage(HERE);
    await startLinked().tracker.correlationValue();
    const link = linkTo('https://help.example/faq?a=1');
    const linked = click(page, link);
    expect(linked).toContain('clew_link');
    link.setAttribute('href', change(linked));
    vi.advanceTimersByTime(0);
    expect(link.getAttribute('href')).toBe(expected);
  });

  it.each(['#part', '/faq', 'https://www.yarns.example/'])(
    'is unchanged within the host of the page, whose domain is in the list: %s',
    async (href) => {
      const page = openPage(HERE);
      const { tracker } = startLinked({ linkDomains: linkDomains(['yarns.example']) });
      const visitor = await tracker.correlationValue();
      const link = linkTo(href);
      click(page, link);
      expect(link.getAttribute('href')).toBe(href);
      expect(click(page, linkTo('https://app.yarns.example/'))).toContain(visitor);
      expect(click(page, linkTo('https://www.yarns.example:8080/'))).toContain(visitor);
    },
  );

  it.each([
    ['a subdomain', 'https://www.shop.example/', 'click', 0],
    ['the middle button', 'https://shop.example/', 'auxclick', 1],
  ])('has the visitor id also for %s', async (_what, href, type, button) => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    const visitor = await tracker.correlationValue();
    expect(click(page, linkTo(href), type, button)).toBe(`${href}?clew_link=${visitor}.${time()}`);
  });

  it.each<[string, (tracker: Tracker) => unknown]>([
    ['resets the visitor', (tracker) => tracker.reset()],
    ['identifies another customer', (tracker) => tracker.identify('bob')],
  ])('has the later visitor id if a listener of the click %s', async (_what, act) => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    tracker.identify('ann');
    const former = await tracker.correlationValue();
    const link = linkTo('https://help.example/faq?a=1');
    page.window.addEventListener('click', () => act(tracker));
    const linked = click(page, link);
    const visitor = await tracker.correlationValue();
    expect(visitor).not.toBe(former);
    expect(linked).toMatch(new RegExp(`^https://help.example/faq\\?clew_link=${visitor}\\.[^&]+&a=1$`));
    vi.advanceTimersByTime(0);
    expect(link.href).toBe('https://help.example/faq?a=1');
  });

  it('has no visitor id if a listener of the click refuses consent', async () => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    await tracker.correlationValue();
    page.window.addEventListener('click', () => tracker.consent(false));
    expect(click(page, linkTo('https://help.example/faq'))).toBe('https://help.example/faq');
  });

  it('has the visitor id of this click if the page has kept an earlier address', async () => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    await tracker.correlationValue();
    const kept = click(page, linkTo('https://help.example/faq'));
    vi.advanceTimersByTime(0);
    tracker.reset();
    const link = linkTo(kept);
    expect(click(page, link)).toBe(`https://help.example/faq?clew_link=${await tracker.correlationValue()}.${time()}`);
    vi.advanceTimersByTime(0);
    expect(link.href).toBe('https://help.example/faq');
  });

  it('marks the visitor as a customer without the primary key', async () => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    tracker.identify('ann');
    const visitor = await tracker.correlationValue();
    expect(click(page, linkTo('https://shop.example/'))).toBe(`https://shop.example/?clew_link=${visitor}.${time()}.1`);
  });

  it.each([
    ['a domain that is not in the list', 'https://other.example/', 'click', 0],
    ['a domain whose name only ends alike', 'https://myshop.example/', 'click', 0],
    ['the right button', 'https://shop.example/', 'auxclick', 2],
  ])('is unchanged for %s', async (_what, href, type, button) => {
    const page = openPage(HERE);
    await startLinked().tracker.correlationValue();
    expect(click(page, linkTo(href), type, button)).toBe(href);
  });

  it.each<[string, (tracker: Tracker) => unknown]>([
    ['consent is refused', (tracker) => tracker.consent(false)],
    ['the tracker is stopped', (tracker) => tracker.stop()],
  ])('is unchanged once %s', async (_what, act) => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    await tracker.correlationValue();
    act(tracker);
    expect(click(page, linkTo('https://shop.example/'))).toBe('https://shop.example/');
  });

  it('is unchanged on a page that has left, once a refusal has erased its mark', async () => {
    const page = openPage(HERE);
    const { tracker } = startLinked();
    const visitor = await tracker.correlationValue();
    page.leave();
    expect(click(page, linkTo('https://shop.example/'))).toContain(visitor);
    delete localStorage['clew.used /clew'];
    expect(click(page, linkTo('https://shop.example/'))).toBe('https://shop.example/');
    page.restore();
    expect(click(page, linkTo('https://shop.example/'))).toBe('https://shop.example/');
  });

  it('is unchanged before consent', () => {
    const page = openPage(HERE);
    startLinked({ consent: 'required' });
    expect(click(page, linkTo('https://shop.example/'))).toBe('https://shop.example/');
  });

  it('a click beside links changes nothing', async () => {
    const page = openPage(HERE);
    await startLinked().tracker.correlationValue();
    expect(() => page.fire('click', { button: 0, composedPath: () => [page.document] })).not.toThrow();
  });
});
