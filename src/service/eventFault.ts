import { IDENTIFY, isObject, kindOf } from '../wire.js';

/**
 * Checks an event for the relay and the service client. A service behind a broker cannot answer a page, so the relay refuses each
 * event that the service would refuse.
 */

/** Levels of nesting. Every later reader walks the data by recursion. */
export const MAX_DEPTH = 200;
/** Characters of a primary key. Postgres's index of unique keys holds about 2,700 bytes, and a character takes at most three. */
export const MAX_KEY_LENGTH = 500;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Whether a value is a lower-case UUID. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** Databases know no year 0. An offset can lead into it, or beyond 9999. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z');
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');
const isTimestamp = (value: unknown): boolean => {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return false;
  const time = Date.parse(value);
  if (Number.isNaN(time)) return false;
  const day = Number(value.slice(8, 10));
  // `Date.parse` accepts the 30th of February as the 2nd of March.
  const isOfMonth = () => new Date(value.replace(/T.*/, 'T00:00Z')).getUTCDate() === day;
  return (day < 29 || isOfMonth()) && time >= FIRST_TIME && time <= LAST_TIME;
};

/** The JSON of a value, or its kind if JSON cannot hold it. */
const shown = (value: unknown): string => {
  try {
    return JSON.stringify(value)?.slice(0, 80) ?? 'nothing';
  } catch {
    return typeof value === 'bigint' ? 'a bigint' : kindOf(value);
  }
};

/** Half of a surrogate pair. UTF-8 writes each of them as U+FFFD, so two keys would have one signature. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The fault of a primary key, or undefined. */
export const keyFault = (key: unknown): string | undefined => {
  if (typeof key !== 'string' || !key) return `expected a non-empty string, got ${shown(key)}`;
  if (key.length > MAX_KEY_LENGTH) return `expected at most ${MAX_KEY_LENGTH} characters, got ${key.length}`;
  return LONE_SURROGATE.test(key) ? 'expected well-formed Unicode, got half of a surrogate pair' : undefined;
};

/** The fault of free data, with its place, or undefined. */
export const dataFault = (value: unknown, depth = 0): string | undefined => {
  // `JSON.parse` makes Infinity of 1e999, and `JSON.stringify` would write it as null, which deletes a property.
  if (typeof value === 'number' && !Number.isFinite(value)) return ': expected a finite number';
  if (typeof value === 'bigint') return ': expected a value that JSON can hold, got a bigint';
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) return `: expected at most ${MAX_DEPTH} levels of nesting`;
  for (const name of Object.keys(value)) {
    const fault = dataFault((value as Record<string, unknown>)[name], depth + 1);
    if (fault !== undefined) return depth ? fault : `.${name.slice(0, 80)}${fault}`;
  }
  return;
};

/** The fault of an event from outside: the field, the expected value and the actual value. Undefined if it is valid. */
export const eventFault = (event: unknown): string | undefined => {
  if (!isObject(event)) return `expected an object, got ${shown(event)}`;
  const { uuid, timestamp, source, correlationKey, correlationValue, payload } = event;
  const name = event.event;
  if (typeof name !== 'string' || !name) return `event: expected a non-empty string, got ${shown(name)}`;
  if (source !== 'custom') return `source: expected "custom", got ${shown(source)}`;
  if (correlationKey !== '_id') return `correlationKey: expected "_id", got ${shown(correlationKey)}`;
  if (!isUuid(correlationValue)) {
    return `correlationValue: expected a lower-case UUID, got ${shown(correlationValue)}`;
  }
  if (uuid !== undefined && !isUuid(uuid)) {
    return `uuid: expected a lower-case UUID, got ${shown(uuid)}`;
  }
  if (timestamp !== undefined && !isTimestamp(timestamp)) {
    return `timestamp: expected an ISO 8601 date and time, got ${shown(timestamp)}`;
  }
  const data = dataFault(payload);
  if (data !== undefined) return `payload${data}`;
  if (name !== IDENTIFY) return;
  const key = keyFault(isObject(payload) ? payload.distinct_id : undefined);
  return key && `payload.distinct_id: ${key}`;
};
