/**
 * From a call to the bytes on the wire. The text is made once, in the call itself: it is the snapshot of the payload,
 * the size that is measured, the record in the store and the JSON that is sent.
 */

/** An event's or upsert's JSON. Every one begins with its `uuid`, so the text alone says what it is. */
export type ItemText = string;

const ID_START = '{"uuid":"'.length;
const ID_END = ID_START + 36;
/** Where the next field begins, after the closing quote and the comma. */
const BODY_START = ID_END + 2;
const TIMESTAMP = '"timestamp":"';
const UPSERT = '"primary_key":';

export const idOf = (text: ItemText): string => text.slice(ID_START, ID_END);
export const isUpsert = (text: ItemText): boolean => text.startsWith(UPSERT, BODY_START);

/** An event that does not yet know its visitor; `stamp` completes it. */
export const draftEvent = (uuid: string, at: number, event: string, payload: string | undefined): string =>
  `{"uuid":"${uuid}",${TIMESTAMP}${new Date(at).toISOString()}","event":${JSON.stringify(event)},"source":"custom","correlationKey":"_id"` +
  (payload === undefined ? '' : `,"payload":${payload}`);

export const stamp = (draft: string, correlationValue: string): ItemText =>
  `${draft},"correlationValue":"${correlationValue}"}`;

export const upsert = (uuid: string, primaryKey: string, properties: string): ItemText =>
  `{"uuid":"${uuid}",${UPSERT}${JSON.stringify(primaryKey)},"properties":${properties}}`;

/** The body of an upsert: the service knows no `uuid` there. */
export const upsertBody = (text: ItemText): string => `{${text.slice(BODY_START)}`;

/** The body for the single-event endpoint, which takes no `timestamp`. */
export const singleBody = (text: ItemText): string =>
  text.slice(0, BODY_START) + text.slice(text.indexOf(',', BODY_START) + 1);

const encoder = new TextEncoder();
/** Length in UTF-8, which is what every limit counts. */
export const byteLength = (text: string): number => encoder.encode(text).length;

/** `byteLength(text) > limit`, measured only where it can matter: UTF-8 has one to three bytes for each UTF-16 unit. */
export const isLongerThan = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && byteLength(text) > limit);
