import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RELAY_HEADER } from '../src/wire.ts';
import { openPage } from './tracker/page.ts';

type Clew = (method: string, ...args: unknown[]) => unknown;

afterEach(() => {
  // A page without network hands nothing over as it stops.
  vi.stubGlobal('navigator', { onLine: false });
  (globalThis as { clew?: Clew }).clew?.('stop');
  Reflect.deleteProperty(globalThis, 'clew');
  Reflect.deleteProperty(Object.prototype, 'inspect');
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

afterEach(() => {
  indexed = new IDBFactory();
});

/** IndexedDB of the origin. */
let indexed = new IDBFactory();
/** Events that have reached the relay. */
let arrived: Record<string, unknown>[] = [];

let page: ReturnType<typeof openPage>;

/** Runs the script tag with these `data-` attributes, on a page of its own. */
const load = async (dataset: Record<string, string> = {}, prerendering = false): Promise<Clew> => {
  page = openPage();
  const { document } = page;
  Object.assign(document, {
    prerendering,
    currentScript: { dataset: { baseUrl: '/clew', compress: 'false', ...dataset } },
  });
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('indexedDB', indexed);
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  arrived = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
    arrived.push(...JSON.parse(body).batch);
    return new Response('{}', { headers: { [RELAY_HEADER]: '1' } });
  });
  vi.resetModules();
  await import('../src/snippet.ts');
  return (globalThis as unknown as { clew: Clew }).clew;
};

/** The stub's function, with the calls that it has kept. */
const keepCalls = (q: unknown[]) => {
  const stub = Object.assign(() => {}, { q });
  vi.stubGlobal('clew', stub);
  return stub;
};

const names = () => arrived.map(({ event }) => event);

describe("clew('use', plugin)", () => {
  const plugin = vi.fn((tracker: { track(event: string): void }, tools: { onTrack(see: unknown): void }) => {
    tracker.track('started');
    tools.onTrack(({ event }: { event: string }) => event !== 'draft' && { by: 'plugin' });
    return () => {};
  });
  const draft = ['track', 'draft'];

  it('works before and after the bundle loads, and null from the page before is skipped', async () => {
    const logged = vi.spyOn(console, 'error');
    const at = Date.now();
    vi.stubGlobal(
      'clew',
      Object.assign(() => {}, {
        q: [
          [at, ['use', plugin]],
          [at, draft],
        ],
      }),
    );
    vi.stubGlobal('localStorage', { 'clew.calls 1': JSON.stringify([[at, ['use', null]]]) });
    const clew = await load();
    clew('track', 'signup');
    clew('use', () => {
      clew('track', 'second');
      return () => {};
    });
    await clew('flush');
    expect(arrived.map(({ event, payload }) => [event, payload])).toEqual([
      ['started', undefined],
      ['signup', { by: 'plugin' }],
      ['second', { by: 'plugin' }],
    ]);
    expect(logged).not.toHaveBeenCalled();
  });
});

describe("clew('use', plugin) on the stub", () => {
  it('lets the plugin see the calls before it', async () => {
    const see = (_tracker: unknown, tools: { onTrack(see: () => object): void }) => {
      tools.onTrack(() => ({ by: 'plugin' }));
      return () => {};
    };
    const at = Date.now();
    const q = [
      [at - 2, ['track', 'first']],
      [at - 1, ['use', see]],
    ];
    keepCalls(q);
    const clew = await load();
    await clew('flush');
    expect(arrived.map(({ event, payload }) => [event, payload])).toEqual([['first', { by: 'plugin' }]]);
  });
});

