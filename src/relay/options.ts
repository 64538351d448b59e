import { ADDRESS, isAddress, isKey, KEY } from '../service/address.js';
import { isObject, kindOf } from '../wire.js';
import type { Accept } from './accept.js';
import type { Forward } from './forward.js';
import { type IdentityKeys, keysFault } from './identityKeys.js';
import { checkLimits, type LimitOptions } from './limits.js';
import type { Logger } from './log.js';
import type { RelayReport } from './report.js';
import { longestForwarding } from './retry.js';
import type { Seen } from './seen.js';
import { type BotOptions, checkSender, type EnrichOptions } from './sender.js';
import { isSecret, SECRET_BYTES } from './signature.js';
import { strayName } from './strayName.js';
import type { VisitorCookieOptions } from './visitorCookie.js';

/** The options of `createRelay`. */
export interface RelayOptions {
  /**
   * Full prefix of the service's addresses. Required unless `forward` is set.
   *
   * @example 'https://service.example'
   */
  baseUrl?: string | undefined;
  /**
   * Full prefix of the service's single-event endpoint.
   *
   * @default baseUrl
   */
  eventsUrl?: string | undefined;
  /**
   * The service's key. The relay adds `Authorization: Api-Key <key>` to each request that it forwards. Required unless
   * `forward` is set.
   */
  apiKey?: string | undefined;
  /**
   * Takes the requests in place of the service: a broker, or a client of your own.
   *
   * @default to the service at `baseUrl`
   */
  forward?: Forward | undefined;
  /**
   * With this option, the relay accepts an identity only with the signature `signPrimaryKey(identitySecret, primaryKey)`, which the
   * app's server makes, or with a token of `identityKeys`. The relay rejects an unsigned `$identify`, and answers an unsigned upsert
   * 422. Never put the secret into a page. At least 32 bytes, for example from `openssl rand -hex 32`.
   *
   * @default none: the relay accepts no plain signatures
   */
  identitySecret?: string;
  /**
   * With this option, the relay accepts an identity only with a token that `signIdentity`, or a JWT library, has made on the app's server.
   * The token expires, and can hold customer properties. Plain signatures are then accepted only with `identitySecret`, too.
   *
   * @default none: the relay accepts no tokens
   * @example { audience: 'shop.example', keys: [{ id: '2026-01', secret: 'the-secret-of-32-bytes-or-more-…' }] }
   */
  identityKeys?: IdentityKeys;
  /**
   * Lets pages identify without a signature. Anyone who can open the page can then identify as any customer whose primary key
   * they know. Without it, the relay rejects an unsigned `$identify`, and the tracker drops that event.
   *
   * @default false
   */
  allowUnsignedIdentify?: boolean | undefined;
  /**
   * Lets pages set customer properties without a signature. Anyone who can open the page can then rewrite any customer whose
   * primary key they know. Without it, the relay answers an unsigned upsert 422, and the tracker drops that upsert.
   *
   * @default false
   */
  allowUnsignedUpsert?: boolean | undefined;
  /**
   * Origins that may call, exact and with their ports. The relay answers other origins 403. Without this option, every origin may send, and
   * pages of other origins cannot read the answer.
   *
   * @default none
   * @example ['https://www.example.com', 'https://shop.example.com']
   */
  allowedOrigins?: string[];
  /**
   * Decides about each valid event: forward it, change it, or drop it for a reason that the page gets.
   *
   * @default every valid event is forwarded
   * @example
   * createRelay({
   *   baseUrl: 'https://service.example',
   *   apiKey: 'the-key',
   *   accept: ({ event }) => event !== 'invoice_paid' || 'only servers send invoices',
   * });
   */
  accept?: Accept | undefined;
  /**
   * The names of the events that pages may send, besides `$identify`. The relay rejects others.
   *
   * @default every name
   * @example ['page_view', 'signup']
   */
  allowedEvents?: readonly string[];
  /**
   * The customer properties that pages may set. The relay answers an upsert with another one 422.
   *
   * @default every property
   * @example ['first_name', 'language']
   */
  allowedProperties?: readonly string[];
  /**
   * Adds to each event the country, the address or the browser of its sender, for `accept` and for the service. For the consequences
   * for your visitors, see docs/privacy.md.
   *
   * @default nothing is added
   * @example { country: { header: 'CF-IPCountry', field: 'country' } }
   */
  enrich?: EnrichOptions | undefined;
  /**
   * Drops or marks the events of bots, and counts them in the metrics.
   *
   * @default events of bots are forwarded as others
   * @example { isBot: (userAgent: string) => userAgent.includes('bot') }
   */
  bots?: BotOptions | undefined;
  /**
   * How much one client, one visitor and all together may send, and how the client's address is found. The relay answers 429
   * with `Retry-After` to more.
   *
   * @default generous limits, which `LimitOptions` lists
   */
  limits?: LimitOptions | undefined;
  /**
   * Renews the cookie of the tracker's `cookieDomain` with each answer, unless the relay itself refuses the request. Safari deletes a cookie that a script has written after
   * seven days, but not one that a server with the page's IP address has set: https://webkit.org/tracking-prevention/
   *
   * @default none
   * @example { domain: 'example.com' }
   */
  visitorCookie?: VisitorCookieOptions | undefined;
  /**
   * Corrects the times of events from a clock that is wrong by more than two minutes. docs/relay.md explains how.
   *
   * @default true
   */
  correctClock?: boolean | undefined;
  /**
   * Rejects an event that is older, in ms, after the correction of its time. The limit has to be longer than the trackers' `maxAge`.
   *
   * @default 5184000000 (60 days)
   */
  maxPast?: number | undefined;
  /**
   * Rejects an event that is further in the future, in ms, after the correction of its time.
   *
   * @default 86400000 (a day)
   */
  maxFuture?: number | undefined;
  /**
   * Remembers which events the service has taken, so that the relay drops duplicates. Several relays share a `redisSeen`.
   *
   * @default memorySeen()
   */
  seen?: Seen | undefined;
  /**
   * Receives how many events were tracked, delivered, dropped and are missing, for each release and browser engine. The relay
   * ignores exceptions of this function. Relays that share a `seen` share these totals, too.
   *
   * @default none
   */
  onReport?: ((report: RelayReport) => void) | undefined;
  /**
   * Receives the error when a request could not be forwarded, a `ForwardError` when the service answers no 2xx, and what `seen`
   * has rejected. The page gets a general message only, because the error may name internal addresses. The relay ignores
   * exceptions of this function.
   *
   * @default none
   */
  onError?: ((error: unknown) => void) | undefined;
  /**
   * Receives a line for each answered request and each failure. A line has no key, no payload, no id and no address of a visitor.
   *
   * @default none
   * @example console.log
   */
  logger?: Logger | undefined;
  /**
   * The end of the path at which `GET` answers the metrics as OpenMetrics text. Anyone who can reach the path can read them.
   *
   * @default none
   * @example '/metrics'
   */
  metricsPath?: string | undefined;
  /**
   * Shortest time between two reports, in ms.
   *
   * @default 60000
   */
  reportInterval?: number | undefined;
  /**
   * Largest body of a request, in bytes after inflation, and of a forwarded request. The relay answers a larger one 413.
   *
   * @default 102400
   */
  maxBodyBytes?: number | undefined;
  /**
   * Most events of a batch. The relay answers a larger one 413, and the tracker then sends smaller ones.
   *
   * @default 500
   */
  maxBatchEvents?: number | undefined;
  /**
   * How long a request's body may take to arrive, in ms. After that the relay answers 408.
   *
   * @default 30000
   */
  bodyTimeout?: number | undefined;
  /**
   * How long the service may take to answer, in ms. After that the relay answers 504. Also how long each call of `seen` may take.
   *
   * @default 10000
   */
  timeout?: number | undefined;
  /**
   * Sends the requests to the service.
   *
   * @default Node's own `http` and `https`, or the global `fetch` elsewhere
   */
  fetch?: typeof fetch | undefined;
}

