import type { Store } from '../pipeline/store.js';
import type { Transport } from '../pipeline/transport.js';
import type { SharedVisitor } from './cookieDomain.js';
import type { LinkDomains } from './linkDomains.js';
import type { BeforeSend } from './prepare.js';
import type { Plugin } from './types.js';

/** What `createTracker` takes. Only `baseUrl` is required. */
export interface TrackerOptions {
  /**
   * Where the service, or better a relay in front of it, is: an absolute URL or a path of the page's own origin.
   * With `apiKey` it is the service itself, without it a relay that holds the key.
   *
   * @example '/clew'
   */
  baseUrl: string;
  /**
   * Where single events go, for services that take them elsewhere.
   *
   * @default baseUrl
   */
  eventsUrl?: string;
  /**
   * The service's key. It is private and rules over all customers: never put it into a public page, use a relay.
   *
   * @default none: `baseUrl` is a relay
   */
  apiKey?: string;
  /**
   * How long an event waits for others to travel with, in ms. While nothing has been confirmed for ten minutes, it does not.
   *
   * @default 3000
   */
  flushInterval?: number;
  /**
   * Most events of one request.
   *
   * @default 200
   */
  maxBatchEvents?: number;
  /**
   * Most bytes (UTF-8) of one request; an event that does not fit into it is dropped as `too-large`. Browsers hand over
   * no more than 65,536 bytes as a page goes away.
   *
   * @default 60000
   */
  maxBatchBytes?: number;
  /**
   * Most events held while nothing can be sent; further ones are dropped as `full`.
   *
   * @default 10000
   */
  maxQueuedEvents?: number;
  /**
   * `required`: nothing is written and nothing is sent before `consent(true)`; calls are held in memory until then.
   *
   * @default 'granted'
   */
  consent?: 'granted' | 'required';
  /**
   * One thread for all hosts of a site, in a cookie. In a script tag: `data-cookie-domain`, a domain or `auto`.
   *
   * @default none: each host has its own
   * @example cookieDomain('auto')
   */
  cookieDomain?: SharedVisitor;
  /**
   * One thread over sites on different domains, by a parameter of links between them. In a script tag:
   * `data-link-domains`, domains with spaces between.
   *
   * @default none
   * @example linkDomains(['shop.example', 'help.example'])
   */
  linkDomains?: LinkDomains;
  /**
   * Tracks page views. In a script tag: `data-page-views`, empty or with options in words.
   *
   * @default none
   * @example pageViews({ hash: true })
   */
  pageViews?: Plugin;
  /**
   * Tracks clicks, changes and submits of marked elements. In a script tag: `data-clicks`, empty or with options in words.
   *
   * @default none
   * @example clicks({ outbound: true })
   */
  clicks?: Plugin;
  /**
   * Takes Global Privacy Control, where the browser sends it, for a refusal: nothing is written, nothing is sent, and calls
   * are dropped as `consent`. `consent(true)` is the visitor's own answer, and wins. https://w3.org/TR/gpc
   *
   * @default false
   */
  respectGpc?: boolean;
  /**
   * Properties of every event, for payloads that are objects, or none; the event's own come first. Called once for each event, in
   * the call that tracks it, and copied. What it throws is told to `error` listeners, and the event travels without.
   *
   * @default none
   * @example () => ({ ...browserContext(), release: '1.4.2' })
   */
  context?: (() => Record<string, unknown>) | undefined;
  /**
   * Changes or drops (`filtered`) an event in the call that tracks it, before it is stored anywhere; `$identify` does not pass
   * through. Synchronous, and not to track anything itself. Where it throws, or returns what is no event, the event is dropped
   * and told to `error` listeners, rather than sent as it was.
   *
   * @default none
   * @example redactUrls()
   */
  beforeSend?: BeforeSend | undefined;
  /**
   * Sends ordinary requests as gzip, where the browser can: a fifth of the bytes. Whatever answers has to take
   * `Content-Encoding: gzip`, as clew's relay does. What goes out as a page leaves is never compressed.
   *
   * @default true with a relay, false with `apiKey`
   */
  compress?: boolean;
  /**
   * Sends requests in place of `fetch`. Wrap `fetchTransport` to add to it.
   *
   * @default fetchTransport
   */
  transport?: Transport;
  /**
   * Keeps what is unsent, and the visitor's thread, in place of IndexedDB.
   *
   * @default IndexedDB, or memory where it is refused
   */
  store?: Store;
  /**
   * Says on the console what is delivered, dropped and wrong.
   *
   * @default false
   */
  debug?: boolean;
}

/** The options with their defaults filled in. */
export type Settings = Required<Omit<TrackerOptions, Bare>> & Pick<TrackerOptions, Bare>;

/** Options without a default. */
type Bare =
  | 'apiKey'
  | 'transport'
  | 'store'
  | 'context'
  | 'beforeSend'
  | 'pageViews'
  | 'clicks'
  | 'cookieDomain'
  | 'linkDomains';

/**
 * Fills in the defaults.
 *
 * @throws TypeError that names the option, what was expected and what was given
 */
export const normaliseOptions = (options: TrackerOptions): Settings => {
  const defaults: Record<string, string | number | boolean> = {
    baseUrl: '',
    eventsUrl: options?.baseUrl,
    flushInterval: 3000,
    maxBatchEvents: 200,
    maxBatchBytes: 60_000,
    maxQueuedEvents: 10_000,
    consent: 'granted',
    respectGpc: false,
    compress: !options?.apiKey,
    debug: false,
  };
  const settings = { ...options } as Record<string, unknown>;
  for (const name in defaults) {
    const type = typeof defaults[name];
    settings[name] ??= defaults[name];
    const value = settings[name];
    // The service answers 404 to a double slash.
    if (typeof value === 'string') settings[name] = value.replace(/\/+$/, '');
    // Empty text is 0 to a number: above it are positive numbers, and text with something in it.
    if (typeof value !== type || (type !== 'boolean' && !((value as string | number) > ''))) {
      throw new TypeError(`clew: ${name}: expected a ${type}, not ${value}`);
    }
  }
  return settings as unknown as Settings;
};

/**
 * What `normaliseOptions` leaves to the compiler, for those who have none. Script tags, whose options are all text, do
 * without it.
 *
 * @throws TypeError that names the option, what was expected and what was given
 */
export const checkOptions = (options: TrackerOptions): void => {
  const expect = (holds: boolean, name: keyof TrackerOptions, expected: string) => {
    if (!holds) throw new TypeError(`clew: ${name}: expected ${expected}, not ${String(options[name])}`);
  };
  const { apiKey, consent, store } = options ?? {};
  expect(apiKey == null || (typeof apiKey === 'string' && apiKey !== ''), 'apiKey', 'a non-empty string');
  expect(['granted', 'required'].includes(consent ?? 'granted'), 'consent', "a string, 'granted' or 'required'");
  for (const name of ['transport', 'context', 'beforeSend'] as const) {
    expect(options?.[name] == null || typeof options[name] === 'function', name, 'a function');
  }
  expect(
    store == null ||
      (['transact', 'read', 'abort', 'clear', 'isOpen', 'generation'] as const).every(
        (method) => typeof store?.[method] === 'function',
      ),
    'store',
    'an object with the methods of Store',
  );
  for (const name of ['pageViews', 'clicks', 'cookieDomain', 'linkDomains'] as const) {
    // What is not imported is not bundled: so it is what a function has made, and neither true nor text.
    const type = name === 'cookieDomain' ? 'object' : 'function';
    expect(options?.[name] === undefined || typeof options[name] === type, name, `${name}(), imported from clew`);
  }
};