describe('the promise of a call on the stub', () => {
  /** The stub, before the bundle loads. */
  const loadStub = async (): Promise<(...call: unknown[]) => Promise<unknown>> => {
    vi.stubGlobal('window', globalThis);
    vi.stubGlobal('addEventListener', () => {});
    vi.resetModules();
    await import('../src/stub.ts');
    return (globalThis as unknown as { clew: (...call: unknown[]) => Promise<unknown> }).clew;
  };

  it('resolves to the result of the method', async () => {
    const early = await loadStub();
    const onError = vi.fn();
    const calls = [['track', 'signup'], ['correlationValue'], ['flush'], ['stats'], ['on', 'error', onError]];
    const results = Promise.all(calls.map((call) => early(...call)));
    const clew = await load();
    const [tracked, visitorId, flushed, stats, off] = await results;
    expect([tracked, flushed]).toEqual([undefined, undefined]);
    expect(visitorId).toBe(await clew('correlationValue'));
    expect(stats).toMatchObject({ tracked: 1 });
    // `flush` has resolved, so the events have arrived.
    expect(names()).toEqual(['signup']);
    (off as () => void)();
    clew('identify', '');
    expect(onError).not.toHaveBeenCalled();
  });

  it('rejects as the method does', async () => {
    const early = await loadStub();
    early('consent', false);
    const visitorId = early('correlationValue');
    await load();
    await expect(visitorId).rejects.toThrow('the visitor has refused');
  });
});

describe("clew('ready', callback)", () => {
  it('calls back in turn with the calls around it, and null from the page before is skipped', async () => {
    const at = Date.now();
    const ready = vi.fn((tracker: { track(event: string): void }) => tracker.track('second'));
    const calls = [
      ['track', 'first'],
      ['ready', ready],
      ['track', 'third'],
    ].map((call, i) => [at - 5 + i, call]);
    vi.stubGlobal(
      'clew',
      Object.assign(() => {}, { q: calls }),
    );
    vi.stubGlobal('localStorage', { 'clew.calls 1': JSON.stringify([[at - 9, ['ready', null]]]) });
    const clew = await load();
    const errors: unknown[] = [];
    clew('on', 'error', (error: unknown) => errors.push(error));
    expect(ready).toHaveBeenCalledOnce();
    await clew('flush');
    expect(names()).toEqual(['first', 'second', 'third']);
    expect(errors).toEqual([]);
  });

  it('calls back at once after the bundle has loaded, and reports what the callback throws', async () => {
    const clew = await load();
    const errors: string[] = [];
    clew('on', 'error', ({ message }: Error) => errors.push(message));
    const visitorId = new Promise((resolve) => {
      clew('ready', (tracker: { correlationValue(): Promise<string> }) => resolve(tracker.correlationValue()));
    });
    expect(await visitorId).toBe(await clew('correlationValue'));
    clew('ready', () => {
      throw new Error('broken');
    });
    expect(errors).toEqual(['clew: broken']);
  });
});

describe('a page whose libraries add to Object.prototype', () => {
  it.each([
    ['a function', () => 'added'],
    [
      'a function that throws',
      () => {
        throw new Error('not a map');
      },
    ],
    ['null', null],
  ])('%s is no option of the script tag, and its events arrive', async (_what, addition) => {
    Object.assign(Object.prototype, { inspect: addition });
    const clew = await load();
    clew('track', 'seen', { n: 1 });
    await clew('flush');
    expect(arrived).toMatchObject([{ event: 'seen', payload: { n: 1 } }]);
  });
});

describe('window.clew', () => {
  it.each(['toString', 'constructor', '__proto__', 'inspect'])('has no method %s', async (method) => {
    const clew = await load();
    const inherited = vi.fn();
    Object.assign(Object.prototype, { inspect: inherited });
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(clew(method)).toBeUndefined();
    expect(logged.mock.calls).toEqual([[`clew: no method ${method}`]]);
    expect(inherited).not.toHaveBeenCalled();
  });

  it('ignores a data- attribute that is named like a method of all objects', async () => {
    const clew = await load({ toString: 'x', constructor: 'x' });
    clew('track', 'seen');
    await clew('flush');
    expect(names()).toEqual(['seen']);
  });
});

describe('data-visitor-id', () => {
  const ID = '01234567-89ab-4cde-8f01-23456789abcd';

  it.each([ID, '12345678-1234-4234-8234-123456789012'])('is the first visitor id: %s', async (visitorId) => {
    const clew = await load({ visitorId });
    expect(await clew('correlationValue')).toBe(visitorId);
  });

  it.each(['', 'true', '{{ visitor }}', ID.toUpperCase()])(
    'with %j throws an error that names it',
    async (visitorId) => {
      await expect(load({ visitorId })).rejects.toThrow(
        `clew: visitorId: expected a lower-case UUID, not ${visitorId}`,
      );
    },
  );
});

