import type { Store } from '../pipeline/store.js';
import type { Transport } from '../pipeline/transport.js';

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
   * How long an event waits for others to travel with, in ms.
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
   * Takes the browser's Global Privacy Control signal as a refusal of consent (https://w3c.github.io/gpc/).
   *
   * @default false
   */
  respectGpc?: boolean;
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
export type Settings = Required<Omit<TrackerOptions, 'apiKey' | 'transport' | 'store'>> &
  Pick<TrackerOptions, 'apiKey' | 'transport' | 'store'>;

const defaults = {
  flushInterval: 3000,
  maxBatchEvents: 200,
  maxBatchBytes: 60_000,
  maxQueuedEvents: 10_000,
  consent: 'granted',
  respectGpc: false,
  debug: false,
} as const;

const expect = (holds: boolean, name: keyof TrackerOptions, expected: string, value: unknown) => {
  if (!holds) throw new TypeError(`clew: ${name} must be ${expected}, not ${JSON.stringify(value)}`);
};

/** @throws TypeError that names the option, what was expected and what was given */
export const normaliseOptions = (options: TrackerOptions): Settings => {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  const settings = { ...defaults, eventsUrl: options?.baseUrl, ...Object.fromEntries(given) } as Settings;
  for (const name of ['baseUrl', 'eventsUrl', 'apiKey'] as const) {
    const value = settings[name];
    const isOptional = name === 'apiKey' && value === undefined;
    expect(isOptional || (typeof value === 'string' && value !== ''), name, 'a non-empty string', value);
  }
  for (const name of ['flushInterval', 'maxBatchEvents', 'maxBatchBytes', 'maxQueuedEvents'] as const) {
    const value = settings[name];
    expect(typeof value === 'number' && value > 0 && value < Infinity, name, 'a positive number', value);
  }
  expect(/^(granted|required)$/.test(settings.consent), 'consent', "'granted' or 'required'", settings.consent);
  return settings;
};
