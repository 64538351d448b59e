import { describe, expect, it } from 'vitest';
import { createRelay } from '../../src/relay.ts';
import { describeError, type Environment, readEnvironment } from '../../src/server/environment.ts';

const REQUIRED = { BASE_URL: 'https://service.example', API_KEY: 'the-secret-key' };

const identityKeys = { audience: 'shop.example', keys: [{ id: 'a', secret: 'y'.repeat(32) }] };

it('two variables are enough', () => {
  const settings = readEnvironment(REQUIRED);
  expect(settings).toMatchObject({
    relay: {
      baseUrl: 'https://service.example',
      apiKey: 'the-secret-key',
      allowUnsignedIdentify: false,
      correctClock: true,
    },
    port: 8080,
    host: '127.0.0.1',
    metricsPort: undefined,
    redisUrl: undefined,
    catalogues: [],
    logLevel: 'warn',
    agents: { isParsed: false, bots: 'forward' },
  });
  expect(() => createRelay(settings.relay)).not.toThrow();
});

it('each variable becomes its option', () => {
  const settings = readEnvironment({
    ...REQUIRED,
    EVENTS_URL: 'https://events.example',
    IDENTITY_SECRET: 'x'.repeat(32),
    IDENTITY_KEYS: JSON.stringify(identityKeys),
    ALLOW_UNSIGNED_IDENTIFY: 'true',
    ALLOW_UNSIGNED_UPSERT: 'true',
    ALLOWED_ORIGINS: 'https://a.example, https://b.example,',
    ALLOWED_EVENTS: 'page_view,signup',
    ALLOWED_PROPERTIES: 'language',
    COOKIE_DOMAIN: 'example.com',
    TRUSTED_PROXIES: '2',
    ADDRESS_HEADER: 'CF-Connecting-IP',
    TIMEOUT: '5000',
    CORRECT_CLOCK: 'false',
    MAX_PAST: '1000',
    MAX_FUTURE: '2000',
    REDIS_URL: 'redis://localhost',
    CATALOGUE: 'catalogue.json, before.json',
    PORT: '0',
    HOST: '0.0.0.0',
    METRICS_PORT: '9090',
    LOG_LEVEL: 'info',
    COUNTRY_HEADER: 'CF-IPCountry',
    CLIENT_ADDRESS: 'whole',
    PARSE_USER_AGENT: 'true',
    BOTS: 'mark',
  });
  expect(settings).toEqual({
    relay: {
      baseUrl: 'https://service.example',
      eventsUrl: 'https://events.example',
      apiKey: 'the-secret-key',
      identitySecret: 'x'.repeat(32),
      identityKeys,
      allowUnsignedIdentify: true,
      allowUnsignedUpsert: true,
      allowedOrigins: ['https://a.example', 'https://b.example'],
      allowedEvents: ['page_view', 'signup'],
      allowedProperties: ['language'],
      visitorCookie: { domain: 'example.com' },
      limits: { trustedProxies: 2, addressHeader: 'CF-Connecting-IP' },
      timeout: 5000,
      correctClock: false,
      maxPast: 1000,
      maxFuture: 2000,
      enrich: { country: { header: 'CF-IPCountry', field: 'country' }, address: { field: 'address', isWhole: true } },
    },
    agents: { isParsed: true, bots: 'mark' },
    redisUrl: 'redis://localhost',
    catalogues: ['catalogue.json', 'before.json'],
    port: 0,
    host: '0.0.0.0',
    metricsPort: 9090,
    logLevel: 'info',
  });
  expect(() => createRelay(settings.relay)).not.toThrow();
});

it('an empty variable counts as none, as compose files write it', () => {
  expect(readEnvironment({ ...REQUIRED, IDENTITY_SECRET: '', ALLOWED_ORIGINS: '', PORT: '' })).toEqual(
    readEnvironment(REQUIRED),
  );
});