describe('attributes that list words', () => {
  const PLUGINS = '../src/page/clicks.ts,../src/page/navigation.ts,../src/visitor/linkDomains.ts'.split(',');
  afterEach(() => {
    for (const path of PLUGINS) vi.doUnmock(path);
  });

  /** The options that the plugins receive, and the messages that the console logs. */
  const read = async (dataset: Record<string, string>) => {
    const given: Record<string, unknown> = {};
    const take = (name: string) => (options: unknown) => {
      given[name] = options;
      return () => [() => {}, () => () => {}];
    };
    for (const path of PLUGINS)
      vi.doMock(path, async (original) => ({
        ...(await original<object>()),
        clicks: take('clicks'),
        pageViews: take('pageViews'),
        linkTo: take('linkDomains'),
      }));
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    await load(dataset);
    return { given, logged: logged.mock.calls.flat() };
  };
  const both = { outbound: true, downloads: true };

  it.each([
    ['clicks', 'outbound downloads', both],
    ['clicks', 'outbound,downloads', both],
    ['clicks', ' Outbound,\n\tDOWNLOADS; ', both],
    ['clicks', '["outbound", "downloads"]', both],
    ['clicks', 'outbound', { outbound: true }],
    ['pageViews', 'hash, Query\ncampaign', { hash: true, query: true, campaign: true }],
    ['linkDomains', 'Shop.example,help.example\n  localhost, ', ['shop.example', 'help.example', 'localhost']],
    ['linkDomains', 'xn--mller-kva.example', ['xn--mller-kva.example']],
  ])('reads %s: %j', async (name, text, expected) => {
    expect(await read({ [name]: text })).toEqual({ given: { [name]: expected }, logged: [] });
  });

  it.each(['', 'true', 'True', ' yes ', 'ON'])('reads no word from %j, and turns the plugins on', async (text) => {
    const { given, logged } = await read({ clicks: text, pageViews: text });
    expect(Object.keys(given)).toEqual(['pageViews', 'clicks']);
    expect(Object.values(given)).not.toContainEqual(expect.objectContaining(both));
    expect(logged).toEqual([]);
  });

  it.each(['false', 'False', 'no', 'off', '0'])('reads %j as an option that is off', async (text) => {
    const names = ['clicks', 'pageViews', 'linkDomains', 'cookieDomain', 'context'];
    // A number is a wrong value of a boolean, and throws.
    if (text !== '0') names.push('debug', 'respectGpc');
    expect(await read(Object.fromEntries(names.map((name) => [name, text])))).toEqual({ given: {}, logged: [] });
    (globalThis as { clew?: Clew }).clew?.('track', 'seen');
    await (globalThis as { clew?: Clew }).clew?.('flush');
    expect(arrived).toMatchObject([{ event: 'seen' }]);
    expect(arrived[0]?.payload).toBeUndefined();
  });

  it.each(['.help.example', '*.help.example', 'https://help.example', 'help.example.'])(
    'logs %j in linkDomains, which is no domain, and reads the others',
    async (word) => {
      const { given, logged } = await read({ linkDomains: `shop.example ${word}` });
      expect(given).toEqual({ linkDomains: ['shop.example'] });
      expect(logged).toEqual([`clew: linkDomains: expected domains, not ${word}`]);
    },
  );

  it.each([
    ['clicks', 'outbund, downloads', { downloads: true }, 'outbound,downloads, not outbund'],
    ['clicks', 'hash', {}, 'outbound,downloads, not hash'],
    ['pageViews', 'hash|query', {}, 'hash,query,campaign, not hash|query'],
  ])('logs an unknown word in %s: %j, and reads the others', async (name, text, expected, message) => {
    expect(await read({ [name]: text })).toEqual({
      given: { [name]: expected },
      logged: [`clew: ${name}: expected ${message}`],
    });
  });
});

it('an earlier page that has called `stop` on the stub does not stop this one', async () => {
  indexed = new IDBFactory();
  openPage();
  localStorage[KEY] = JSON.stringify([[Date.now() - 60_000, ['stop']]]);
  const clew = await load();
  clew('track', 'seen');
  await clew('flush');
  expect(names()).toEqual(['seen']);
});

it.each([
  ['Granted', ['seen']],
  [' granted ', ['seen']],
  ['Required', []],
])('data-consent=%j is read in any letters', async (consent, arrives) => {
  const clew = await load({ consent });
  clew('track', 'seen');
  await clew('flush');
  expect(names()).toEqual(arrives);
});

