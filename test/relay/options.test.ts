import { describe, expect, it } from 'vitest';
import { createRelay, memorySeen, type RelayOptions } from '../../src/relay.ts';

const forward = async () => new Response(null, { status: 201 });
const create = (options: object) => createRelay(options as RelayOptions);
const BASE = { baseUrl: 'https://service.example', apiKey: 'the-secret-key' };

describe('createRelay throws a TypeError that names the option and what it expects:', () => {
  it.each<[object, string]>([
    [{}, 'baseUrl: expected a non-empty string, or the option forward, got nothing'],
    [{ apiKey: 'k' }, 'baseUrl: expected a non-empty string, or the option forward, got nothing'],
    [{ baseUrl: 'https://service.example' }, 'apiKey: expected a non-empty string, or the option forward, got nothing'],
    ...['baseUrl', 'eventsUrl', 'apiKey', 'identitySecret'].flatMap((name): [object, string][] =>
      ['', 7, null].map((value) => [{ ...BASE, [name]: value }, `${name}: expected a non-empty string`]),
    ),
    [{ forward, baseUrl: '' }, 'baseUrl: expected a non-empty string'],
    [
      { ...BASE, identitySecret: process.env.NOT_SET },
      'identitySecret: expected a non-empty string, or no such option, got undefined',
    ],
    [
      { ...BASE, allowedOrigins: undefined },
      'allowedOrigins: expected a list of origins, or no such option, got undefined',
    ],
    ...['forward', 'onReport', 'onError', 'fetch'].flatMap((name): [object, string][] =>
      [true, {}, 'f'].map((value) => [{ ...BASE, [name]: value }, `${name}: expected a function`]),
    ),
    ...['bodyTimeout', 'timeout', 'reportInterval'].map((name): [object, string] => [
      { ...BASE, [name]: Number.POSITIVE_INFINITY },
      `${name}: expected a number above 0, at most 2147483647`,
    ]),
    ...['maxBodyBytes', 'maxEvents', 'bodyTimeout', 'timeout', 'reportInterval'].flatMap((name): [object, string][] =>
      [0, -1, Number.NaN, '1', null].map((value) => [{ ...BASE, [name]: value }, `${name}: expected a number above 0`]),
    ),
    ...['https://a.example', [''], ['https://a.example', 7], {}].map((allowedOrigins): [object, string] => [
      { ...BASE, allowedOrigins },
      'allowedOrigins: expected a list of origins',
    ]),
    ...[
      null,
      true,
      {},
      { domain: '' },
      { domain: 7 },
      { domain: 'a b' },
      { domain: 'a;b' },
      { domain: 'a,b' },
      { domain: 'a', secure: 'no' },
    ].map((visitorCookie): [object, string] => [
      { ...BASE, visitorCookie },
      'visitorCookie: expected { domain: a domain, secure?: a boolean }',
    ]),
    ...['reserve', 'confirm', 'release'].map((method): [object, string] => [
      { ...BASE, seen: { ...memorySeen(), [method]: undefined } },
      'seen: expected the methods reserve, confirm, release',
    ]),
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
  ])('%s', (_what, options) => {
    expect(() => create(options)).not.toThrow();
  });
});
