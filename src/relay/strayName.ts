import { isObject } from '../wire.js';
import type { LimitOptions, Rate } from './limits.js';
import type { RelayOptions } from './options.js';
import type { BotOptions, EnrichOptions } from './sender.js';
import type { VisitorCookieOptions } from './visitorCookie.js';

// The compiler checks that each list is whole.
const OPTIONS: Record<keyof RelayOptions, true> = {
  baseUrl: true,
  eventsUrl: true,
  apiKey: true,
  forward: true,
  identitySecret: true,
  identityKeys: true,
  allowUnsignedIdentify: true,
  allowUnsignedUpsert: true,
  allowedOrigins: true,
  accept: true,
  allowedEvents: true,
  allowedProperties: true,
  enrich: true,
  bots: true,
  limits: true,
  visitorCookie: true,
  correctClock: true,
  maxPast: true,
  maxFuture: true,
  seen: true,
  onReport: true,
  onError: true,
  logger: true,
  metricsPath: true,
  reportInterval: true,
  maxBodyBytes: true,
  maxBatchEvents: true,
  bodyTimeout: true,
  timeout: true,
  fetch: true,
};
const LIMITS: Record<keyof LimitOptions, true> = {
  address: true,
  visitor: true,
  total: true,
  maxForwards: true,
  maxBytes: true,
  buckets: true,
  trustedProxies: true,
  addressHeader: true,
};
const ENRICH: Record<keyof EnrichOptions, true> = { country: true, address: true, userAgent: true };
const BOTS: Record<keyof BotOptions, true> = { isBot: true, mark: true };
const COOKIE: Record<keyof VisitorCookieOptions, true> = { domain: true, secure: true };
const RATE: Record<keyof Rate, true> = { rate: true, burst: true };
const COUNTRY: Record<keyof NonNullable<EnrichOptions['country']>, true> = { header: true, field: true };
const ADDRESS: Record<keyof NonNullable<EnrichOptions['address']>, true> = { field: true, isWhole: true };

/**
 * The first name that is no option, the expected names, and the given name. A misspelt name of a check would turn the check off
 * unnoticed.
 */
export const strayName = (options: RelayOptions): [name: string, expected: string, got: string] | undefined => {
  const { limits, enrich, bots, visitorCookie } = options;
  for (const [place, given, names] of [
    ['', options, OPTIONS],
    ['limits.', limits, LIMITS],
    ['limits.address.', limits?.address, RATE],
    ['limits.visitor.', limits?.visitor, RATE],
    ['limits.total.', limits?.total, RATE],
    ['enrich.', enrich, ENRICH],
    ['enrich.country.', enrich?.country, COUNTRY],
    ['enrich.address.', enrich?.address, ADDRESS],
    ['bots.', bots, BOTS],
    ['visitorCookie.', visitorCookie, COOKIE],
  ] as const) {
    const stray = isObject(given) ? Object.keys(given).find((name) => !Object.hasOwn(names, name)) : undefined;
    if (stray !== undefined)
      return [`${place}${stray.slice(0, 80)}`, `one of ${Object.keys(names).join(', ')}`, 'another name'];
  }
  return undefined;
};
