import { draftEvent } from '../pipeline/event.js';
import { IDENTIFY } from '../wire.js';
import type { DropReason } from './signals.js';

/** A call's event as text without its thread, or with what is wrong with it. */
export interface Intake {
  readonly text: string;
  readonly reason?: DropReason;
  readonly message?: string;
}

const kindOf = (value: unknown): string => (value === null ? 'null' : typeof value);

/** JSON of `value`, or why there is none. Reading somebody's object may throw anything: getters, proxies. */
const toJson = (value: unknown): { json?: string; message?: string } => {
  try {
    const json = JSON.stringify(value);
    if (json !== undefined || value === undefined) return json === undefined ? {} : { json };
    return { message: `a ${kindOf(value)} is nothing that JSON can express` };
  } catch (error) {
    return { message: String(error) };
  }
};

/** The snapshot of a `track` call. */
export const readEvent = (id: string, at: number, event: unknown, payload: unknown): Intake => {
  const { json, message } = toJson(payload);
  const text = draftEvent(id, at, String(event), json);
  if (typeof event !== 'string' || !event) {
    return { text, reason: 'rejected', message: `the event's name must be a non-empty string, not ${kindOf(event)}` };
  }
  if (event === IDENTIFY) return { text, reason: 'rejected', message: `${IDENTIFY} is reserved: call identify()` };
  return message ? { text, reason: 'unserialisable', message: `payload of ${event}: ${message}` } : { text };
};

/** The JSON of customer properties, or why they cannot be sent. */
export const readProperties = (properties: unknown): { json?: string; message?: string } =>
  properties && typeof properties === 'object' && !Array.isArray(properties)
    ? toJson(properties)
    : { message: `properties must be an object, not ${kindOf(properties)}` };

/** What is wrong with a primary key: the service would ignore anything but a string, silently. */
export const primaryKeyFault = (primaryKey: unknown): string | undefined =>
  typeof primaryKey === 'string' && primaryKey
    ? undefined
    : `identify: the primary key must be a non-empty string, not ${primaryKey === '' ? 'an empty one' : kindOf(primaryKey)}`;
