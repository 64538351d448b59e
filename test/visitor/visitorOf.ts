import { draftEvent, draftUpsert } from '../../src/recorder/event.ts';
import type { Call } from '../../src/visitor/calls.ts';
import type { Identity, Visitor } from '../../src/visitor/record.ts';

export const SERVICE = '/clew';

/** A visitor id that ends with this digit. */
export const visitorId = (digit: number): string => `01234567-89ab-4cde-8f01-23456789abc${digit}`;

/** The visitor with that id and version, identified if there is a key. */
export const visitorOf = (
  digit: number,
  turn: number,
  key?: string | number,
  changes: Partial<Visitor> = {},
): Visitor => ({
  thread: visitorId(digit),
  turn,
  since: undefined,
  keys: key === undefined ? {} : { [SERVICE]: [key] as Identity },
  pages: 0,
  ...changes,
});

export const track = (name: string, at = Date.now()): Call => ({ text: draftEvent(at, name) });
export const upsert = (plan: string, at = Date.now()): Call => ({ text: draftUpsert({ plan }), at });
/** Begins the visitor id that ends with this digit. */
export const reset = (digit: number, at = Date.now()): Call => ({ fresh: visitorId(digit), at });
/** Begins the visitor id that ends with this digit, if it has to begin one. */
export const identify = (key: string, digit: number, at = Date.now()): Call => ({
  text: draftEvent(at, '$identify', JSON.stringify({ distinct_id: key })),
  fresh: visitorId(digit),
  key,
  at,
});

/** The name of an event, or the plan of an upsert. */
export const nameOf = (text: string): string => {
  const { event, properties } = JSON.parse(text);
  return event ?? properties.plan;
};
