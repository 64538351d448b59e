import { BATCH_PATH, EVENT_PATH, UPSERT_PATH } from '../wire.js';
import { byteLength, type ItemText, idOf, isEvent, singleBody, upsertBody } from './event.js';

/** One request: what goes to which path. */
export interface Batch {
  readonly path: string;
  readonly items: readonly ItemText[];
  readonly body: string;
  /** Length of the body in UTF-8, or a little more. */
  readonly bytes: number;
}

/** What one request may hold. */
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
  const pathOf = (text: ItemText) => (isEvent(text) ? (singles?.has(idOf(text)) ? EVENT_PATH : BATCH_PATH) : UPSERT_PATH);
  const [first] = items;
  if (!first) return;
  const path = pathOf(first);
  const isBatch = path === BATCH_PATH;
  let bytes = ENVELOPE - 1;
  let count = 0;
  for (const text of items) {
    const more = byteLength(text) + 1;
    const fits = count < maxBatchEvents && bytes + more <= maxBatchBytes;
    if (count && !(isBatch && fits && pathOf(text) === path)) break;
    bytes += more;
    count++;
  }
  const taken = items.slice(0, count);
  const body = isBatch ? OPEN + taken + CLOSE : (path === EVENT_PATH ? singleBody : upsertBody)(first);
  return { path, items: taken, body, bytes };
};

/** All of `items` as batches, in order, as far as `room` bytes reach: none is passed over. */
export function* batchesWithin(items: readonly ItemText[], limits: BatchLimits, room: number): Generator<Batch> {
  let rest = items;
  let left = room;
  for (;;) {
    const batch = nextBatch(rest, { ...limits, maxBatchBytes: Math.min(limits.maxBatchBytes, left) });
    if (!batch || batch.bytes > left) return;
    yield batch;
    rest = rest.slice(batch.items.length);
    left -= batch.bytes;
  }
}
