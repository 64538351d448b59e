/**
 * From a call to the bytes on the wire. The text is made once, in the call itself: it is the snapshot of the payload,
 * the size that is measured, the record in the store and the JSON that is sent.
 */

/** JSON of an event or an upsert. Each begins with its `uuid`, so that the text alone says what it is. */
export type ItemText = string;

/** Where the id stands in every text, and where what follows it begins. */
const ID_START = '{"uuid":"'.length;
const ID_END = ID_START + 36;
const REST = ID_END + '",'.length;
const UPSERT = '"primary_key":';

export const idOf = (text: ItemText): string => text.slice(ID_START, ID_END);
export const isEvent = (text: ItemText): boolean => !text.startsWith(UPSERT, REST);

/** An event that does not know its visitor yet: all but the closing brace. */
export const draftEvent = (id: string, at: number, event: string, payload: string | undefined): string =>
  `{"uuid":"${id}","timestamp":"${new Date(at).toISOString()}","event":${JSON.stringify(event)},"source":"custom","correlationKey":"_id"` +
  (payload ? `,"payload":${payload}` : '');

export const stamp = (draft: string, correlationValue: string): ItemText =>
  `${draft},"correlationValue":"${correlationValue}"}`;

export const upsert = (id: string, primaryKey: string, properties: string): ItemText =>
  `{"uuid":"${id}",${UPSERT}${JSON.stringify(primaryKey)},"properties":${properties}}`;

/** The body of an upsert: the service knows no `uuid` there. */
export const upsertBody = (text: ItemText): string => `{${text.slice(REST)}`;

/** The body for the single-event endpoint, which takes no `timestamp`. */
export const singleBody = (text: ItemText): string => text.slice(0, REST) + text.slice(text.indexOf(',', REST) + 1);

const encoder = new TextEncoder();
/** Length in UTF-8, which is what every limit counts. */
export const byteLength = (text: string): number => encoder.encode(text).length;
