import type { Transport } from '../courier/transport.js';
import type { Store } from '../outbox/store.js';
import type { BeforeSend } from '../recorder/prepare.js';
import type { SharedVisitor } from '../visitor/cookieDomain.js';
import type { LinkDomains } from '../visitor/linkDomains.js';
import { isVisitorId } from '../visitor/record.js';
import type { Properties } from '../wire.js';
import type { Plugin } from './types.js';

/** Options of `createTracker`. Only `baseUrl` is required. */
export interface TrackerOptions {
  /**
   * The address of the relay: an absolute URL, or a path of the page's own origin. With `apiKey`, the address of the service.
   *
   * @example '/clew'
   */
  baseUrl: string;
  /**
   * The address for single events, if the service takes them elsewhere.
   *
   * @default baseUrl
   */
  eventsUrl?: string | undefined;
  /**
   * The name under which clew stores unsent events and who is identified. If you change `baseUrl`, set this to the first
   * `baseUrl` and keep it: the events go to the new address, and the visitor stays identified. Trackers of different services need
   * different names.
   *
   * @default baseUrl
   */
  storageName?: string | undefined;
  /**
   * The service's key. The key is private and gives access to all customers, so use a relay on public pages.
   *
   * @default none: `baseUrl` is a relay
   */
  apiKey?: string | undefined;
  /**
   * How long an event waits for other events to share its request, in ms. If the service confirmed nothing in the last ten
   * minutes, or the last request failed, the event waits only for a back-off.
   *
   * @default 3000
   */
  flushInterval?: number | undefined;
  /**
   * The most events in one request.
   *
   * @default 200
   */
  maxBatchEvents?: number | undefined;
  /**
   * The most bytes (UTF-8) in one request. clew drops a larger event as `too-large`. Browsers accept at most 65,536 bytes while
   * a page unloads.
   *
   * @default 60000
   */
  maxBatchBytes?: number | undefined;
  /**
   * The most unsent events that all pages of an origin hold together, in IndexedDB or in memory. clew drops further events as
   * `full`. Ten million characters are the limit for fewer events, or 1,000 characters for each event if the option is raised. Pages
   * count at their load and report to each other, so that open tabs together may exceed the limit by about a batch each.
   *
   * @default 10000
   */
  maxQueuedEvents?: number | undefined;
  /**
   * How long clew tries to deliver an event, in ms from the call that tracked it. When clew is about to send an older event
   * of an earlier page or another tab, it drops the event as `expired`.
   *
   * @default 2592000000 (30 days)
   */
  maxAge?: number | undefined;
  /**
   * With `'required'`, clew writes and sends nothing before `consent(true)`, and holds calls in memory.
   *
   * @default 'granted'
   */
  consent?: 'granted' | 'required' | undefined;
  /**
   * Shares one visitor id between all hosts of a site, through a cookie. In a script tag, `data-cookie-domain` is a domain or
   * `auto`.
   *
   * @default none: each host has its own visitor id
   * @example cookieDomain('auto')
   */
  cookieDomain?: SharedVisitor | undefined;
  /**
   * Shares one visitor id between sites on different domains, through a parameter of links. In a script tag,
   * `data-link-domains` lists domains, separated by spaces or commas.
   *
   * @default none
   * @example linkDomains(['shop.example', 'help.example'])
   */
  linkDomains?: LinkDomains | undefined;
  /**
   * The visitor id that your server has made for this browser: a lower-case UUID. clew uses it only as the first visitor id, if it
   * finds none in storage, in the cookie of `cookieDomain` or in a link. The id must never be that of another person. docs/ssr.md
   * shows what the server has to do.
   *
   * @default none: clew makes the visitor id
   */
  visitorId?: string | undefined;
  /**
   * The version of your site, at most 64 characters. The relay's report counts tracked, delivered and missing events for each release.
   * One with `"`, `\`, or a control character counts as `other`.
   * A service without a relay does not get it.
   *
   * @default none
   * @example '1.4.2'
   */
  release?: string | undefined;
  /**
   * Tracks page views. In a script tag, `data-page-views` is empty or lists options as words.
   *
   * @default none
   * @example pageViews({ hash: true })
   */
  pageViews?: Plugin | undefined;
  /**
   * Tracks clicks, changes and submits of marked elements. In a script tag, `data-clicks` is empty or lists options as words.
   *
   * @default none
   * @example clicks({ outbound: true })
   */
  clicks?: Plugin | undefined;
  /**
   * Extends the tracker. The plugins start with the tracker, in this order. `undefined`, `null` and `false` are skipped, for plugins
   * that depend on a condition. In a script tag, call `clew('use', plugin)`.
   *
   * @default none
   * @example createTracker({ baseUrl: '/clew', plugins: [(tracker) => tracker.on('error', console.warn)] })
   */
  plugins?: readonly (Plugin | undefined | null | false)[] | undefined;
  /**
   * Treats Global Privacy Control as a refusal, if the browser sends it. clew then writes and sends nothing, and drops events as
   * `consent`. `consent(true)` is the visitor's own answer and overrides the signal. https://w3.org/TR/gpc
   *
   * @default false
   */
  respectGpc?: boolean | undefined;
  /**
   * Returns properties for every event. clew calls it once for each event, within the call that tracks, and copies the result.
   * clew adds the properties if the payload is an object or missing. Properties of the event override them. If the function
   * throws, clew emits `error` and sends the event without the properties.
   *
   * @default none
   * @example
   * () => ({ ...browserContext(), release: '1.4.2' })
   */
  context?: (() => Properties) | undefined;
  /**
   * Changes or drops (`filtered`) an event within the call that tracks it, before clew stores the event. clew does not pass
   * `$identify` to it. The function is synchronous and must not track events itself. If the function throws or returns an invalid
   * event, clew drops the event and emits `error`.
   *
   * @default none
   * @example redactUrls()
   */
  beforeSend?: BeforeSend | undefined;
  /**
   * Compresses requests as gzip, if the browser can. The server has to accept `Content-Encoding: gzip`, as clew's relay does.
   * clew does not compress requests while the page unloads.
   *
   * @default true with a relay, false with `apiKey`
   */
  compress?: boolean | undefined;
  /**
   * Sends requests in place of `fetch`. Wrap `fetchTransport` to extend it.
   *
   * @default fetchTransport
   */
  transport?: Transport | undefined;
  /**
   * Keeps unsent events and the visitor id in place of IndexedDB.
   *
   * @default IndexedDB, or memory if the browser refuses storage
   */
  store?: Store | undefined;
  /**
   * Logs deliveries, drops, errors and failed requests.
   *
   * @default false
   */
  debug?: boolean | undefined;
}

