import { draftEvent, draftUpsert, type ItemText, idOf, stamp } from '../../src/recorder/event.ts';
import type { WireEvent } from '../../src/wire.ts';

export const VISITOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
export const AT = Date.UTC(2026, 0, 31, 12, 30, 15, 7);

/** An event of the one visitor, ready to be queued. */
export const eventText = (name = 'seen', payload?: unknown): ItemText =>
  stamp(draftEvent(AT, name, JSON.stringify(payload)), { correlationValue: VISITOR_ID });

/** An event of this moment. */
export const eventNow = (name: string): ItemText =>
  stamp(draftEvent(Date.now(), name), { correlationValue: VISITOR_ID });

export const upsertText = (properties: object = { plan: 'pro' }, primary_key = 'ann'): ItemText =>
  stamp(draftUpsert(properties), { primary_key });

/** An event whose text has exactly `bytes` bytes. */
export const eventOf = (bytes: number, fill = 'x'): ItemText => {
  const empty = Buffer.byteLength(eventText('seen', ''));
  const text = eventText('seen', fill.repeat((bytes - empty) / Buffer.byteLength(fill)));
  if (Buffer.byteLength(text) !== bytes) throw new Error(`no event of ${bytes} bytes can be made of ${fill}`);
  return text;
};

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The events in a batch's body. */
export const eventsIn = (body: string): WireEvent[] => (JSON.parse(body) as { batch: WireEvent[] }).batch;
/** The names of the events in a batch's body. */
export const namesIn = (body: string): string[] => eventsIn(body).map(({ event }) => event);

export { idOf };
