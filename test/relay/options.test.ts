import { describe, expect, it } from 'vitest';
import { createRelay, memorySeen, type RelayOptions } from '../../src/relay.ts';

const forward = async () => new Response(null, { status: 201 });
const create = (options: object) => createRelay(options as RelayOptions);
const ADDRESS = 'an http or https address without a query';
const CHARACTERS = 'visible ASCII characters';
const ORIGINS = 'a list of origins as browsers send them, such as https://www.example.com';
const BASE = { baseUrl: 'https://service.example', apiKey: 'the-secret-key' };

describe('createRelay throws a TypeError that names the option and what it expects:', () => {
  it.each<[object, string]>([
    [{}, `baseUrl: expected ${ADDRESS}, or the option forward, got nothing`],
    [{ apiKey: 'k' }, `baseUrl: expected ${ADDRESS}, or the option forward, got nothing`],
    [{ baseUrl: 'https://service.example' }, `apiKey: expected ${CHARACTERS}, or the option forward, got nothing`],
    ...['baseUrl', 'eventsUrl'].flatMap((name): [object, string][] =>
      [
        '',
        7,
        null,
        'service.example',
        '/api',
        'ftp://service.example',
        'https://',
        'https://user@service.example',
        'https://service.example?key=1',
        'https://service.example#a',
        'https://service.example?',
        'https://service.example#',
        'https://service.example ',
        'https://:password@service.example',
      ].map((value) => [{ ...BASE, [name]: value }, `${name}: expected ${ADDRESS}`]),
    ),
    ...['', 7, null, 'two\nlines', ' a', 'a ', 'schlüssel', '\0'].map((apiKey): [object, string] => [
      { ...BASE, apiKey },
      `apiKey: expected ${CHARACTERS}, got `,
    ]),
    ...['', 7, null, 'x'.repeat(31)].map((identitySecret): [object, string] => [
      { ...BASE, identitySecret },
      'identitySecret: expected a string of at least 32 bytes, got ',
    ]),
    [{ forward, baseUrl: '' }, `baseUrl: expected ${ADDRESS}`],
    [
      { ...BASE, identitySecret: process.env.NOT_SET },
      'identitySecret: expected a string of at least 32 bytes, or no such option, got undefined',
    ],
    ...['allowedEvents', 'allowedProperties'].flatMap((name): [object, string][] => [
      [{ ...BASE, [name]: undefined }, `${name}: expected a list of names, or no such option, got undefined`],
      ...['a', [''], [7], {}].map((value): [object, string] => [
        { ...BASE, [name]: value },
        `${name}: expected a list of names, got `,
      ]),
    ]),
    [{ ...BASE, limits: true }, 'limits: expected an object, got true'],
    ...[true, null, {}, { rate: 0, burst: 1 }, { rate: 1, burst: 0 }, { rate: '1', burst: 1 }].flatMap((value) =>
      ['address', 'visitor', 'total'].map((name): [object, string] => [
        { ...BASE, limits: { [name]: value } },
        `limits.${name}: expected { rate: a number above 0, burst: a number from 1 }, or false, got `,
      ]),
    ),
    ...[-1, 1.5, '1', null].map((trustedProxies): [object, string] => [
      { ...BASE, limits: { trustedProxies } },
      'limits.trustedProxies: expected a whole number from 0',
    ]),
    [{ ...BASE, limits: { addressHeader: 'a b' } }, 'limits.addressHeader: expected the name of a header'],
    ...[undefined, 0].map((trustedProxies): [object, string] => [
      { ...BASE, limits: { addressHeader: 'CF-Connecting-IP', ...(trustedProxies === 0 && { trustedProxies }) } },
      'limits.trustedProxies: expected a whole number from 1 with addressHeader, got ',
    ]),
    [{ ...BASE, limits: { address: { rate: 1, burst: Number.POSITIVE_INFINITY } } }, 'limits.address: expected { rate'],
    ...['/health', '/clew/health/live', '/métriques', '/my metrics'].map((metricsPath): [object, string] => [
      { ...BASE, metricsPath },
      'metricsPath: expected a path that begins with a slash',
    ]),
    [{ ...BASE, visitorCookie: { domain: '..' } }, 'visitorCookie: expected { domain: a domain'],
    [{ ...BASE, seen: null }, 'seen: expected the methods reserve, confirm, release, got null'],
    [{ ...BASE, seen: { ...memorySeen(), maxPending: '60000' } }, 'seen: expected maxPending of at least'],
    [undefined as never, 'options: expected an object, got undefined'],
    [{ ...BASE, limits: { maxBytes: '1' } }, 'limits.maxBytes: expected a number from 1, got a string'],
    [{ ...BASE, limits: { maxForwards: 0 } }, 'limits.maxForwards: expected a number from 1, got 0'],
    [
      { ...BASE, limits: { addressHeader: 'forwarded', trustedProxies: 1 } },
      'limits.addressHeader: expected a header with',
    ],
    [{ ...BASE, identitySecrets: 'x' }, 'identitySecrets: expected one of baseUrl, eventsUrl, apiKey, '],
    [{ ...BASE, limits: { adress: false } }, 'limits.adress: expected one of address, visitor, total, maxForwards'],
    [
      { ...BASE, limits: { total: { rate: 1, burst: 1, brst: 2 } } },
      'limits.total.brst: expected one of rate, burst, got',
    ],
    [
      { ...BASE, enrich: { address: { field: 'a', iswhole: true } } },
      'enrich.address.iswhole: expected one of field, isWhole, got another name',
    ],
    [
      { ...BASE, enrich: { agent: () => {} } },
      'enrich.agent: expected one of country, address, userAgent, got another',
    ],
    [{ ...BASE, bots: { isBot: () => true, field: 'x' } }, 'bots.field: expected one of isBot, mark, got another name'],
    [{ ...BASE, visitorCookie: { domain: 'a', name: 'x' } }, 'visitorCookie.name: expected one of domain, secure, got'],
    [{ ...BASE, enrich: [] }, 'enrich: expected an object, got an object'],
    ...[{}, { header: 'a b', field: 'country' }, { header: 'A' }, 'CF-IPCountry'].map((country): [object, string] => [
      { ...BASE, enrich: { country } },
      'enrich.country: expected { header: the name of a header, field: a name }, got ',
    ]),
    ...[{}, { field: '' }, { field: 'a', isWhole: 1 }, true].map((address): [object, string] => [
      { ...BASE, enrich: { address } },
      'enrich.address: expected { field: a name, isWhole?: a boolean }, got ',
    ]),
    [{ ...BASE, enrich: { userAgent: true } }, 'enrich.userAgent: expected a function, got true'],
    ...[true, {}, { isBot: true }, { isBot: () => true, mark: '' }].map((bots): [object, string] => [
      { ...BASE, bots },
      'bots: expected { isBot: a function, mark?: a name }, got ',
    ]),
    [{ ...BASE, limits: { buckets: {} } }, 'limits.buckets: expected the method take, got an object'],
    [
      { ...BASE, allowedOrigins: ['https://a.example', 'https://b.example/'] },
      `allowedOrigins: expected ${ORIGINS}, got "https://b.example/"`,
    ],
    [{ ...BASE, allowedOrigins: undefined }, `allowedOrigins: expected ${ORIGINS}, or no such option, got undefined`],
    ...['allowUnsignedIdentify', 'allowUnsignedUpsert'].flatMap((name): [object, string][] =>
      ['true', 1, null].map((value) => [{ ...BASE, [name]: value }, `${name}: expected a boolean`]),
    ),
    ...['forward', 'accept', 'onReport', 'onError', 'fetch'].flatMap((name): [object, string][] =>
      [true, {}, 'f'].map((value) => [{ ...BASE, [name]: value }, `${name}: expected a function`]),
    ),
    ...['bodyTimeout', 'timeout', 'reportInterval'].map((name): [object, string] => [
      { ...BASE, [name]: Number.POSITIVE_INFINITY },
      `${name}: expected a number above 0, at most 2147483647`,
    ]),
    ...['maxBodyBytes', 'bodyTimeout', 'timeout', 'reportInterval'].flatMap((name): [object, string][] =>
      [0, -1, Number.NaN, '1', null].map((value) => [{ ...BASE, [name]: value }, `${name}: expected a number above 0`]),
    ),
    ...[0, -1, 0.5, Number.NaN, '1', null].map((maxBatchEvents): [object, string] => [
      { ...BASE, maxBatchEvents },
      'maxBatchEvents: expected a number, at least 1',
    ]),
    ...[
      'https://a.example',
      [''],
      ['https://a.example', 7],
      {},
      ['https://a.example/'],
      ['https://A.example'],
      ['https://a.example:443'],
      ['a.example'],
      ['*'],
      ['null'],
    ].map((allowedOrigins): [object, string] => [{ ...BASE, allowedOrigins }, `allowedOrigins: expected ${ORIGINS}`]),
    ...[
      null,
      true,
      {},
      { domain: '' },
      { domain: 7 },
      { domain: 'a b' },
      { domain: 'a;b' },
      { domain: 'a,b' },
      { domain: '例え.jp' },
      { domain: 'a', secure: 'no' },
    ].map((visitorCookie): [object, string] => [
      { ...BASE, visitorCookie },
      'visitorCookie: expected { domain: a domain, secure?: a boolean }',
    ]),
    ...['reserve', 'confirm', 'release'].map((method): [object, string] => [
      { ...BASE, seen: { ...memorySeen(), [method]: undefined } },
      'seen: expected the methods reserve, confirm, release',
    ]),
    ...['memory', 'offsets', 'setOffset'].map((method): [object, string] => [
      { ...BASE, seen: { ...memorySeen(), [method]: 1 } },
      `seen.${method}: expected a method`,
    ]),
    [{ ...BASE, seen: { ...memorySeen(), books: {} } }, 'seen.books: expected the methods read, write, totals'],
    [
      { ...BASE, seen: memorySeen({ maxPending: 51_199 }) },
      'seen: expected maxPending of at least 51200 ms, which a beacon may need with this timeout, got 51199',
    ],
    [
      { ...BASE, timeout: 20_000, seen: memorySeen() },
      'seen: expected maxPending of at least 101200 ms, which a beacon may need with this timeout, got 60000',
    ],
  ])('%j: %s', (options, message) => {
    expect(() => create(options)).toThrow(TypeError);
    expect(() => create(options)).toThrow(`createRelay: ${message}`);
  });
});