/** A timer of more ms fires at once: https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers */
const LONGEST_TIMER = 2 ** 31 - 1;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** As browsers write it in the header `Origin`: without a path, in lower case, without the scheme's own port. */
const isOrigin = (value: unknown): boolean => isText(value) && URL.canParse(value) && new URL(value).origin === value;

/** As a `URL` writes a path, and none that another probe answers. */
const isMetricsPath = (value: unknown): boolean =>
  isText(value) && /^\/[\w.~/-]*[\w.~-]$/.test(value) && !/\/health(\/live)?$/.test(value);

const SECRET = `a string of at least ${SECRET_BYTES} bytes`;
const ORIGINS = 'a list of origins as browsers send them, such as https://www.example.com';

/** @throws TypeError for a missing or invalid option: it names the option and what was expected, and never a key or a secret */
export const checkOptions = (options: RelayOptions): void => {
  const fail = (name: string, expected: string, got: string) => {
    throw new TypeError(`createRelay: ${name}: expected ${expected}, got ${got}`);
  };
  if (!isObject(options)) fail('options', 'an object', kindOf(options));
  const stray = strayName(options);
  if (stray) fail(...stray);
  const expect = (name: keyof RelayOptions, holds: (value: unknown) => boolean, expected: string) => {
    if (options[name] !== undefined && !holds(options[name])) fail(name, expected, kindOf(options[name]));
  };
  // An undefined variable of the environment would turn the check off unnoticed.
  for (const [name, expected] of [
    ['identitySecret', SECRET],
    ['identityKeys', '{ audience, keys, revoked? }'],
    ['allowedOrigins', ORIGINS],
    ['allowedEvents', 'a list of names'],
    ['allowedProperties', 'a list of names'],
  ] as const)
    if (name in options && options[name] === undefined) fail(name, `${expected}, or no such option`, 'undefined');
  const isFunction = (value: unknown) => typeof value === 'function';
  const isPositive = (value: unknown) => typeof value === 'number' && value > 0;
  for (const [name, holds, expected] of [
    ['baseUrl', isAddress, ADDRESS],
    ['eventsUrl', isAddress, ADDRESS],
    ['apiKey', isKey, KEY],
    ['identitySecret', isSecret, SECRET],
  ] as const) {
    expect(name, holds, expected);
    if (!options.forward && (name === 'baseUrl' || name === 'apiKey') && options[name] === undefined)
      fail(name, `${expected}, or the option forward`, 'nothing');
  }
  const { identityKeys, identitySecret } = options;
  const wrong = identityKeys === undefined ? undefined : keysFault(identityKeys, 'publicKey');
  if (wrong) fail(`identityKeys${wrong[0]}`, wrong[1], wrong[2]);
  // Both are HMAC-SHA256. With one secret for both, a visitor who chooses a primary key could get the text of a token signed.
  const shared = identityKeys?.keys.findIndex((key) => 'secret' in key && key.secret === identitySecret) ?? -1;
  if (shared >= 0) fail(`identityKeys.keys[${shared}].secret`, 'another secret than identitySecret', 'the same');
  for (const name of ['forward', 'accept', 'onReport', 'onError', 'logger', 'fetch'] as const)
    expect(name, isFunction, 'a function');
  for (const name of ['allowUnsignedIdentify', 'allowUnsignedUpsert', 'correctClock'] as const)
    expect(name, (value) => typeof value === 'boolean', 'a boolean');
  for (const name of ['maxBodyBytes', 'maxPast', 'maxFuture'] as const) expect(name, isPositive, 'a number above 0');
  expect('maxBatchEvents', (value) => isPositive(value) && Number(value) >= 1, 'a number, at least 1');
  for (const name of ['bodyTimeout', 'timeout', 'reportInterval'] as const)
    expect(
      name,
      (value) => isPositive(value) && Number(value) <= LONGEST_TIMER,
      `a number above 0, at most ${LONGEST_TIMER}`,
    );
  const { allowedOrigins } = options;
  const other = Array.isArray(allowedOrigins) ? allowedOrigins.find((origin) => !isOrigin(origin)) : undefined;
  if (isText(other)) fail('allowedOrigins', ORIGINS, JSON.stringify(other.slice(0, 200)));
  expect('allowedOrigins', (value) => Array.isArray(value) && value.every(isOrigin), ORIGINS);
  for (const name of ['allowedEvents', 'allowedProperties'] as const)
    expect(name, (value) => Array.isArray(value) && value.every(isText), 'a list of names');
  expect('metricsPath', isMetricsPath, 'a path that begins with a slash, in ASCII, and is not one of the health');
  const fault =
    (options.limits === undefined ? undefined : checkLimits(options.limits)) ??
    checkSender(options.enrich, options.bots);
  if (fault) fail(...fault);
  expect(
    'visitorCookie',
    (value) => {
      const { domain, secure } = (value ?? {}) as VisitorCookieOptions;
      return (
        isText(domain) && /^\.?[\w-]+(\.[\w-]+)*$/.test(domain) && ['undefined', 'boolean'].includes(typeof secure)
      );
    },
    '{ domain: a domain, secure?: a boolean }',
  );
  const methods = ['reserve', 'confirm', 'release'] as const;
  expect(
    'seen',
    (value) => isObject(value) && methods.every((method) => isFunction(value[method])),
    `the methods ${methods.join(', ')}`,
  );
  const { seen, timeout = 10_000 } = options;
  for (const method of ['memory', 'offsets', 'setOffset'] as const)
    if (seen?.[method] !== undefined && !isFunction(seen[method]))
      fail(`seen.${method}`, 'a method', kindOf(seen[method]));
  const storing = ['read', 'write', 'totals'] as const;
  if (
    seen?.books !== undefined &&
    !(isObject(seen.books) && storing.every((method) => isFunction(seen.books?.[method])))
  )
    fail('seen.books', `the methods ${storing.join(', ')}`, kindOf(seen.books));
  const longest = longestForwarding(timeout);
  // Another relay would forward the events of a reservation that has expired.
  if (seen?.maxPending !== undefined && !(typeof seen.maxPending === 'number' && seen.maxPending >= longest))
    fail(
      'seen',
      `maxPending of at least ${longest} ms, which a beacon may need with this timeout`,
      `${seen.maxPending}`,
    );
};
