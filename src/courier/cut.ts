import { byteLength, type ItemText, idOf, isEvent, singleBody, upsertBody } from '../recorder/event.js';
import { BATCH_PATH, EVENT_PATH, jsonOf, parseJson, UPSERT_PATH, type Upsert } from '../wire.js';

/** One request: its items, body and path. */
export interface Batch {
  readonly path: string;
  readonly items: readonly ItemText[];
  readonly body: string;
  /** Length of the body in UTF-8. */
  readonly bytes: number;
  /** The id that stands in the address, because the page leaves. */
  readonly handover?: string | undefined;
}

/** The limits of one request. */
export interface BatchLimits {
  readonly maxBatchEvents: number;
  readonly maxBatchBytes: number;
}

const OPEN = '{"batch":[';
const CLOSE = ']}';
/** Bytes of a batch's body that are not its events. */
export const ENVELOPE = OPEN.length + CLOSE.length;

/**
 * Cuts the next request off the front of `items`, before a limit is passed. An upsert, and an event that is to go to
 * the single-event endpoint, travel alone. Order is never changed, and the first item always goes, whatever its size.
 */
export const nextBatch = (
  items: readonly ItemText[],
  { maxBatchEvents, maxBatchBytes }: BatchLimits,
  singles?: ReadonlySet<string>,
): Batch | undefined => {
  const [first] = items;
  if (!first) return;
  const isAlone = (text: ItemText) => !isEvent(text) || singles?.has(idOf(text));
  let bytes = ENVELOPE - 1;
  let count = 0;
  for (const text of items) {
    bytes += byteLength(text) + 1;
    if (count && (count >= maxBatchEvents || bytes > maxBatchBytes || isAlone(first) || isAlone(text))) break;
    count++;
  }
  const taken = items.slice(0, count);
  const [path, body] = !isEvent(first)
    ? [UPSERT_PATH, upsertBody(first)]
    : isAlone(first)
      ? [EVENT_PATH, singleBody(first)]
      : [BATCH_PATH, OPEN + taken + CLOSE];
  return { path, items: taken, body, bytes: byteLength(body) };
};

/** As the relay accepts it. */
type SignedUpsert = Upsert & { readonly signature?: unknown };

const upsertIn = (text: ItemText): SignedUpsert | undefined => (isEvent(text) ? undefined : parseJson(text));

/**
 * One request for all upserts of a customer under one signature, if the first item is one of several. At the service, it has the same
 * result as one request after the other.
 *
 * @param most bytes of all of them together. Later upserts that do not fit are left.
 */
export const joinUpserts = (items: readonly ItemText[], most: number): Batch | undefined => {
  const first = items[0] ? upsertIn(items[0]) : undefined;
  let joined = first;
  let room = most;
  const taken: ItemText[] = [];
  for (const text of first ? items : []) {
    const upsert = upsertIn(text);
    if (!upsert || upsert.primary_key !== first?.primary_key) continue;
    // A token may name the properties that it is for.
    if (upsert.signature !== first?.signature) break;
    room -= byteLength(text);
    if (room < 0) break;
    taken.push(text);
    joined = { ...joined, ...upsert, properties: { ...joined?.properties, ...upsert.properties } };
  }
  if (!taken[1]) return undefined;
  const body = upsertBody(jsonOf(joined));
  return { path: UPSERT_PATH, items: taken, body, bytes: byteLength(body) };
};
