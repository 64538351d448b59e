import type { RelayOptions } from '../relay.js';
import { parseJson } from '../wire.js';

/** The environment's variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of `clew-relay`. */
export interface Settings {
  readonly relay: RelayOptions;
  readonly port: number;
  readonly host: string;
  /** The port of the metrics, on `host`. Undefined: there are none. */
  readonly metricsPort: number | undefined;
  readonly redisUrl: string | undefined;
  /** Files that `npx clew catalogue` has written. */
  readonly catalogues: readonly string[];
  readonly logLevel: 'info' | 'warn' | 'error';
  /** How the relay uses the header `User-Agent`. */
  readonly agents: { readonly isParsed: boolean; readonly bots: 'forward' | 'drop' | 'mark' };
}

/** The variable that each option comes from, for the relay's own errors. */
const VARIABLES: Readonly<Record<string, string>> = {
  baseUrl: 'BASE_URL',
  eventsUrl: 'EVENTS_URL',
  apiKey: 'API_KEY',
  identitySecret: 'IDENTITY_SECRET',
  allowedOrigins: 'ALLOWED_ORIGINS',
  timeout: 'TIMEOUT',
  maxPast: 'MAX_PAST',
  maxFuture: 'MAX_FUTURE',
  visitorCookie: 'COOKIE_DOMAIN',
  'limits.trustedProxies': 'TRUSTED_PROXIES',
  'limits.addressHeader': 'ADDRESS_HEADER',
  'enrich.country': 'COUNTRY_HEADER',
};

/** The expected text of a variable, in place of an option's object. */
const EXPECTED: readonly (readonly [RegExp, string])[] = [
  [/\{ domain: a domain.*/, 'a domain such as example.com'],
  [/\{ header: the name of a header.*/, 'the name of a header'],
  [/ with addressHeader\b/, ' with ADDRESS_HEADER'],
  [/, or the option forward/, ''],
];

/** The error of `createRelay`, with the variable in place of the option. */
export const describeError = (error: unknown): string => {
  const named = (error instanceof Error ? error.message : String(error))
    .replace(/^createRelay: identityKeys/, 'IDENTITY_KEYS')
    .replace(/^createRelay: ([\w.]+)/, (whole, name) => VARIABLES[name] ?? whole);
  return EXPECTED.reduce((message, [of, variable]) => message.replace(of, variable), named);
};

const LEVELS = ['info', 'warn', 'error'] as const;
const ADDRESSES = ['none', 'short', 'whole'] as const;
const BOTS = ['forward', 'drop', 'mark'] as const;

/** @throws TypeError that names the variable and what was expected, and no value of a secret */
export const readEnvironment = (env: Environment): Settings => {
  // An empty variable is one that a compose file names without a value.
  const text = (name: string) => env[name] || undefined;
  const fail = (name: string, expected: string): never => {
    throw new TypeError(`${name}: expected ${expected}, got ${JSON.stringify(text(name))}`);
  };
  const whole = (name: string, most: number, least = 0): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    const number = Number(given);
    const isRight = /^\d+$/.test(given) && number >= least && number <= most;
    return isRight ? number : fail(name, `a whole number ${least ? `from ${least} to` : 'of at most'} ${most}`);
  };
  const flag = (name: string, otherwise = 'false'): boolean => {
    const given = text(name) ?? otherwise;
    return given === 'true' || given === 'false' ? given === 'true' : fail(name, 'true or false');
  };
  const list = (name: string): string[] | undefined => {
    const entries = text(name)
      ?.split(',')
      .map((entry) => entry.trim())
      .filter(Boolean);
    // An empty list would refuse everything.
    return entries && !entries[0] ? fail(name, 'entries with commas between them') : entries;
  };
  const oneOf = <T extends string>(name: string, known: readonly T[], otherwise: T): T =>
    known.find((value) => value === (text(name) ?? otherwise)) ?? fail(name, known.join(', '));
  /** The variable's text has secrets, so the error omits it. */
  const json = (name: string): unknown => {
    const given = text(name);
    const value = given && parseJson<unknown>(given);
    if (given && value === undefined) throw new TypeError(`${name}: expected JSON`);
    return value;
  };
  const header = text('COUNTRY_HEADER');
  const address = oneOf('CLIENT_ADDRESS', ADDRESSES, 'none');
  const enrich = {
    ...(header && { country: { header, field: 'country' } }),
    ...(address !== 'none' && { address: { field: 'address', isWhole: address === 'whole' } }),
  };

  const options: Record<string, unknown> = {
    baseUrl: text('BASE_URL'),
    eventsUrl: text('EVENTS_URL'),
    apiKey: text('API_KEY'),
    allowUnsignedIdentify: flag('ALLOW_UNSIGNED_IDENTIFY'),
    allowUnsignedUpsert: flag('ALLOW_UNSIGNED_UPSERT'),
    timeout: whole('TIMEOUT', 600_000, 1),
    correctClock: flag('CORRECT_CLOCK', 'true'),
    maxPast: whole('MAX_PAST', Number.MAX_SAFE_INTEGER),
    maxFuture: whole('MAX_FUTURE', Number.MAX_SAFE_INTEGER),
    enrich,
    limits: { trustedProxies: whole('TRUSTED_PROXIES', 100), addressHeader: text('ADDRESS_HEADER') },
  };
  // The relay takes an option that is there but undefined for a mistake.
  for (const [option, value] of Object.entries({
    identitySecret: text('IDENTITY_SECRET'),
    identityKeys: json('IDENTITY_KEYS'),
    allowedOrigins: list('ALLOWED_ORIGINS'),
    allowedEvents: list('ALLOWED_EVENTS'),
    allowedProperties: list('ALLOWED_PROPERTIES'),
    visitorCookie: text('COOKIE_DOMAIN') && { domain: text('COOKIE_DOMAIN') },
  }))
    if (value !== undefined) options[option] = value;
  return {
    relay: options,
    port: whole('PORT', 65_535) ?? 8080,
    host: text('HOST') ?? '127.0.0.1',
    metricsPort: whole('METRICS_PORT', 65_535),
    redisUrl: text('REDIS_URL'),
    catalogues: list('CATALOGUE') ?? [],
    logLevel: oneOf('LOG_LEVEL', LEVELS, 'warn'),
    agents: { isParsed: flag('PARSE_USER_AGENT'), bots: oneOf('BOTS', BOTS, 'forward') },
  };
};
