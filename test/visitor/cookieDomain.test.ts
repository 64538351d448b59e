// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cookieDomain, type Store, type Tracker, type Transport } from '../../src/index.ts';
import { markOf, newVisitor, type Visitor, versionAt } from '../../src/visitor/record.ts';
import { cookiesWritten, createMemoryStore, openPage, start } from '../tracker/page.ts';

const WWW = 'https://www.shop.example/';
const APP = 'https://app.shop.example/';

const trackers: Tracker[] = [];
// The tracker writes the cookie after each answer, so all answers must arrive before the page of the test is gone.
afterEach(() => Promise.all(trackers.splice(0).map((tracker) => tracker.flush())));

/** A tracker on the page that is open. */
const startHere = (domain = 'shop.example', options = {}) => {
  const test = start({ baseUrl: '/clew', cookieDomain: cookieDomain(domain), ...options });
  trackers.push(test.tracker);
  return test;
};
/** A tracker on a page of this address, with a store of its own as each host has. */
const startOn = (url: string, domain?: string) => {
  const page = openPage(url);
  return { page, ...startHere(domain) };
};

describe('a domain in a cookie', () => {
  it.each(['shop.example', 'auto'])(
    '%s: a sandboxed frame, where document.cookie throws, reports one error',
    async (domain) => {
      const page = openPage(WWW);
      const refuse = () => {
        throw new DOMException('sandboxed', 'SecurityError');
      };
      Object.defineProperty(page.document, 'cookie', { get: refuse, set: refuse });
      const { tracker, errors, names } = startHere(domain);
      tracker.track('seen');
      await tracker.flush();
      tracker.reset();
      await tracker.flush();
      expect(names()).toEqual(['seen']);
      expect(errors).toEqual(['clew: cookieDomain: the browser refused the cookie']);
    },
  );

  it('gives the visitor one id on all hosts', async () => {
    const www = startOn(WWW);
    const visitor = await www.tracker.correlationValue();
    www.tracker.stop();
    const app = startOn(APP);
    app.tracker.track('seen');
    await app.tracker.flush();
    expect(app.events()).toMatchObject([{ correlationValue: visitor }]);
    expect(await startOn('https://www.other.example/', 'other.example').tracker.correlationValue()).not.toBe(visitor);
  });

  it('holds the visitor id and no primary key, secure, for 400 days', async () => {
    const { page, tracker } = startOn(WWW);
    tracker.identify('ann@example.com');
    const visitor = await tracker.correlationValue();
    expect(page.document.cookie).toMatch(new RegExp(`^clew=${visitor}\\.\\d+\\.\\d+$`));
    expect(cookiesWritten.at(-1)).toMatch(/; Secure; Path=\/; SameSite=Lax; Max-Age=34560000; Domain=shop\.example$/);
    expect(page.document.cookie).not.toContain('ann');
  });

  it('has no Secure on plain http, where browsers keep no secure cookie', async () => {
    const { page, tracker } = startOn('http://www.shop.example/');
    const visitor = await tracker.correlationValue();
    expect(page.document.cookie).toBe(`clew=${visitor}.0.`);
    expect(cookiesWritten.join()).not.toContain('Secure');
  });

  it('makes requests send cookies to the own origin', async () => {
    const { tracker, requests } = startOn(WWW);
    tracker.track('seen');
    await tracker.flush();
    expect(requests).toMatchObject([{ credentials: 'same-origin' }]);
  });

  it('sends no second $identify from another host for the same person', async () => {
    const www = startOn(WWW);
    www.tracker.identify('ann');
    const visitor = await www.tracker.correlationValue();
    www.tracker.stop();
    const app = startOn(APP);
    app.tracker.identify('ann', { plan: 'pro' });
    app.tracker.track('seen');
    await app.tracker.flush();
    expect(app.events()).toMatchObject([{ event: 'seen', correlationValue: visitor }]);
    expect(app.upserts()).toMatchObject([{ primary_key: 'ann' }]);
  });

  it('sends $identify of the same person to each service, from whichever host', async () => {
    const www = startOn(WWW);
    www.tracker.identify('ann');
    const visitor = await www.tracker.correlationValue();
    www.tracker.stop();
    const identifyAt = async (url: string) => {
      openPage(url);
      const { tracker, events } = startHere('shop.example', { baseUrl: '/two' });
      tracker.identify('ann');
      await tracker.flush();
      tracker.stop();
      return events().map(({ event, correlationValue }) => [event, correlationValue]);
    };
    expect(await identifyAt(APP)).toEqual([['$identify', visitor]]);
    expect(await identifyAt('https://help.shop.example/')).toEqual([]);
  });

  it('is understood if an earlier version has written it, which names no service', async () => {
    const visitor = '01234567-89ab-4cde-8f01-23456789abcd';
    for (const [mark, names] of [
      [markOf('ann'), []],
      [1e10 + markOf('ann'), ['$identify']],
    ] as const) {
      const page = openPage(WWW);
      page.document.cookie = `clew=${visitor}.3.${mark}; Path=/; Domain=shop.example`;
      const test = startHere();
      test.tracker.identify('ann');
      await test.tracker.flush();
      expect(test.names()).toEqual(names);
      expect(await test.tracker.correlationValue()).toBe(visitor);
    }
  });

  it('sends $identify from another host if the first one was dropped', async () => {
    const www = startOn(WWW);
    www.tracker.identify('ann', undefined, { signature: 'wrong' });
    const visitor = await www.tracker.correlationValue();
    www.fail(422);
    await www.tracker.flush();
    expect(www.tracker.stats().dropped).toEqual({ rejected: 1 });
    www.tracker.stop();
    const app = startOn(APP);
    app.tracker.identify('ann', undefined, { signature: 'right' });
    await app.tracker.flush();
    expect(app.events()).toMatchObject([{ event: '$identify', correlationValue: visitor, signature: 'right' }]);
  });

  it('starts a new visitor id when another customer identifies on another host', async () => {
    const www = startOn(WWW);
    www.tracker.identify('ann');
    const visitor = await www.tracker.correlationValue();
    www.tracker.stop();
    const app = startOn(APP);
    app.tracker.identify('ben');
    await app.tracker.flush();
    expect(app.names()).toEqual(['$identify']);
    expect(app.events()[0]?.correlationValue).not.toBe(visitor);
  });

  it('keeps properties on a host that does not know the customer, until the host identifies the customer', async () => {
    const www = startOn(WWW);
    www.tracker.identify('ann');
    await www.tracker.flush();
    www.tracker.stop();
    const app = startOn(APP);
    app.tracker.setProperties({ plan: 'pro' });
    await app.tracker.flush();
    expect(app.upserts()).toEqual([]);
    app.tracker.identify('ann');
    await app.tracker.flush();
    expect(app.upserts()).toMatchObject([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
    expect([app.names(), app.errors]).toEqual([[], []]);
  });

  it('reads the change of another host at its next call, also if both pages are visible', async () => {
    const www = startOn(WWW);
    const before = await www.tracker.correlationValue();
    const app = startOn(APP);
    app.tracker.reset();
    const after = await app.tracker.correlationValue();
    // The cookies of the first page are those of its own document, and its localStorage is that of its own host.
    Object.assign(globalThis, { document: www.page.document, location: www.page.location, localStorage: {} });
    www.tracker.track('seen');
    await www.tracker.flush();
    expect(www.events().at(-1)).toMatchObject({ event: 'seen', correlationValue: after });
    expect(after).not.toBe(before);
  });

  it.each([false, true])(
    'has a log-out on a page that leaves before the database has answered (answered: %s)',
    async (waits) => {
      const www = startOn(WWW);
      www.tracker.identify('bob');
      const bob = await www.tracker.correlationValue();
      await www.tracker.flush();
      www.tracker.stop();
      const out = startOn(WWW);
      if (waits) await out.tracker.correlationValue();
      out.tracker.reset();
      out.page.leave();
      const app = startOn(APP);
      expect(await app.tracker.correlationValue()).not.toBe(bob);
    },
  );

  it('has the customer of a page that leaves in the task of identify()', async () => {
    const { page, tracker } = startOn(WWW);
    await tracker.flush();
    tracker.identify('ann@example.com');
    page.leave();
    expect(page.document.cookie).toContain(`${markOf('ann@example.com')}`);
  });

  it('is read once in a task that calls track', async () => {
    const { page, tracker } = startOn(WWW);
    await tracker.flush();
    const { get = () => '', set = () => {} } = Object.getOwnPropertyDescriptor(page.document, 'cookie') ?? {};
    const read = vi.fn(get);
    Object.defineProperty(page.document, 'cookie', { get: read, set });
    tracker.track('seen');
    await Promise.resolve();
    await Promise.resolve();
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('keeps the newer visitor id of this host when the cookie holds an older one', async () => {
    const { page, tracker } = startOn(WWW);
    const before = page.document.cookie;
    tracker.reset();
    const after = await tracker.correlationValue();
    page.document.cookie = `${before}; Path=/; Domain=shop.example`;
    page.show(true);
    expect(await tracker.correlationValue()).toBe(after);
  });

  it('gives a newer visitor id of another host also after 2030, when versions pass 32 bits', async () => {
    const page = openPage(WWW);
    const [here, there] = [0, 1].map((at) => newVisitor(undefined, undefined, at));
    const version = versionAt(Date.UTC(2031, 0));
    page.document.cookie = `clew=${there?.thread}.${version + 1}.; Path=/; Domain=shop.example`;
    const met = cookieDomain('shop.example').meet({ ...(here as Visitor), turn: version }, 'service');
    expect(met).toMatchObject({ thread: there?.thread, turn: version + 1 });
  });

  it('is written again after the relay has set an older one', async () => {
    const page = openPage(WWW);
    const { tracker } = startHere('shop.example', {
      transport: async () => {
        page.document.cookie = `${before}; Path=/; Domain=shop.example`;
        return { outcome: 'delivered' };
      },
    });
    await tracker.flush();
    const before = page.document.cookie;
    tracker.reset();
    tracker.track('seen');
    await tracker.flush();
    expect(page.document.cookie).toMatch(new RegExp(`^clew=${await tracker.correlationValue()}\\.\\d+\\.$`));
  });

  it('does not have a customer whose $identify waits for the database, although an answer arrives meanwhile', async () => {
    openPage(WWW);
    let isHeld = false;
    const waiting: (() => void)[] = [];
    const store = createMemoryStore();
    const transact: Store['transact'] = async (...what) => {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      return store.transact(...what);
    };
    let answer = () => {};
    const answered = new Promise<{ outcome: 'delivered' }>((resolve) => {
      answer = () => resolve({ outcome: 'delivered' });
    });
    const transport = vi.fn<Transport>(async () => ({ outcome: 'delivered' }));
    const { tracker } = startHere('shop.example', { transport, store: { ...store, transact } });
    tracker.identify('ann');
    await tracker.flush();
    transport.mockClear();
    transport.mockReturnValueOnce(answered);
    tracker.track('seen');
    void tracker.flush();
    await vi.waitFor(() => expect(transport).toHaveBeenCalled());
    isHeld = true;
    // Without BroadcastChannel, the page asks the database whether another tab has dropped the `$identify`.
    tracker.identify('ann');
    tracker.identify('bob');
    answer();
    await answered;
    isHeld = false;
    for (const go of waiting) go();
    await tracker.flush();
    const bodies = transport.mock.calls.map(([{ body }]) => `${body}`);
    // Ann was identified before.
    expect(bodies.join().match(/(?<="distinct_id":")\w+/g)).toEqual(['bob']);
  });

  it('is erased by a refusal', async () => {
    const { page, tracker } = startOn(WWW);
    await tracker.flush();
    expect(page.document.cookie).not.toBe('');
    tracker.consent(false);
    expect(page.document.cookie).toBe('');
  });

  it('is not written again when an answer arrives at a page that has missed a refusal', async () => {
    const page = openPage(WWW);
    let answer = () => {};
    const transport = vi.fn<Transport>(
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ outcome: 'delivered' });
        }),
    );
    const store = createMemoryStore();
    const late = startHere('shop.example', { store, transport, compress: false });
    late.tracker.track('seen');
    await vi.waitFor(() => expect(transport).toHaveBeenCalled());
    const other = startHere('shop.example', { store });
    other.tracker.consent(false);
    expect(page.document.cookie).toBe('');
    answer();
    await vi.waitFor(() => expect(late.delivered).toEqual(['seen']));
    expect(page.document.cookie).toBe('');
  });

  it('has no refused visitor id again if the database answers a loading page with a record from before', async () => {
    const page = openPage(WWW);
    const base = createMemoryStore();
    const first = startHere('shop.example', { store: base });
    first.tracker.identify('ann');
    const refused = await first.tracker.correlationValue();
    await first.tracker.flush();
    first.tracker.stop();
    let release = () => {};
    let last: Promise<unknown> = new Promise<void>((resolve) => {
      release = resolve;
    });
    /** Lets the database run one operation after the other. */
    const inTurn = <T>(run: () => T | Promise<T>) => {
      const done = last.then(run);
      last = done;
      return done;
    };
    const store: Store = {
      ...base,
      transact: (...what) => inTurn(() => base.transact(...what)),
      clear: (...what) => void inTurn(() => base.clear(...what)),
    };
    const loading = startHere('shop.example', { store });
    const other = startHere('shop.example', { store });
    other.tracker.consent(false);
    const before = cookiesWritten.length;
    other.tracker.consent(true);
    release();
    await Promise.all([loading, other].map(({ tracker }) => tracker.flush()));
    expect(cookiesWritten.slice(before).join()).not.toContain(refused);
    expect(page.document.cookie).toBe(`clew=${await other.tracker.correlationValue()}.0.`);
  });

  it.each(['', 'nonsense', 'nonsense.1.2', '.1.', '00000000-0000-4000-8000-00000000000G.9.'])(
    'is ignored if other code has written "%s"',
    async (value) => {
      const page = openPage(WWW);
      page.document.cookie = `clew=${value}; Path=/; Domain=shop.example`;
      const { tracker } = startHere();
      const visitor = await tracker.correlationValue();
      expect(visitor).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
      expect(page.document.cookie).toBe(`clew=${visitor}.0.`);
    },
  );

  it('is read among cookies of other names', async () => {
    const visitor = '01234567-89ab-4cde-8f01-23456789abcd';
    const page = openPage(WWW);
    for (const text of ['myclew=no', `clew=${visitor}.3.`, 'clewx=no'])
      page.document.cookie = `${text}; Domain=shop.example`;
    const { tracker } = startHere();
    expect(await tracker.correlationValue()).toBe(visitor);
  });
});

describe("the domain 'auto'", () => {
  it.each([
    ['https://www.shop.example/', 'shop.example'],
    ['https://a.b.shop.example/', 'shop.example'],
    ['https://shop.example/', 'shop.example'],
  ])('on %s sets the cookie for %s', async (url, domain) => {
    const { page, tracker } = startOn(url, 'auto');
    const visitor = await tracker.correlationValue();
    expect(cookiesWritten.at(-1)).toContain(`clew=${visitor}.0.;`);
    expect(cookiesWritten.at(-1)).toMatch(new RegExp(`; Domain=${domain}$`));
    expect(page.document.cookie).toBe(`clew=${visitor}.0.`);
  });

  it('writes nothing before consent', async () => {
    openPage(WWW);
    const { tracker } = startHere('auto', { consent: 'required' });
    tracker.track('seen');
    await tracker.flush();
    expect(cookiesWritten).toEqual([]);
  });
});

describe('a cookie that the browser refuses', () => {
  it('is reported once', async () => {
    const { tracker, errors } = startOn(WWW, 'other.example');
    tracker.identify('ann');
    tracker.reset();
    await tracker.flush();
    expect(errors).toEqual(['clew: cookieDomain: the browser refused the cookie']);
  });
});

it.each([undefined, '', 7, true])('cookieDomain(%j) throws a TypeError', (domain) => {
  expect(() => cookieDomain(domain as string)).toThrow(TypeError);
});
