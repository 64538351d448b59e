import { draftEvent } from '../pipeline/event.js';
import { IDENTIFY, isObject } from '../wire.js';
import type { DropReason } from './signals.js';

/** A call's event as text without its thread; with a `reason` if it cannot be sent, and what was expected. */
export interface Intake {
  readonly draft: string;
  readonly reason?: DropReason | '' | undefined;
  readonly fault?: string | undefined;
}

interface Json {
  readonly json?: string | undefined;
  readonly fault?: string | undefined;
}

/** JSON of `value`, or why there is none: reading somebody's object may throw anything. */
const toJson = (value: unknown): Json => {
  try {
    const json = JSON.stringify(value);
    return json || value === undefined ? { json } : { fault: `JSON knows no ${typeof value}` };
  } catch (error) {
    return { fault: `${error}` };
  }
};

/** The snapshot of a `track` call. */
export const readEvent = (id: string, at: number, event: unknown, payload: unknown): Intake => {
  const { json, fault } = toJson(payload);
  const isName = typeof event === 'string' && event && event !== IDENTIFY;
  return {
    draft: draftEvent(id, at, isName ? event : typeof event, json),
    reason: isName ? fault && 'unserialisable' : 'rejected',
    fault: isName ? fault : `an event's name must be a non-empty string; for ${IDENTIFY} there is identify()`,
  };
};

/** JSON of a customer's properties, or why they cannot be sent. */
export const readProperties = (properties: unknown): Json =>
  isObject(properties) ? toJson(properties) : { fault: 'properties must be an object' };
