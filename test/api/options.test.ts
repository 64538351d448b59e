// @module-tag promise
import { describe, expect, it } from 'vitest';
import { checkOptions, normaliseOptions, type TrackerOptions } from '../../src/api/options.ts';

/** Options as a page without types may give them. */
const given = (options: unknown) => {
  checkOptions(options as TrackerOptions);
  return normaliseOptions(options as TrackerOptions);
};

it('options have the documented defaults', () => {
  expect(given({ baseUrl: '/clew' })).toEqual({
    baseUrl: '/clew',
    eventsUrl: '/clew',
    storageName: '/clew',
    flushInterval: 3000,
    maxBatchEvents: 200,
    maxBatchBytes: 60_000,
    maxQueuedEvents: 10_000,
    maxAge: 2_592_000_000,
    consent: 'granted',
    respectGpc: false,
    compress: true,
    debug: false,
  });
  expect(given({ baseUrl: 'https://service.example', apiKey: 'key' }).compress).toBe(false);
});

it('options have the given values, and the defaults for undefined and null', () => {
  const store = {
    transact: () => Promise.resolve(),
    read: () => Promise.resolve([]),
    abort: () => {},
    clear: () => {},
    isOpen: () => true,
    generation: () => 0,
  };
  const settings = given({ baseUrl: '/a', eventsUrl: '/b', flushInterval: 1, debug: undefined, consent: null, store });
  expect(settings).toMatchObject({
    baseUrl: '/a',
    eventsUrl: '/b',
    flushInterval: 1,
    debug: false,
    consent: 'granted',
  });
  expect(settings.store).toBe(store);
});

it('checkOptions leaves the given object unchanged', () => {
  const options = Object.freeze({ baseUrl: 'https://service.example//' });
  expect(given(options).baseUrl).toBe('https://service.example');
  expect(options).toEqual({ baseUrl: 'https://service.example//' });
});

it.each([
  ['https://service.example/', 'https://service.example'],
  ['https://service.example/v1//', 'https://service.example/v1'],
  ['/clew', '/clew'],
  ['/', ''],
])('base URL %s loses slashes at its end, since the service answers 404 to two', (baseUrl, joined) => {
  expect(given({ baseUrl })).toMatchObject({ baseUrl: joined, eventsUrl: joined });
  expect(given({ baseUrl: '/a', eventsUrl: baseUrl }).eventsUrl).toBe(joined);
});

describe('a wrong option throws a TypeError that names it', () => {
  it.each([
    ['baseUrl', undefined],
    ['baseUrl', null],
    ['baseUrl', ''],
    ['baseUrl', 7],
    ['baseUrl', {}],
    ['baseUrl', new URL('https://service.example')],
    ['eventsUrl', ''],
    ['eventsUrl', false],
    ['flushInterval', 0],
    ['flushInterval', -1],
    ['flushInterval', '3000'],
    ['flushInterval', Number.NaN],
    ['maxBatchEvents', 0],
    ['maxBatchEvents', Number.NaN],
    ['maxBatchEvents', true],
    ['maxBatchBytes', -60_000],
    ['maxBatchBytes', Number.NaN],
    ['maxBatchBytes', []],
    ['maxQueuedEvents', 0],
    ['maxQueuedEvents', Number.NaN],
    ['maxQueuedEvents', '10'],
    ['consent', true],
    ['consent', ''],
    ['consent', 'denied'],
    ['debug', 'yes'],
    ['debug', 1],
    ['transport', 'beacon'],
    ['respectGpc', 'yes'],
    ['respectGpc', 1],
    ['context', true],
    ['context', { release: '1' }],
    ['beforeSend', 'redactUrls'],
    ['beforeSend', []],
    ['storageName', 'constructor'],
    ['storageName', '__proto__'],
    ['baseUrl', Symbol('/clew')],
    ['visitorId', ''],
    ['visitorId', 7],
    ['visitorId', '01234567-89AB-4CDE-8F01-23456789ABCD'],
    ['visitorId', ' 01234567-89ab-4cde-8f01-23456789abcd'],
    ['visitorId', '0123456789ab4cde8f0123456789abcd'],
    ['release', 5],
    ['release', 'x'.repeat(65)],
    ['apiKey', ''],
    ['apiKey', 'key\n'],
    ['plugins', [true, 'forms']],
    ['store', { read() {} }],
    ['pageViews', {}],
    ['clicks', 'outbound'],
    ['cookieDomain', 'auto'],
  ])('%s: %o', (name, value) => {
    const wrong = () => given({ baseUrl: '/clew', [name]: value });
    expect(wrong).toThrow(TypeError);
    expect(wrong).toThrow(`clew: ${name}: expected `);
  });

  it.each(['pageViews', 'clicks'])('%s: true throws an error that names the import', (name) => {
    const wrong = () => given({ baseUrl: '/clew', [name]: true });
    expect(wrong).toThrow(TypeError);
    expect(wrong).toThrow(`clew: ${name}: expected ${name}(), imported from clew, not true`);
  });

  it('an unknown name throws an error that lists the options', () => {
    const wrong = () => given({ baseUrl: '/clew', consnet: 'required' });
    expect(wrong).toThrow(TypeError);
    expect(wrong).toThrow(/^clew: consnet: expected one of baseUrl,.*\bconsent,/);
    expect(() => given({ baseUrl: '/clew', toString: 1 })).toThrow('clew: toString: expected one of');
  });

  it.each([undefined, null, 'https://service.example', 7])('a missing options object throws: %j', (options) => {
    expect(() => given(options)).toThrow(TypeError);
    expect(() => given(options)).toThrow('baseUrl');
  });
});
