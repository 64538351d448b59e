/** The JSON that the tracker sends, the relay checks and the service stores. */

/** `POST {baseUrl}/api/customers/upsert` */
export const UPSERT_PATH = '/api/customers/upsert';
/** `POST {baseUrl}/api/events/batch/` */
export const BATCH_PATH = '/api/events/batch/';
/** `POST {eventsUrl}/events/` */
export const EVENT_PATH = '/events/';
/** The reserved event that ties a visitor's `correlationValue` to a customer. */
export const IDENTIFY = '$identify';

/** The header of each answer by a relay. A 2xx without it comes from a service worker, a CDN or a captive portal. */
export const RELAY_HEADER = 'clew-relay';

/**
 * The parameter in the address, or the field in the body, that names a request whose answer its page may never read: a UUID. The
 * relay remembers it as long as the request's events.
 */
export const HANDOVER = 'handover';
/** The header in which a relay answers the field `handovers`, a list of `[id, age in ms]`: their states, in the same order. */
export const HANDOVERS_HEADER = 'clew-handovers';

/**
 * - `taken`: the relay has forwarded the handover, and the service has all of its events.
 * - `unknown`: the relay has not forwarded the handover, or has refused some of its events.
 * - `forgotten`: the handover is older than all that the relay remembers.
 */
export type HandoverState = 'taken' | 'unknown' | 'forgotten';

/** The header in which a relay answers the field `books`: how many events of each it has not accounted for, in the same order. */
export const BOOKS_HEADER = 'clew-books';

/**
 * The account of a page load, in the field `books` of a request to a relay. `closed`: no page has an event with a number up to this
 * one any more, except those in the same request. `since`: when the page load began, in ms since the epoch by the visitor's clock.
 */
export type Book = readonly [
  load: number,
  count: number,
  closed: number,
  release: string,
  drops: readonly Drop[],
  since?: number,
];

/**
 * Events that this page has dropped: `length` ones from the number `first`, of any page load. `load` and `first` are 0 for events of
 * this page load that never had a number.
 */
export type Drop = [reason: string, load: number, first: number, length: number];

/** One event as it travels. */
export interface WireEvent {
  /** v4 UUID of the event. A retry has the same one, so that the relay can drop the duplicate. */
  uuid: string;
  /** When the event happened: ISO 8601, UTC, milliseconds. Batch events only. */
  timestamp?: string;
  /** The name that journeys wait on. */
  event: string;
  source: 'custom';
  correlationKey: '_id';
  /** The visitor id: a lower-case v4 UUID, the same for all events of the visitor. */
  correlationValue: string;
  /** Free data. Journeys filter on it. */
  payload?: unknown;
  /**
   * Names the page load by a random number, and numbers its events from 1. The relay counts the missing numbers, and does not
   * forward this field.
   */
  seq?: [load: number, event: number];
  /** Only in `$identify`: the primary key's token by `signIdentity`, or its signature by `signPrimaryKey`. The relay checks it and does not forward it. */
  signature?: string;
}

/**
 * An object of properties. The second part takes objects of an `interface` type, which has no index signature. Lists, maps, dates,
 * functions and promises do not compile, because their JSON is no such object.
 */
export type Properties =
  | Readonly<Record<string, unknown>>
  | (object & {
      readonly [Symbol.iterator]?: never;
      readonly [Symbol.hasInstance]?: never;
      readonly [Symbol.toPrimitive]?: never;
      readonly [Symbol.toStringTag]?: never;
    });

/** The body of an upsert: adds or changes each property, and deletes a property that is `null`. */
export interface Upsert {
  primary_key: string;
  properties?: Record<string, unknown> | undefined;
}

/**
 * The relay's reason for an identity token that is no longer valid, because it has expired or its key was rotated or revoked. The
 * relay puts this reason into `rejected`, or into the `error` of 422. The app can make a new token.
 */
export const TOKEN_EXPIRED = 'signature: token-expired';

/** The relay's answer if it refused some events of a batch and took the others. */
export interface Rejections {
  rejected: { uuid: string; reason: string }[];
}

/** An address and one of the paths above, with exactly one slash between them: the service answers 404 to two. */
export const joinUrl = (base: string, path: string): string => base.replace(/\/+$/, '') + path;

/** The value of JSON from outside, or undefined if it is not JSON. */
export const parseJson = <T>(text: string | undefined): T | undefined => {
  try {
    // A missing text is not parsed, because the first exception of a page costs a millisecond.
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
};

/** A replacer that leaves lists as they are. */
function keepList(this: Record<string, unknown>, key: string, value: unknown): unknown {
  return Array.isArray(this[key]) ? this[key] : value;
}

/**
 * JSON of clew's own data. Prototype 1.6 and older libraries make a text of each list by `Array.prototype.toJSON`:
 * http://api.prototypejs.org/language/Array/prototype/toJSON/
 */
export const jsonOf = (value: unknown): string => JSON.stringify(value, 'toJSON' in [] ? keepList : undefined);

/** The sum of these numbers. A loop, because Prototype 1.6 replaces `Array.prototype.reduce`. */
export const sumOf = <T>(list: readonly T[], numberOf: (one: T) => number): number => {
  let sum = 0;
  for (const one of list) sum += numberOf(one);
  return sum;
};

/** Names a wrong option without its text, which may be a secret. */
export const kindOf = (value: unknown): string => {
  const type = typeof value;
  if (value === '') return 'an empty string';
  if (type === 'string' || type === 'function' || (type === 'number' && Number(value) > 0)) return `a ${type}`;
  return type === 'object' && value ? 'an object' : String(value);
};

/** Whether a value is a JSON object, and not an array or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
