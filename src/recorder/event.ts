import { v4 } from 'uuid';
import { IDENTIFY, jsonOf } from '../wire.js';

/**
 * From a call to the bytes on the wire. The call makes the text once. This text is the snapshot of the payload, the measured size,
 * the stored record and the JSON that is sent.
 */

/** JSON of an event or an upsert. Each begins with its `uuid`, so that the text alone shows its type. */
export type ItemText = string;

/** The place of the id in every text, and the place of the field after it. */
const ID_START = '{"uuid":"'.length;
const ID_END = ID_START + 36;
const REST = ID_END + '",'.length;

export const idOf = (text: ItemText): string => text.slice(ID_START, ID_END);
/** Where the time stands in the text of an event, which always has 24 characters. */
const TIME_START = REST + '"timestamp":"'.length;
/** The time of the event, in ms since the epoch. An upsert has none, which gives NaN. */
export const timeOf = (text: ItemText): number => Date.parse(text.slice(TIME_START, TIME_START + 24));

const IDENTIFIES = `"event":"${IDENTIFY}"`;
/** Whether this is the event that ties a visitor id to a customer. */
export const isIdentify = (text: ItemText): boolean => text.startsWith(IDENTIFIES, TIME_START + 26);

/** An event goes on with its `timestamp`, an upsert with `properties`. */
export const isEvent = (text: ItemText): boolean => text[REST + 1] === 't';

/** Whether an event is older than `ms`. An event from the future is not, because a clock was wrong. */
export const isOlder = (text: ItemText, age: number): boolean => isEvent(text) && Date.now() - timeOf(text) > age;

/** Whether this is the text of an item. Other code of the origin can write anything into the storage. */
export const isItem = (value: unknown): value is ItemText =>
  typeof value === 'string' && /^{"uuid":".{36}","[tp]/.test(value);

/** Whether an event may be called so. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== IDENTIFY && value !== '';

/** The first and the last time that have 24 characters. */
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
/** The page may have replaced `Date.now`, and its clock may show any time. */
const timestampOf = (at: number): string => new Date(Math.min(Math.max(at, EARLIEST), LATEST) || 0).toISOString();

/** An event, of a payload in JSON if it has one, that does not know its visitor yet: `stamp` adds the `correlationValue`. */
export const draftEvent = (at: number, event: string, payload?: string, id: string = v4()): ItemText =>
  `{"uuid":"${id}","timestamp":"${timestampOf(at)}","event":${JSON.stringify(event)},` +
  `"source":"custom","correlationKey":"_id"${payload ? `,"payload":${payload}` : ''}}`;

/** The same event as another one. */
export const renewed = (text: ItemText): ItemText => `{"uuid":"${v4()}${text.slice(ID_END)}`;

/** An upsert without its customer. `stamp` adds the `primary_key`. Throws if a getter of the properties throws. */
export const draftUpsert = (properties: unknown): ItemText => {
  const text = JSON.stringify({ uuid: v4(), properties });
  // The JSON counts: `toJSON` may turn an object into another type.
  if (text[REST + '"properties":'.length] !== '{') throw Error('setProperties: expected an object');
  return text;
};

/** The text with the fields that were unknown in the call. */
export const stamp = (draft: ItemText, known: Readonly<Record<string, unknown>>): ItemText =>
  `${draft.slice(0, -1)},${jsonOf(known).slice(1)}`;

/** The body of an upsert: the service knows no `uuid` there. */
export const upsertBody = (text: ItemText): string => `{${text.slice(REST)}`;

/** The body for the single-event endpoint, which takes no `timestamp`. */
export const singleBody = (text: ItemText): string => text.slice(0, REST) + text.slice(text.indexOf(',', REST) + 1);

const encoder = /* @__PURE__ */ new TextEncoder();
/** Length in UTF-8, as all limits count it. Encoding allocates a copy, and most texts are ASCII. */
export const byteLength = (text: string): number =>
  /[\x80-\uffff]/.test(text) ? encoder.encode(text).length : text.length;