describe('createRelay accepts', () => {
  it.each<[string, object]>([
    ['`forward` in place of an address and a key', { forward }],
    ['each option as undefined', { ...BASE, forward: undefined, timeout: undefined, seen: undefined }],
    ['an empty list of origins', { ...BASE, allowedOrigins: [] }],
    ['several origins', { ...BASE, allowedOrigins: ['https://a.example', 'https://b.example'] }],
    ['a cookie with or without `secure`', { ...BASE, visitorCookie: { domain: 'a.example' } }],
    ['a cookie for development', { ...BASE, visitorCookie: { domain: 'localhost', secure: false } }],
    ['fractions of a millisecond', { ...BASE, timeout: 0.5 }],
    ['a store of its own', { ...BASE, seen: memorySeen() }],
    ['a store whose reservations hold just long enough', { ...BASE, seen: memorySeen({ maxPending: 51_200 }) }],
    ['a store that says nothing of its reservations', { ...BASE, seen: { ...memorySeen(), maxPending: undefined } }],
    ['a long time-out with the relay’s own store', { ...BASE, timeout: 60_000 }],
    ['a key with spaces and quotes', { ...BASE, apiKey: `a "key"  with 'spaces'` }],
    ['a secret of 32 bytes', { ...BASE, identitySecret: 'é'.repeat(16) }],
    ['an address with a path and a port', { ...BASE, baseUrl: 'http://[::1]:8080/v1/' }],
  ])('%s', (_what, options) => {
    expect(() => create(options)).not.toThrow();
  });
});
