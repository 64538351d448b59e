// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import {
  type FirstTouchOptions,
  fetchTransport,
  firstTouch,
  type Store,
  type TrackerOptions,
} from '../../src/index.ts';
import { KEY, useCollector } from '../collector/running.ts';
import { useRelays } from '../relay/stage.ts';
import { AUDIENCE, claims, SECRET, token } from '../relay/tokens.ts';
import { createMemoryStore, openPage, start } from '../tracker/page.ts';

const SHOP = 'https://www.shop.example';
const AD = `${SHOP}/yarns/sea?utm_source=news&utm_campaign=spring&utm_private=x&gclid=1&email=ann@example.com#top`;

interface Visit {
  store?: Store;
  url?: string;
  referrer?: string;
  options?: Partial<TrackerOptions>;
  plugin?: FirstTouchOptions;
}

/** Opens a page with the plugin. */
const open = ({ store = createMemoryStore(), url = AD, referrer = '', options, plugin }: Visit = {}) => {
  vi.stubGlobal('sessionStorage', {});
  const page = openPage(url, referrer);
  const test = start({ baseUrl: '/clew', store, ...options, plugins: [firstTouch(plugin)] });
  const settle = async () => {
    await test.tracker.correlationValue().catch(() => {});
    await test.tracker.flush();
    await test.tracker.flush();
  };
  /** The first touch that has arrived, as properties of the customer and of the event. */
  const given = async () => {
    await settle();
    return {
      properties: test.upserts().map(({ primary_key, properties }) => [primary_key, properties]),
      events: test.events('first_touch').map(({ payload }) => payload),
    };
  };
  const end = async () => {
    await settle();
    page.leave();
  };
  return { page, ...test, given, end };
};

const TOUCH = {
  first_utm_source: 'news',
  first_utm_campaign: 'spring',
  first_referrer: 'https://search.example/find',
  first_landing_page: `${SHOP}/yarns/sea`,
};
const NOTHING = { properties: [], events: [] };
const FOUND = 'https://search.example/find?q=yarn';

