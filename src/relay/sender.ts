import { isPromise, written } from '../service/written.js';
import { IDENTIFY, isObject, kindOf, type Properties } from '../wire.js';
import {
  type AddressOptions,
  type ConnectionInfo,
  clientAddress,
  isHeaderName,
  shortened,
  standardForm,
} from './address.js';
import type { RelayedEvent } from './job.js';
import type { RelayRequest } from './request.js';

/** Fields that the relay adds to the payload of each event except `$identify`, in place of the page's fields of the same name. */
export interface EnrichOptions {
  /**
   * The country of the client, from a header that your CDN writes: two capital letters. Without a CDN that replaces this header,
   * pages can write it themselves.
   *
   * @default none
   * @example { header: 'CF-IPCountry', field: 'country' }
   */
  country?: { readonly header: string; readonly field: string } | undefined;
  /**
   * The client's address, found as `limits` finds it. Shortened to the first 24 bits of IPv4, or 48 of IPv6, unless `isWhole`.
   *
   * @default none
   * @example { field: 'address' }
   */
  address?: { readonly field: string; readonly isWhole?: boolean | undefined } | undefined;
  /**
   * Returns fields for the header `User-Agent`, and no promise. docs/relay.md has an example with the package `bowser`.
   *
   * @default none
   * @example (userAgent: string) => ({ isPhone: userAgent.includes('Mobile') })
   */
  userAgent?: ((userAgent: string) => Properties) | undefined;
}

/** The relay's action for events of bots. */
export interface BotOptions {
  /**
   * Whether the header `User-Agent` is a bot's, for example by the package `isbot`. After an exception or an answer that is no
   * boolean, `onError` gets the error, and the sender counts as no bot.
   */
  readonly isBot: (userAgent: string) => boolean;
  /**
   * The payload field that is `true` in events of bots, except `$identify`. Without it, the relay drops the events of bots.
   *
   * @default none
   */
  readonly mark?: string | undefined;
}

/** The sender of a request, as far as events need it. */
export interface Sender {
  readonly isBot: boolean;
  /** The relay drops this sender's events. */
  readonly isRefused: boolean;
  /** Adds to an event what is known of its sender. */
  readonly enrich: (event: RelayedEvent) => RelayedEvent;
  /** The event without the fields of `enrich`. */
  readonly bare: (event: RelayedEvent) => RelayedEvent;
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** The fault of the options: a name, what was expected, and what it got. Undefined if they are valid. */
export const checkSender = (
  enrich: unknown,
  bots: unknown,
): [name: string, expected: string, got: string] | undefined => {
  if (enrich !== undefined && !isObject(enrich)) return ['enrich', 'an object', kindOf(enrich)];
  const { country, address, userAgent } = enrich ?? {};
  if (country !== undefined && !(isObject(country) && isHeaderName(country.header) && isName(country.field)))
    return ['enrich.country', '{ header: the name of a header, field: a name }', kindOf(country)];
  const isSwitch = (value: unknown) => value === undefined || typeof value === 'boolean';
  if (address !== undefined && !(isObject(address) && isName(address.field) && isSwitch(address.isWhole)))
    return ['enrich.address', '{ field: a name, isWhole?: a boolean }', kindOf(address)];
  if (userAgent !== undefined && typeof userAgent !== 'function')
    return ['enrich.userAgent', 'a function', kindOf(userAgent)];
  const isMark = (value: unknown) => value === undefined || isName(value);
  if (bots !== undefined && !(isObject(bots) && typeof bots.isBot === 'function' && isMark(bots.mark)))
    return ['bots', '{ isBot: a function, mark?: a name }', kindOf(bots)];
  return undefined;
};

/** CDNs write XX for an unknown country, and Cloudflare T1 for Tor. */
const COUNTRY = /^(?!XX)[A-Z]{2}$/;

/** Characters of `User-Agent` that are read: parsers search it with regular expressions, and a client can write any length. */
const MAX_USER_AGENT = 1000;

const ANYONE: Sender = { isBot: false, isRefused: false, enrich: (event) => event, bare: (event) => event };

/** Names a wrong answer. */
const shownKind = (value: unknown): string => (isPromise(value) ? 'a promise' : kindOf(value));

type Fields = Record<string, unknown>;

/** `accept` gets the event before it is JSON, so no field may be undefined. */
const enriched = (event: RelayedEvent, fields: Fields): RelayedEvent => {
  const { forwarded } = event;
  const { payload = {} } = forwarded;
  if (event.came.event === IDENTIFY || !isObject(payload) || !Object.keys(fields)[0]) return event;
  const known = Object.entries({ ...payload, ...fields }).filter(([, value]) => value !== undefined);
  return { ...event, forwarded: { ...forwarded, payload: Object.fromEntries(known) } };
};

/**
 * Creates a function that finds out who has sent a request.
 *
 * @param onError receives what a function of the options throws. The event then goes without its fields
 */
export const createSenders = (
  { country, address, userAgent }: EnrichOptions,
  bots: BotOptions | undefined,
  proxies: AddressOptions,
  onError: (error: unknown) => void,
) => {
  const attempt = <T>(work: () => T, otherwise: T): T => {
    try {
      return work();
    } catch (error) {
      onError(error);
      return otherwise;
    }
  };
  /** The names of all fields that the parser has returned: no page may write one that it leaves out. */
  let unknown: Fields = {};
  const parse = (agent: string): Fields => {
    const given: unknown = userAgent?.(agent);
    // Written and read, so that no later step can fail on what the function returns. JSON omits undefined fields.
    const { data } = written(given, 'enrich.userAgent');
    if (!isObject(given) || !isObject(data))
      throw new TypeError(`enrich.userAgent: expected an object, got ${kindOf(given)}`);
    unknown = { ...unknown, ...Object.fromEntries(Object.keys(given).map((name) => [name, undefined])) };
    return { ...unknown, ...data };
  };
  const judge = (agent: string): boolean => {
    const answer: unknown = bots?.isBot(agent);
    if (typeof answer !== 'boolean') throw new TypeError(`bots.isBot: expected a boolean, got ${shownKind(answer)}`);
    return answer;
  };
  const addressOf = (headers: Pick<Headers, 'get'>, connection: ConnectionInfo): string | undefined => {
    const from = clientAddress(headers, connection, proxies);
    return from && (address?.isWhole ? standardForm(from) : shortened(from));
  };
  if (!country && !address && !userAgent && !bots) return () => ANYONE;
  return ({ headers }: RelayRequest, connection: ConnectionInfo): Sender => {
    const agent = headers.get('User-Agent')?.slice(0, MAX_USER_AGENT);
    const isBot = !!agent && !!bots && attempt(() => judge(agent), false);
    // A field without a value takes the place of the page's, too: the service cannot know who has written a field.
    const fields: Fields = { ...unknown, ...(agent && userAgent && attempt(() => parse(agent), {})) };
    if (country) fields[country.field] = COUNTRY.exec(headers.get(country.header) ?? '')?.[0];
    if (address) fields[address.field] = addressOf(headers, connection);
    if (bots?.mark) fields[bots.mark] = isBot || undefined;
    const none = () => Object.fromEntries(Object.keys(fields).map((name) => [name, undefined]));
    return {
      isBot,
      isRefused: isBot && !bots?.mark,
      enrich: (event) => enriched(event, fields),
      bare: (event) => enriched(event, none()),
    };
  };
};
