/** The JSON that both ends agree on: what the tracker sends, the relay checks and the service stores. */

/** `POST {baseUrl}/api/customers/upsert` */
export const UPSERT_PATH = '/api/customers/upsert';
/** `POST {baseUrl}/api/events/batch/` */
export const BATCH_PATH = '/api/events/batch/';
/** `POST {eventsUrl}/events/` */
export const EVENT_PATH = '/events/';
/** The reserved event that ties a visitor's `correlationValue` to a customer. */
export const IDENTIFY = '$identify';

/** One event as it travels. */
export interface WireEvent {
  /** v4 UUID of the event itself: what makes a repeat recognisable. */
  uuid: string;
  /** When it happened: ISO 8601, UTC, milliseconds. Batch events only. */
  timestamp?: string;
  /** The name that journeys wait on. */
  event: string;
  source: 'custom';
  correlationKey: '_id';
  /** The visitor's thread: a lower-case v4 UUID, the same for all their events. */
  correlationValue: string;
  /** Free data; journeys filter on it. */
  payload?: unknown;
}

/** The body of an upsert: adds or changes each property, deletes those that are `null`. */
export interface Upsert {
  primary_key: string;
  properties?: Record<string, unknown>;
}

/** What a relay answers when it refused some events of a batch and took the others. */
export interface Rejections {
  rejected: { uuid: string; reason: string }[];
}

/** An address and one of the paths above, with exactly one slash between them: the service answers 404 to two. */
export const joinUrl = (base: string, path: string): string => base.replace(/\/+$/, '') + path;