/** The options with their defaults filled in. */
export type Settings = { [Name in Exclude<keyof TrackerOptions, Bare>]-?: NonNullable<TrackerOptions[Name]> } & Pick<
  TrackerOptions,
  Bare
>;

/** Options without a default. */
type Bare =
  | 'apiKey'
  | 'visitorId'
  | 'release'
  | 'transport'
  | 'store'
  | 'context'
  | 'beforeSend'
  | 'pageViews'
  | 'clicks'
  | 'plugins'
  | 'cookieDomain'
  | 'linkDomains';

/**
 * Fills in the defaults.
 *
 * @throws TypeError that names the option, the expected value and the given value
 */
export const normaliseOptions = (options: TrackerOptions): Settings => {
  const defaults: Record<string, string | number | boolean> = {
    baseUrl: '',
    eventsUrl: options?.baseUrl,
    storageName: options?.baseUrl,
    flushInterval: 3000,
    maxBatchEvents: 200,
    maxBatchBytes: 60_000,
    maxQueuedEvents: 10_000,
    maxAge: 2_592_000_000,
    consent: 'granted',
    respectGpc: false,
    compress: !options?.apiKey,
    debug: false,
  };
  const settings = { ...options } as Record<string, unknown>;
  for (const [name, preset] of Object.entries(defaults)) {
    const type = typeof preset;
    settings[name] ??= preset;
    const value = settings[name];
    // The service answers 404 to a double slash.
    if (typeof value === 'string') settings[name] = value.replace(/\/+$/, '');
    // An empty text, 0, a fraction below 1 and NaN are none.
    const isNone = type === 'number' ? !((value as number) >= 1) : value === '';
    if (typeof value !== type || isNone) {
      throw new TypeError(
        `clew: ${name}: expected a ${type}${type === 'number' ? ', at least 1' : ''}, not ${String(value)}`,
      );
    }
  }
  const { storageName, consent } = settings;
  // Without the slash, the path would be another address on each page.
  for (const name of ['baseUrl', 'eventsUrl']) {
    const url = settings[name];
    if (url && !/^\/|:\/\//.test(`${url}`)) throw new TypeError(`clew: ${name}: expected /path or a URL, not ${url}`);
  }
  if (!/^(granted|required)$/.test(`${consent}`))
    throw new TypeError(`clew: consent: expected 'granted' or 'required', not ${consent}`);
  // The identities of a visitor id are the properties of an object, one for each service.
  if (`${storageName}` in {}) throw new TypeError(`clew: storageName: expected another name, not ${storageName}`);
  const { visitorId } = settings;
  if (visitorId != null && !isVisitorId(visitorId))
    throw new TypeError(`clew: visitorId: expected a lower-case UUID, not ${visitorId}`);
  return settings as unknown as Settings;
};

type Name = keyof TrackerOptions;
type Check = readonly [expected: string, holds: (value: unknown) => boolean];

/** `normaliseOptions` checks it. */
const CHECKED: Check = ['', () => true];
const isFunction = (value: unknown): boolean => typeof value === 'function';
const FUNCTION: Check = ['a function', isFunction];
/**
 * Bundles contain a function such as `cookieDomain()` only where it is imported. So the option is its result, and not `true`.
 */
const resultOf = (name: Name, type = 'function'): Check => [
  `${name}(), imported from clew`,
  (value) => typeof value === type,
];
const METHODS = ['transact', 'read', 'abort', 'clear', 'isOpen', 'generation'] as const;

/** All options. Those without a value are not checked. */
const CHECKS: Record<Name, Check> = {
  baseUrl: CHECKED,
  eventsUrl: CHECKED,
  storageName: CHECKED,
  // A header takes no line break, such as that at the end of a file.
  apiKey: ['visible ASCII characters', (value) => typeof value === 'string' && /^[!-~]+$/.test(value)],
  flushInterval: CHECKED,
  maxBatchEvents: CHECKED,
  maxBatchBytes: CHECKED,
  maxQueuedEvents: CHECKED,
  maxAge: CHECKED,
  consent: CHECKED,
  respectGpc: CHECKED,
  visitorId: CHECKED,
  release: ['at most 64 characters', (value) => typeof value === 'string' && value.length <= 64],
  pageViews: resultOf('pageViews'),
  clicks: resultOf('clicks'),
  plugins: ['a list of functions', (value) => [value].flat().every((plugin) => !plugin || isFunction(plugin))],
  cookieDomain: resultOf('cookieDomain', 'object'),
  linkDomains: resultOf('linkDomains'),
  context: FUNCTION,
  beforeSend: FUNCTION,
  compress: CHECKED,
  transport: FUNCTION,
  store: [
    'an object with the methods of Store',
    (value) => METHODS.every((method) => isFunction((value as Partial<Store>)[method])),
  ],
  debug: CHECKED,
};

/**
 * Checks what `normaliseOptions` leaves to the compiler: names, and types other than text and numbers. A script tag needs no such
 * check. All of its options are text, and other code may give the tag attributes of its own.
 *
 * @throws TypeError that names the option, the expected value and the given value
 */
export const checkOptions = (options: TrackerOptions): void => {
  for (const [name, value] of Object.entries(options ?? {})) {
    // A mistyped `consent` would start without consent.
    if (!Object.hasOwn(CHECKS, name)) throw new TypeError(`clew: ${name}: expected one of ${Object.keys(CHECKS)}`);
    const [expected, holds] = CHECKS[name as Name];
    if (value != null && !holds(value))
      throw new TypeError(`clew: ${name}: expected ${expected}, not ${String(value)}`);
  }
};
