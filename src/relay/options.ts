import type { Forward } from './forward.js';
import type { RelayReport } from './report.js';
import type { Seen } from './seen.js';
import type { ThreadCookieOptions } from './threadCookie.js';

/** What `createRelay` takes. */
export interface RelayOptions {
  /** Full prefix of the service's addresses, e.g. `https://service.example`. Not needed with `forward`. */
  baseUrl?: string;
  /**
   * Full prefix of the service's single-event endpoint.
   *
   * @default baseUrl
   */
  eventsUrl?: string;
  /** The service's key, added as `Authorization: Api-Key <key>` on the way out. Not needed with `forward`. */
  apiKey?: string;
  /**
   * Takes requests on in place of the service: a broker between, or a client of your own.
   *
   * @default to the service at `baseUrl`
   */
  forward?: Forward;
  /**
   * With it, pages are believed who they are only when they show `signPrimaryKey(identitySecret, primaryKey)`, made by
   * the app's server: an unsigned `$identify` is rejected, an unsigned upsert answered 422. Never put it into a page.
   *
   * @default none: whoever says they are somebody is believed
   */
  identitySecret?: string;
  /**
   * Lets pages set customer properties without a signature. Whoever can open the page can then rewrite any customer whose
   * primary key they know; without it, an unsigned upsert is answered 422 and the tracker drops it as `rejected`.
   *
   * @default false
   */
  allowUnsignedUpsert?: boolean;
  /**
   * Origins that may call, e.g. `['https://www.example.com']`. Others are answered 403. Without it, pages of other
   * origins are given no CORS headers, but nobody is turned away.
   */
  allowedOrigins?: string[];
  /**
   * Renews the cookie of the tracker's `cookieDomain` with each answer. Safari deletes after seven days without a visit what
   * scripts have written, but not what a server has set.
   *
   * @default none
   */
  threadCookie?: ThreadCookieOptions;
  /**
   * Where it is remembered which events have been taken.
   *
   * @default memorySeen()
   */
  seen?: Seen;
  /**
   * Hears how many events were taken, came twice, were rejected or are missing; what it throws is nobody's. With several
   * relays each tells of what came to it: have a visitor always come to the same one, or `missing` counts too much.
   */
  onReport?: (report: RelayReport) => void;
  /** Hears why something could not be forwarded, of which pages are told only that: it may name inner addresses. */
  onError?: (error: unknown) => void;
  /**
   * How long at least lies between two reports, in ms.
   *
   * @default 60000
   */
  reportInterval?: number;
  /**
   * Most bytes of a request's body, after inflation; more is answered 413.
   *
   * @default 102400
   */
  maxBodyBytes?: number;
  /**
   * How long the service may take to answer, in ms; then the answer is 504.
   *
   * @default 10000
   */
  timeout?: number;
  /**
   * Sends the requests to the service.
   *
   * @default Node's own `http` and `https`; elsewhere the global `fetch`
   */
  fetch?: typeof fetch;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** @throws TypeError that names the option and what was expected */
export const checkOptions = (options: RelayOptions): void => {
  const expect = (name: keyof RelayOptions, holds: (value: unknown) => boolean, expected: string) => {
    if (options[name] !== undefined && !holds(options[name]))
      throw new TypeError(`createRelay: ${name} must be ${expected}`);
  };
  const isFunction = (value: unknown) => typeof value === 'function';
  const isPositive = (value: unknown) => typeof value === 'number' && value > 0;
  for (const name of ['baseUrl', 'eventsUrl', 'apiKey', 'identitySecret'] as const) {
    expect(name, isText, 'a non-empty string');
    if (!options.forward && (name === 'baseUrl' || name === 'apiKey') && options[name] === undefined)
      throw new TypeError(`createRelay: ${name} must be a non-empty string, or give \`forward\``);
  }
  for (const name of ['forward', 'onReport', 'onError', 'fetch'] as const) expect(name, isFunction, 'a function');
  for (const name of ['maxBodyBytes', 'timeout', 'reportInterval'] as const) expect(name, isPositive, 'more than 0');
  expect('allowedOrigins', (value) => Array.isArray(value) && value.every(isText), 'a list of origins');
  expect(
    'threadCookie',
    (value) => {
      const { domain, secure } = (value ?? {}) as ThreadCookieOptions;
      return isText(domain) && !/[;,\s]/.test(`${domain}`) && ['undefined', 'boolean'].includes(typeof secure);
    },
    '{ domain: a domain, secure?: a boolean }',
  );
  const methods = ['reserve', 'confirm', 'release'] as const;
  expect('seen', (value) => methods.every((method) => isFunction((value as Seen)[method])), methods.join(', '));
};