it.each(['given', 'granted, really', ''])('data-consent=%j is an error', async (consent) => {
  await expect(load({ consent })).rejects.toThrow("clew: consent: expected 'granted' or 'required', not ");
});

/** The key under which a stub saves the calls of a page. */
const KEY = 'clew.calls 1770000000000 4000000001,17,305419896,2863311530';
const SAVED = [
  ['track', 'a'],
  ['identify', 'ann'],
  ['page', { path: '/b' }],
  ['track', 'c'],
].map((call) => [Date.now() - 60_000, call]);

/** A visit of a browser that has only these calls of an earlier page. Returns the ids of the events that arrive. */
const replay = async (key: string) => {
  indexed = new IDBFactory();
  openPage();
  localStorage[key] = JSON.stringify(SAVED);
  const clew = await load();
  await clew('flush');
  expect(names()).toEqual(['a', '$identify', 'page_view', 'c']);
  expect(localStorage[key]).toBeUndefined();
  const ids = arrived.map(({ uuid }) => uuid as string);
  await clew('stop');
  Reflect.deleteProperty(globalThis, 'clew');
  return ids;
};

describe('calls that the stub has saved', () => {
  it('become the same events whenever they are replayed, as after a SIGKILL', async () => {
    const first = await replay(KEY);
    expect(await replay(KEY)).toEqual(first);
    expect(new Set(first).size).toBe(4);
    for (const id of first) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  });

  it('begin the same visitor id for another person in each tab that replays them', async () => {
    const visit = async () => {
      indexed = new IDBFactory();
      openPage();
      for (const key of Object.keys(localStorage)) delete localStorage[key];
      const calls = [['identify', 'ann'], ['identify', 'bob'], ['track', 'of bob'], ['reset'], ['track', 'of nobody']];
      localStorage[KEY] = JSON.stringify(calls.map((call) => [Date.now() - 60_000, call]));
      const clew = await load();
      await clew('flush');
      await clew('stop');
      Reflect.deleteProperty(globalThis, 'clew');
      return arrived.filter(({ event }) => /^of/.test(`${event}`)).map(({ correlationValue }) => correlationValue);
    };
    const first = await visit();
    expect(await visit()).toEqual(first);
    expect(new Set(first).size).toBe(2);
  });

  it('of another customer are sent, and the first view of the next page is of that customer', async () => {
    const ann = await load();
    ann('identify', 'ann');
    await ann('flush');
    await ann('stop');
    Reflect.deleteProperty(globalThis, 'clew');
    // Calls within a tenth of a second have no order.
    await new Promise((resolve) => setTimeout(resolve, 250));
    localStorage[KEY] = JSON.stringify([[Date.now() - 2, ['identify', 'bob']]]);
    // The page before has run until this one arrived, 400 ms after the click.
    vi.stubGlobal('performance', { now: () => 401, getEntriesByType: () => [{ name: '', responseStart: 400 }] });
    const clew = await load({ pageViews: '' });
    await vi.waitUntil(() => (clew('stats') as { tracked: number }).tracked === 2, { interval: 1 });
    clew('track', 'of bob');
    await clew('flush');
    expect(names()).toEqual(['$identify', 'page_view', 'of bob']);
    expect(arrived[0]?.payload).toEqual({ distinct_id: 'bob' });
    expect(new Set(arrived.map(({ correlationValue }) => correlationValue)).size).toBe(1);
  });

  it('come before those of the page, although the clock was set back since', async () => {
    openPage();
    localStorage[KEY] = JSON.stringify(
      [
        ['identify', 'ann'],
        ['track', 'of ann'],
      ].map((call) => [Date.now() + 60_000, call]),
    );
    const q = [
      ['identify', 'bob'],
      ['track', 'of bob'],
    ].map((call) => [Date.now(), call]);
    keepCalls(q);
    const clew = await load();
    clew('track', 'of bob');
    await clew('flush');
    expect(names()).toEqual(['$identify', 'of ann', '$identify', 'of bob', 'of bob']);
    const [, , bob, ...ofBob] = arrived.map(({ correlationValue }) => correlationValue);
    expect(ofBob).toEqual([bob, bob]);
  });

  it('lack the arguments that were undefined, of which JSON has made null', async () => {
    openPage();
    localStorage[KEY] = JSON.stringify([[Date.now(), ['track', 'a', undefined]]]);
    const clew = await load();
    await clew('flush');
    expect(arrived[0]).not.toHaveProperty('payload');
  });

  it('of another page become other events', async () => {
    const first = await replay(KEY);
    const others = await replay('clew.calls 1770000000000 4000000001,18,305419896,2863311530');
    expect(new Set([...first, ...others]).size).toBe(8);
  });

  it('of `page` become views of the page that made them', async () => {
    openPage();
    const link = 'https://shop.example/yarns?clew_link=x.y';
    const calls = [
      [
        ['page', { path: '/b' }],
        ['Yarns', `${link}&a=1`, '/yarns', link],
      ],
      [['page'], ['', link, '/yarns', '']],
      [['page'], false],
      [['page'], { url: link }],
      [
        ['track', 'a'],
        ['Yarns', link, '/yarns', ''],
      ],
    ].map((call) => [Date.now(), ...call]);
    localStorage[KEY] = JSON.stringify(calls);
    const clew = await load();
    const { href: url, pathname: path } = location;
    const { title, referrer } = document;
    await clew('flush');
    const here = { url, path, title, referrer };
    const [yarns, search] = ['https://shop.example/yarns', 'https://shop.example/yarns?a=1'];
    expect(arrived.map(({ payload }) => payload)).toEqual([
      { title: 'Yarns', url: search, path: '/b', referrer: yarns },
      { title, url: yarns, path: '/yarns', referrer: '' },
      here,
      here,
      undefined,
    ]);
  });

  it('are left to another page while the page is prerendering', async () => {
    openPage();
    const saved = JSON.stringify(SAVED);
    localStorage[KEY] = saved;
    const clew = await load({}, true);
    expect(localStorage[KEY]).toBe(saved);
    Object.assign(document, { prerendering: false });
    document.dispatchEvent(new Event('prerenderingchange'));
    await clew('flush');
    expect(names()).toEqual([]);
    await clew('stop');
    Reflect.deleteProperty(globalThis, 'clew');
  });

  it('are replayed by a page that comes back from the back/forward cache', async () => {
    const clew = await load();
    clew('identify', 'ann');
    clew('track', 'of ann');
    await clew('flush');
    page.leave();
    localStorage[KEY] = JSON.stringify([['reset'], ['track', 'a']].map((call) => [Date.now(), call]));
    await new Promise((resolve) => setTimeout(resolve, 250));
    page.restore();
    clew('track', 'b');
    await clew('flush');
    expect(names()).toEqual(['$identify', 'of ann', 'a', 'b']);
    const [ann, ofAnn, a, b] = arrived.map(({ correlationValue: id }) => id);
    expect([ofAnn, b]).toEqual([ann, a]);
    expect(a).not.toBe(ann);
    expect(localStorage[KEY]).toBeUndefined();
  });

  it.each(['clew.calls', 'clew.calls 1770000000000.1234567', 'clew.calls 1770000000000'])(
    'by an earlier version, as %s, are delivered under new ids',
    async (key) => {
      const first = await replay(key);
      const second = await replay(key);
      expect(new Set([...first, ...second]).size).toBe(8);
    },
  );
});