describe('an invalid variable is named:', () => {
  it.each<[Environment, string]>([
    [{ PORT: '80a' }, 'PORT: expected a whole number of at most 65535, got "80a"'],
    [{ PORT: '65536' }, 'PORT: expected a whole number of at most 65535'],
    [{ METRICS_PORT: '-1' }, 'METRICS_PORT: expected a whole number'],
    [{ TRUSTED_PROXIES: 'yes' }, 'TRUSTED_PROXIES: expected a whole number of at most 100, got "yes"'],
    [{ ALLOW_UNSIGNED_IDENTIFY: 'yes' }, 'ALLOW_UNSIGNED_IDENTIFY: expected true or false, got "yes"'],
    [{ LOG_LEVEL: 'debug' }, 'LOG_LEVEL: expected info, warn, error, got "debug"'],
    [{ BASE_URL: '' }, 'BASE_URL: expected an http or https address without a query, got nothing'],
    [{ API_KEY: '' }, 'API_KEY: expected visible ASCII characters, got nothing'],
    [{ API_KEY: 'schlüssel' }, 'API_KEY: expected visible ASCII characters, got a string'],
    [{ IDENTITY_KEYS: '{hidden' }, 'IDENTITY_KEYS: expected JSON'],
    [{ IDENTITY_KEYS: '{}' }, 'IDENTITY_KEYS.audience: expected a text of 1 to 200 characters, got undefined'],
    [
      { IDENTITY_KEYS: '{"audience":"a","keys":[{"id":"a","secret":"hidden"}]}' },
      'IDENTITY_KEYS.keys[0].secret: expected a string of at least 32 bytes, got a string',
    ],
    [{ IDENTITY_SECRET: 'short' }, 'IDENTITY_SECRET: expected a string of at least 32 bytes, got a string'],
    [{ ALLOWED_ORIGINS: 'a.example' }, 'ALLOWED_ORIGINS: expected a list of origins'],
    [{ ALLOWED_EVENTS: ' ,' }, 'ALLOWED_EVENTS: expected entries with commas between them, got " ,"'],
    [{ ADDRESS_HEADER: 'CF-Connecting-IP' }, 'TRUSTED_PROXIES: expected a whole number from 1 with ADDRESS_HEADER'],
    [{ ADDRESS_HEADER: 'a b' }, 'ADDRESS_HEADER: expected the name of a header'],
    [{ COUNTRY_HEADER: 'a b' }, 'COUNTRY_HEADER: expected the name of a header'],
    [{ CLIENT_ADDRESS: 'true' }, 'CLIENT_ADDRESS: expected none, short, whole, got "true"'],
    [{ PARSE_USER_AGENT: '1' }, 'PARSE_USER_AGENT: expected true or false, got "1"'],
    [{ BOTS: 'yes' }, 'BOTS: expected forward, drop, mark, got "yes"'],
    [{ COOKIE_DOMAIN: 'a;b' }, 'COOKIE_DOMAIN: expected a domain such as example.com'],
    [{ CORRECT_CLOCK: 'no' }, 'CORRECT_CLOCK: expected true or false, got "no"'],
    [{ MAX_PAST: '0' }, 'MAX_PAST: expected a number above 0'],
    [{ TIMEOUT: '0' }, 'TIMEOUT: expected a whole number from 1 to 600000, got "0"'],
    [{ TIMEOUT: '600001' }, 'TIMEOUT: expected a whole number from 1 to 600000, got "600001"'],
  ])('%j: %s', (env, message) => {
    const create = () => createRelay(readEnvironment({ ...REQUIRED, ...env }).relay);
    expect(create).toThrow(TypeError);
    try {
      create();
    } catch (error) {
      expect(describeError(error)).toMatch(new RegExp(`^${message.replace(/[.[\]]/g, '\\$&')}`));
    }
  });

  it('never with a key or a secret', () => {
    for (const env of [{ API_KEY: 'schlüssel' }, { IDENTITY_SECRET: 'hidden' }, { IDENTITY_KEYS: '{hidden' }])
      try {
        createRelay(readEnvironment({ ...REQUIRED, ...env }).relay);
      } catch (error) {
        expect(describeError(error)).not.toMatch(/schlüssel|hidden/);
      }
  });
});