describe('firstTouch', () => {
  it('gives campaign, referrer and landing page of the first visit to the customer, also as an event', async () => {
    const store = createMemoryStore();
    const first = open({ store, referrer: FOUND });
    first.tracker.track('seen');
    expect(await first.given()).toEqual(NOTHING);
    await first.end();
    const second = open({ store, url: `${SHOP}/club?utm_source=other`, referrer: `${SHOP}/yarns/sea` });
    second.tracker.identify('ann', { plan: 'pro' });
    expect(await second.given()).toEqual({
      properties: [
        ['ann', { plan: 'pro' }],
        ['ann', TOUCH],
      ],
      events: [TOUCH],
    });
    expect(second.names()).toEqual(['$identify', 'first_touch']);
    expect(second.errors).toEqual([]);
  });

  it('does so for a customer who is known on the first page, before the database has answered', async () => {
    const { tracker, given, names } = open({ referrer: FOUND });
    tracker.identify('ann');
    expect(await given()).toEqual({ properties: [['ann', TOUCH]], events: [TOUCH] });
    expect(names()).toEqual(['$identify', 'first_touch']);
  });

  it('does so once', async () => {
    const store = createMemoryStore();
    const first = open({ store });
    first.tracker.identify('ann');
    await first.end();
    const second = open({ store, url: `${SHOP}/?utm_source=other` });
    for (const key of ['ann', 'bob', 'ann']) second.tracker.identify(key);
    expect(await second.given()).toEqual(NOTHING);
  });

  it('has the address of the page that the visitor left before the database answered', async () => {
    const store = createMemoryStore();
    open({ store }).page.leave();
    const second = open({ store, url: `${SHOP}/club` });
    second.tracker.identify('ann');
    expect((await second.given()).events).toMatchObject([{ first_landing_page: `${SHOP}/yarns/sea` }]);
  });

  it('gives it once to a customer whose page leaves before the database has answered', async () => {
    const store = createMemoryStore();
    await open({ store, referrer: FOUND }).end();
    const second = open({ store, url: `${SHOP}/club` });
    second.tracker.identify('ann');
    second.page.leave();
    await Promise.resolve();
    const third = open({ store, url: `${SHOP}/club` });
    third.tracker.identify('ann');
    await third.given();
    const uuids = (name: string) => new Set([...second.events(name), ...third.events(name)].map(({ uuid }) => uuid));
    expect([uuids('$identify').size, uuids('first_touch').size]).toEqual([1, 1]);
    const upserts = [...second.upserts(), ...third.upserts()];
    expect(upserts.map(({ primary_key, properties }) => [primary_key, properties])).toContainEqual(['ann', TOUCH]);
  });

  it('gives it to a customer whose page crashes before the database has answered', async () => {
    const store = createMemoryStore();
    await open({ store, referrer: FOUND }).end();
    const hanging: Store = { ...store, transact: () => new Promise(() => {}) };
    open({ store: hanging, url: `${SHOP}/club` }).tracker.identify('ann');
    // The journal is written in a microtask.
    await Promise.resolve();
    const third = open({ store, url: `${SHOP}/club` });
    third.tracker.identify('ann');
    expect(await third.given()).toEqual({ properties: [['ann', TOUCH]], events: [TOUCH] });
    expect(third.events('$identify')).toHaveLength(1);
  });

  it('has no referrer of the site itself, and takes the parameters that are asked for', async () => {
    const { tracker, given } = open({ referrer: `${SHOP}/`, plugin: { parameters: ['gclid', 'ref'] } });
    tracker.identify('ann');
    expect((await given()).events).toEqual([{ first_gclid: '1', first_landing_page: `${SHOP}/yarns/sea` }]);
  });

  it('shortens long values', async () => {
    const { tracker, given } = open({ url: `${SHOP}/?utm_source=${'x'.repeat(60_000)}` });
    tracker.identify('ann');
    const [event] = (await given()).events as Record<string, string>[];
    expect(event?.first_utm_source).toHaveLength(500);
  });

  it('gives the first touch of a visitor who has logged out to no later customer', async () => {
    const store = createMemoryStore();
    const first = open({ store });
    first.tracker.reset();
    first.tracker.identify('bob');
    await first.end();
    const second = open({ store });
    second.tracker.reset();
    await second.end();
    const third = open({ store });
    third.tracker.identify('ann');
    // The first page’s visitor id ended before it was certain, so that the touch is bob’s.
    expect([...first.upserts(), ...second.upserts(), ...third.upserts()].map(({ primary_key }) => primary_key)).toEqual(
      ['bob'],
    );
  });

  it('gives the touch of an anonymous visitor to no customer after a reset', async () => {
    const store = createMemoryStore();
    const first = open({ store });
    await first.end();
    const second = open({ store });
    second.tracker.reset();
    second.tracker.identify('bob');
    expect(await second.given()).toEqual(NOTHING);
    await second.end();
    const third = open({ store });
    await third.given();
    expect(JSON.stringify(localStorage)).not.toContain('yarns/sea');
  });

  it('sets nothing for a customer who was identified before the plugin was there', async () => {
    const store = createMemoryStore();
    openPage();
    const before = start({ baseUrl: '/clew', store });
    before.tracker.identify('ann');
    await before.tracker.flush();
    before.tracker.stop();
    const { tracker, given } = open({ store });
    tracker.identify('ann');
    expect(await given()).toEqual(NOTHING);
  });

  it('keeps nothing before consent, and the landing page of that page after it', async () => {
    const { tracker, given, page } = open({ options: { consent: 'required' } });
    expect(JSON.stringify(localStorage)).toBe('{}');
    page.location.href = `${SHOP}/club`;
    tracker.identify('ann');
    tracker.consent(true);
    expect((await given()).events).toMatchObject([{ first_landing_page: `${SHOP}/yarns/sea` }]);
  });

  it('keeps nothing after a refusal, and gives nothing after a later consent', async () => {
    const { tracker, given } = open();
    await given();
    expect(JSON.stringify(localStorage)).toContain('yarns/sea');
    tracker.consent(false);
    expect(JSON.stringify(localStorage)).toBe('{}');
    tracker.consent(true);
    tracker.identify('ann');
    expect(await given()).toEqual(NOTHING);
  });

  it('gives nothing to a customer who logs out in the task of identify', async () => {
    const { tracker, given } = open();
    await given();
    tracker.identify('ann');
    tracker.reset();
    expect(await given()).toEqual(NOTHING);
  });

  it.each([7, 'text', null, [], { touch: 7 }, { id: 1, touch: { a: 'b' } }])(
    'ignores a stored value of other code: %j',
    async (firstTouch) => {
      const store = createMemoryStore();
      openPage();
      Object.assign(localStorage, { 'clew.plugins': JSON.stringify({ firstTouch }) });
      const { tracker, given, errors } = open({ store });
      tracker.identify('ann');
      expect((await given()).properties.flat()).not.toContainEqual({ a: 'b' });
      expect(errors).toEqual([]);
    },
  );

  it('ends with stop()', async () => {
    const { tracker, events } = open();
    await tracker.correlationValue();
    tracker.stop();
    tracker.identify('ann');
    await tracker.flush();
    expect(events('first_touch')).toEqual([]);
  });
});