describe('an event that a listener tracks while a call is replayed', () => {
  it('has an id of its own, and the time of the call', async () => {
    const listen = (tracker: { on(signal: string, listener: () => void): () => void; track(event: string): void }) =>
      tracker.on('change', () => tracker.track('before'));
    openPage();
    // The page has just been loaded. Node's process is older.
    vi.stubGlobal('performance', { now: () => 1 });
    const at = Date.now() - 60_000;
    localStorage[KEY] = JSON.stringify([
      [at, ['identify', 'ann']],
      [at + 1000, ['identify', 'bob']],
    ]);
    const q = [
      [Date.now(), ['use', listen]],
      [Date.now(), ['identify', 'carl']],
    ];
    keepCalls(q);
    const clew = await load();
    await clew('flush');
    expect(arrived.map(({ event, payload }) => [event, (payload as { distinct_id?: string })?.distinct_id])).toEqual([
      ['$identify', 'ann'],
      ['$identify', 'bob'],
      ['before', undefined],
      ['$identify', 'carl'],
    ]);
    expect(new Set(arrived.map(({ uuid }) => uuid)).size).toBe(4);
    expect(arrived[2]?.timestamp).toBe(arrived[3]?.timestamp);
  });
});

it.each([
  ['use', 'required'],
  ['ready', 'granted'],
])(
  'late calls of another person stay apart, also if a function of %s tracks between them (consent %s)',
  async (method, consent) => {
    const late = Date.now() - 1000;
    const other = await load();
    other('identify', 'bob');
    const bob = await other('correlationValue');
    await other('flush');
    await other('stop');
    Reflect.deleteProperty(globalThis, 'clew');
    const track = (tracker: { track(event: string): void }) => {
      tracker.track('live');
      return () => {};
    };
    const q = [
      [method, track],
      ['identify', 'ann'],
      [method, track],
      ['track', 'of ann'],
    ].map((call) => [late, call]);
    keepCalls(q);
    const clew = await load({ consent });
    if (consent === 'required') clew('consent', true);
    clew('track', 'of bob');
    await clew('flush');
    const idOf = (name: string) => arrived.find(({ event }) => event === name)?.correlationValue;
    expect(idOf('of bob')).toBe(bob);
    expect(idOf('of ann')).not.toBe(bob);
    expect(idOf('of ann')).toBe(idOf('$identify'));
  },
);

