import { isObject, kindOf } from '../wire.js';
import { ADDRESS, isAddress, isKey, KEY } from './address.js';

/** The options of `createService`. */
export interface ServiceOptions {
  /**
   * Full prefix of the service's addresses. Required.
   *
   * @example 'https://service.example'
   */
  baseUrl: string;
  /**
   * Full prefix of the single-event endpoint.
   *
   * @default baseUrl
   */
  eventsUrl?: string | undefined;
  /** The service's key, sent as `Authorization: Api-Key <key>`. Required. */
  apiKey: string;
  /**
   * How long a request may take, in ms. Without an answer by then, it rejects with a `ServiceError` without a status.
   *
   * @default 20000
   */
  timeout?: number | undefined;
  /**
   * Sends the requests.
   *
   * @default the global `fetch`
   */
  fetch?: typeof fetch | undefined;
}

/** Longer timers fire at once: https://html.spec.whatwg.org/multipage/timers-and-user-prompts.html#timers */
const LONGEST_TIMER = 2 ** 31 - 1;

const isTime = (ms: unknown): boolean => typeof ms === 'number' && ms > 0 && ms <= LONGEST_TIMER;

/** Whether a value is valid, and what is expected. The compiler checks that the list is whole. */
const OPTIONS: Record<keyof ServiceOptions, readonly [holds: (value: unknown) => boolean, expected: string]> = {
  baseUrl: [isAddress, ADDRESS],
  eventsUrl: [isAddress, ADDRESS],
  apiKey: [isKey, KEY],
  timeout: [isTime, `a number above 0, at most ${LONGEST_TIMER}`],
  fetch: [(value) => typeof value === 'function', 'a function'],
};
const REQUIRED: readonly string[] = ['baseUrl', 'apiKey'] satisfies (keyof ServiceOptions)[];

/** @throws TypeError for a missing, invalid or unknown option: it names the option and what was expected, and never the key */
export const checkOptions = (options: ServiceOptions): void => {
  const fail = (name: string, expected: string, got: string) => {
    throw new TypeError(`createService: ${name}: expected ${expected}, got ${got}`);
  };
  if (!isObject(options)) fail('options', 'an object', kindOf(options));
  const stray = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (stray !== undefined) fail(stray.slice(0, 80), `one of ${Object.keys(OPTIONS).join(', ')}`, 'another name');
  for (const [name, [holds, expected]] of Object.entries(OPTIONS)) {
    const value = options[name as keyof ServiceOptions];
    const isLeftOut = value === undefined && !REQUIRED.includes(name);
    if (!isLeftOut && !holds(value)) fail(name, expected, kindOf(value));
  }
};
