// @module-tag promise
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cookieDomain } from '../../src/visitor/cookieDomain.ts';
import { markOf, type Visitor } from '../../src/visitor/record.ts';

/**
 * The cookies of a browser for one page: a domain is taken if the host is within it and it is no public suffix. Real
 * browsers and several hosts are in e2e/subdomains.spec.ts.
 */
class Jar {
  written: string[] = [];
  readonly #cookies = new Map<string, { name: string; value: string }>();
  constructor(
    readonly hostname: string,
    readonly takes: (domain: string) => boolean,
  ) {}
  get cookie(): string {
    return [...this.#cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
  }
  set cookie(text: string) {
    this.written.push(text);
    const [pair = '', ...attributes] = text.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const given = new Map(attributes.map((each) => each.split('=') as [string, string]));
    const domain = given.get('Domain') ?? '';
    if (domain && !this.takes(domain)) return;
    if (given.get('Max-Age') === '0') this.#cookies.delete(`${name} ${domain}`);
    else this.#cookies.set(`${name} ${domain}`, { name, value });
  }
}

const SUFFIXES = ['com', 'uk', 'co.uk'];
const open = (hostname: string, protocol = 'https:', isAllowed = true) => {
  const jar = new Jar(
    hostname,
    (domain) => isAllowed && !SUFFIXES.includes(domain) && `.${hostname}`.endsWith(`.${domain}`),
  );
  vi.stubGlobal('document', jar);
  vi.stubGlobal('location', { hostname, protocol });
  return jar;
};
const visitor = (more: Partial<Visitor> = {}): Visitor => ({
  thread: randomUUID(),
  turn: 0,
  keys: {},
  pages: 1,
  ...more,
});
const unexpected = (message: string) => {
  throw new Error(message);
};
/** Writes the cookie of another host of the site, which knows this visitor. */
const share = (known: Visitor, service = 'one') => cookieDomain('example.com').share(known, unexpected, service);

let jar: Jar;
beforeEach(() => {
  jar = open('www.example.com');
});
afterEach(() => vi.unstubAllGlobals());

describe('the cookie', () => {
  it('holds the visitor id and its count for 400 days and all hosts of the domain', () => {
    const ann = visitor({ turn: 3 });
    share(ann);
    expect(jar.written).toEqual([
      `clew=${ann.thread}.3.; Secure; Path=/; SameSite=Lax; Max-Age=34560000; Domain=example.com`,
    ]);
    expect(jar.cookie).toBe(`clew=${ann.thread}.3.`);
  });

  it('has no Secure on plain http, where browsers keep no secure cookie', () => {
    jar = open('www.example.com', 'http:');
    share(visitor());
    expect(jar.written[0]).not.toContain('Secure');
  });

  it('holds a hash of the primary key instead of the key', () => {
    const ann = visitor({ keys: { one: ['ann@example.com'] } });
    share(ann);
    expect(jar.cookie).toMatch(new RegExp(`^clew=${ann.thread}\\.0\\.\\d{1,15}$`));
    expect(jar.cookie.endsWith(`${markOf('ann@example.com')}`)).toBe(true);
    expect(jar.cookie).not.toContain('ann@');
  });

  it('is erased if there is no visitor', () => {
    share(visitor());
    cookieDomain('example.com').share(undefined, unexpected, 'clew');
    expect(jar.cookie).toBe('');
  });

  it('is erased together with the cookie that a relay has set', () => {
    const ann = visitor();
    share(ann);
    jar.cookie = `clew.server=${ann.thread}.0.; Domain=example.com`;
    cookieDomain('example.com').share(undefined, unexpected, 'clew');
    expect(jar.cookie).toBe('');
  });

  it.each([
    ['www.example.com', 'example.com'],
    ['a.b.example.com', 'example.com'],
    ['shop.example.co.uk', 'example.co.uk'],
    ['example.com', 'example.com'],
  ])('with `auto` on %s is for %s, and the probes are erased', (hostname, domain) => {
    jar = open(hostname);
    const ann = visitor();
    const shared = cookieDomain('auto');
    expect(jar.written).toEqual([]);
    shared.share(ann, unexpected, 'clew');
    expect(jar.written.at(-1)).toContain(`; Domain=${domain}`);
    expect(jar.cookie).toBe(`clew=${ann.thread}.0.`);
    const { length } = jar.written;
    shared.share({ ...ann, turn: 1 }, unexpected, 'clew');
    expect(jar.written).toHaveLength(length + 1);
  });

  it('with `auto` is set for the host itself if the browser keeps no domain cookie', () => {
    jar = open('localhost', 'http:', false);
    const ann = visitor();
    cookieDomain('auto').share(ann, unexpected, 'clew');
    expect(jar.written.at(-1)).toMatch(/; Domain=$/);
    expect(jar.cookie).toBe(`clew=${ann.thread}.0.`);
  });

  it('that the browser refuses is reported once', () => {
    const fail = vi.fn();
    const shared = cookieDomain('other.example');
    shared.share(visitor(), fail, 'clew');
    shared.share(visitor(), fail, 'clew');
    expect(fail.mock.calls).toEqual([['cookieDomain: the browser refused the cookie']]);
    expect(jar.written).toHaveLength(1);
  });
});

describe('the visitor of this host', () => {
  const meet = (here: Visitor, service = 'one') => cookieDomain('example.com').meet(here, service);

  it('stays if there is no cookie, or no cookie of clew', () => {
    const here = visitor({ keys: { one: ['ann'] } });
    expect(meet(here)).toBe(here);
    for (const value of ['hello', '..', `${here.thread}x.0.`, `${here.thread.toUpperCase()}.0.`]) {
      jar.cookie = `clew=${value}; Domain=example.com`;
      expect(meet(here)).toBe(here);
    }
  });

  it('changes to the one of the other hosts, without the previous keys', () => {
    const there = visitor();
    share(there);
    const here = visitor({ keys: { one: ['ann'] }, pages: 7 });
    expect(meet(here)).toEqual({ thread: there.thread, turn: 0, keys: {}, pages: 7 });
  });

  it('stays if it is newer than the cookie', () => {
    share(visitor({ turn: 1 }));
    const here = visitor({ turn: 2 });
    expect(meet(here)).toBe(here);
  });

  it('stays if its id began with the cookie’s version, because a log-out counts more than a log-in', () => {
    share(visitor({ turn: 5, keys: { one: ['ann'] } }));
    const here = visitor({ turn: 5, since: 5 });
    expect(meet(here)).toBe(here);
    const there = { ...here, turn: 6, since: 5 };
    expect(meet(there)).toBe(there);
    share(here);
    share({ ...here, keys: { one: ['ann'] } });
    expect(meet(here).keys).toEqual({ one: [markOf('ann')] });
    const known = visitor({ turn: 5, since: 5, keys: { one: ['bob'] } });
    expect([known, visitor({ turn: 5, since: 4 })].map((one) => meet(one).thread === one.thread)).toEqual([
      false,
      false,
    ]);
  });

  it('changes to a newer one in the cookie', () => {
    const there = visitor({ turn: 5 });
    share(there);
    expect(meet(visitor({ turn: 2 }))).toMatchObject({ thread: there.thread, turn: 5 });
  });

  it('is marked as identified if another host has identified it, and keeps the keys for other services', () => {
    const here = visitor({ keys: { two: ['b'] } });
    share({ ...here, keys: { one: ['ann'] } });
    const met = meet(here);
    expect(met).toEqual({ ...here, keys: { two: ['b'], one: [expect.any(Number)] } });
    const [mark] = met.keys.one ?? [];
    expect(mark).toBe(markOf('ann'));
    expect(mark).not.toBe(markOf('ben'));
  });

  it('is not known as identified at another service, whose tag the cookie lacks', () => {
    const here = visitor();
    share({ ...here, keys: { one: ['ann'] } });
    expect(meet(here, 'two').keys).toEqual({ two: [markOf('ann'), undefined, true] });
  });

  it('keeps the primary key known on this host', () => {
    const here = visitor({ keys: { one: ['ann', 'signature'] } });
    share(here);
    expect(meet(here)).toBe(here);
  });
});

describe('the other hosts', () => {
  it('get a newer visitor', () => {
    share(visitor());
    const newer = visitor({ turn: 1 });
    share(newer);
    expect(jar.cookie).toContain(newer.thread);
  });

  it('keep a newer visitor, and another one of the same age', () => {
    const known = visitor({ turn: 2 });
    share(known);
    share(visitor({ turn: 1 }));
    share(visitor({ turn: 2 }));
    expect(jar.cookie).toBe(`clew=${known.thread}.2.`);
  });

  it('get an id that began with their version', () => {
    share(visitor({ turn: 5, keys: { one: ['ann'] } }));
    const known = visitor({ turn: 5, since: 5 });
    share(known);
    expect(jar.cookie).toBe(`clew=${known.thread}.5.`);
  });

  it('get the identification of their visitor and keep it', () => {
    const known = visitor();
    share(known);
    share({ ...known, keys: { one: ['ann'] } });
    const { cookie } = jar;
    expect(cookie).toMatch(/\.\d+$/);
    share(known);
    expect(jar.cookie).toBe(cookie);
  });

  it('get the hash of a primary key that this host knows from them', () => {
    const known = visitor({ keys: { one: [12345] } });
    share(known);
    expect(jar.cookie).toMatch(new RegExp(`^clew=${known.thread}\\.0\\.\\d{1,4}00000012345$`));
  });

  it('get a visitor in place of a cookie that clew has not written', () => {
    jar.cookie = 'clew=hello; Domain=example.com';
    const ann = visitor();
    share(ann);
    expect(jar.cookie).toBe(`clew=${ann.thread}.0.`);
  });
});

it.each([undefined, '', 7, null])('the domain %j throws a TypeError that names the option', (domain) => {
  expect(() => cookieDomain(domain as string)).toThrow(TypeError);
  expect(() => cookieDomain(domain as string)).toThrow(/^clew: cookieDomain: expected a domain or 'auto'/);
});

describe('after a change of the domain', () => {
  const values = () => jar.cookie.split('; ').filter(Boolean);
  const textOf = ({ thread, turn }: Visitor, mark: number | '' = '') => `clew=${thread}.${turn}.${mark}`;

  it('a refusal erases the cookie of the domain before, also without a further write', () => {
    for (const domain of ['www.example.com', '']) {
      cookieDomain('www.example.com').share(visitor(), unexpected, 'clew');
      cookieDomain(domain || 'auto').share(undefined, unexpected, 'clew');
      expect(values()).toEqual([]);
    }
  });

  it('`auto` writes the cookie of a known visitor once for the widest domain, with its mark', () => {
    const known = visitor({ turn: 7 });
    const ann = { ...known, keys: { clew: ['ann'] as const } };
    cookieDomain('www.example.com').share(ann, unexpected, 'clew');
    const mark = Number(jar.cookie.split('.').at(-1));
    expect(mark % 1e10).toBe(markOf('ann'));
    const auto = cookieDomain('auto');
    auto.share(known, unexpected, 'clew');
    expect(jar.written.at(-1)).toBe(jar.written[0]?.replace('Domain=www.', 'Domain='));
    expect(values()).toEqual([textOf(known, mark), textOf(known, mark)]);
    const before = jar.written.length;
    auto.share(known, unexpected, 'clew');
    expect(jar.written).toHaveLength(before);
  });

  it('the newest of several cookies counts, and a narrower domain leaves the wider cookie', () => {
    const known = visitor();
    const next = visitor({ turn: 1 });
    cookieDomain('example.com').share(known, unexpected, 'clew');
    const narrow = cookieDomain('www.example.com');
    narrow.share(next, unexpected, 'clew');
    expect(values()).toEqual([textOf(known), textOf(next)]);
    expect(narrow.meet(known, 'clew')).toMatchObject({ thread: next.thread });
    expect(narrow.meet(next, 'clew')).toBe(next);
  });

  it('a domain that the browser refuses leaves the cookie before', () => {
    const known = visitor();
    cookieDomain('example.com').share(known, unexpected, 'clew');
    const errors: string[] = [];
    const other = cookieDomain('elsewhere.example');
    for (const turn of [1, 2]) other.share({ ...known, turn }, (message) => errors.push(message), 'clew');
    expect(errors).toEqual(['cookieDomain: the browser refused the cookie']);
    expect(values()).toEqual([textOf(known)]);
    other.share(undefined, unexpected, 'clew');
    expect(values()).toEqual([]);
  });
});