it('a refusal and a consent that were saved in one moment are taken in order', async () => {
  openPage();
  const at = Date.now();
  const calls = [
    ['consent', false],
    ['consent', true],
    ['track', 'a'],
  ].map((call) => [at, call]);
  localStorage[KEY] = JSON.stringify(calls);
  const clew = await load();
  clew('track', 'b');
  await clew('flush');
  expect(names()).toEqual(['a', 'b']);
});

it('a saved list that cannot be read keeps no call from being made', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  openPage();
  const foreign = { toString: 1, valueOf: 1 };
  const odd = [Date.now(), ['page'], ['t', foreign]];
  localStorage[KEY] = JSON.stringify([odd, [foreign, ['track', 'b']], [Date.now(), ['track', 'a']]]);
  const clew = await load();
  await clew('flush');
  expect(names()).toEqual(['a']);
  expect(localStorage[KEY]).toBeUndefined();
  expect(logged).toHaveBeenCalledOnce();
});

it("calls through the stub's function that the page has kept are made at once, and have a result", async () => {
  const stub = keepCalls([]);
  const clew = await load();
  const id = new Promise((settle) => {
    stub.q.push([Date.now(), ['track', 'kept']], [Date.now(), ['correlationValue'], false, settle]);
  });
  await clew('flush');
  expect(arrived.map(({ event, correlationValue }) => [event, correlationValue])).toEqual([['kept', await id]]);
  expect(stub.q).toHaveLength(0);
});

it.each(['store', 'transport'])('data-%s is no option, because an attribute has no functions', async (name) => {
  const clew = await load({ [name]: 'x' });
  clew('track', 'seen');
  await clew('flush');
  expect(names()).toEqual(['seen']);
});

it.each([
  ['apiKey', '90071992547409931234'],
  ['apiKey', '1234e567'],
  ['storageName', '2024'],
  ['storageName', 'no'],
])('takes the text of %s as it is: %s', async (name, text) => {
  const sent = vi.fn(async () => new Response('{}', { headers: { [RELAY_HEADER]: '1' } }));
  const clew = await load({ [name]: text });
  vi.stubGlobal('fetch', sent);
  clew('track', 'signup');
  await clew('flush');
  expect(sent).toHaveBeenCalledWith(
    expect.any(String),
    expect.objectContaining({
      headers: expect.objectContaining(name === 'apiKey' ? { Authorization: `Api-Key ${text}` } : {}),
    }),
  );
});

it('no promise of a replayed call is an unhandled rejection of the page', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const at = Date.now();
  const calls = ['correlationValue', 'flush'].map((method) => [at, [method]]);
  vi.stubGlobal(
    'clew',
    Object.assign(() => {}, { q: [...calls, [at, ['consent', false]]] }),
  );
  const clew = await load();
  await expect(clew('correlationValue')).rejects.toThrow('refused');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