describe('firstTouch with a relay that verifies identity tokens', () => {
  const collector = useCollector();
  const openRelay = useRelays(() => ({
    baseUrl: collector().url,
    apiKey: KEY,
    identityKeys: { audience: AUDIENCE, keys: [{ id: 'a', secret: SECRET }] },
  }));
  const signed = (sub: string) => ({ signature: token(claims({ sub })) });

  /** Pages of one visitor. */
  const openPages = async () => {
    const { url } = await openRelay();
    const store = createMemoryStore();
    return () => {
      const test = open({ store, options: { baseUrl: `${url}/clew`, transport: fetchTransport } });
      const finish = async () => {
        for (let n = 0; n < 4; n++) await test.tracker.flush();
      };
      return { ...test, finish };
    };
  };
  /** The identified customers with their properties, and to whom each `first_touch` belongs. */
  const served = async () => {
    const customers = await collector().customers();
    const events = (await collector().events()).filter(({ event }) => event === 'first_touch');
    return {
      customers: customers.flatMap(({ primaryKey, properties }) => (primaryKey ? [[primaryKey, properties]] : [])),
      events: events.map(({ customerId }) => customers.find(({ id }) => id === customerId)?.primaryKey),
    };
  };
  const given = { customers: [['ann', expect.objectContaining({ first_utm_source: 'news' })]], events: ['ann'] };

  it.each(['on the same page', 'on a later page'])(
    'follows the next $identify %s, once, if one was rejected',
    async (where) => {
      const openPage = await openPages();
      let test = openPage();
      test.tracker.identify('ann', undefined, signed('bob'));
      await test.finish();
      expect(test.dropped).toEqual([['$identify', 'rejected']]);
      if (where === 'on a later page') {
        test.page.leave();
        test = openPage();
      }
      test.tracker.identify('ann', undefined, signed('ann'));
      await test.finish();
      expect(await served()).toEqual(given);
      expect(JSON.stringify(localStorage)).not.toContain('yarns/sea');
      test.tracker.identify('ann', { plan: 'pro' }, signed('ann'));
      await test.finish();
      expect((await served()).events).toEqual(['ann']);
    },
  );

  it('is used up if a later page sends the $identify', async () => {
    const openPage = await openPages();
    const first = openPage();
    first.page.navigator.onLine = false;
    first.tracker.identify('ann', undefined, signed('ann'));
    await first.tracker.correlationValue();
    first.page.leave();
    await openPage().finish();
    expect(await served()).toEqual(given);
    expect(JSON.stringify(localStorage)).not.toContain('yarns/sea');
  });

  it('does not reach another customer than the rejected one', async () => {
    const test = (await openPages())();
    test.tracker.identify('ann', undefined, signed('bob'));
    await test.finish();
    test.tracker.identify('bob', undefined, signed('bob'));
    await test.finish();
    expect((await served()).customers).toEqual([['bob', {}]]);
  });
});
