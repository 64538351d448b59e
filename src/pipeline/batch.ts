import { BATCH_PATH, EVENT_PATH, UPSERT_PATH } from '../wire.js';
import { byteLength, type ItemText, idOf, isUpsert, singleBody, upsertBody } from './event.js';

/** One request: what goes to which path. */
export interface Batch {
  readonly path: string;
  readonly items: readonly ItemText[];
  readonly body: string;
  readonly bytes: number;
}

export interface BatchLimits {
  readonly maxBatchEvents: number;
  readonly maxBatchBytes: number;
}

const OPEN = '{"batch":[';
const CLOSE = ']}';
/** Bytes of a batch's body that are not events. */
export const ENVELOPE = OPEN.length + CLOSE.length;

const alone = (path: string, item: ItemText, body: string): Batch => ({
  path,
  items: [item],
  body,
  bytes: byteLength(body),
});

/**
 * Cuts the next request off the front of `items`, before a limit is passed. An upsert, and an event that is to go to
 * the single-event endpoint, travel alone; order is never changed. The first item always goes, whatever its size.
 */
export const nextBatch = (
  items: readonly ItemText[],
  limits: BatchLimits,
  isSingle: (id: string) => boolean = () => false,
): Batch | undefined => {
  const first = items[0];
  if (first === undefined) return;
  if (isUpsert(first)) return alone(UPSERT_PATH, first, upsertBody(first));
  if (isSingle(idOf(first))) return alone(EVENT_PATH, first, singleBody(first));
  let bytes = ENVELOPE - 1;
  let count = 0;
  for (const item of items) {
    const more = byteLength(item) + 1;
    const fits = count < limits.maxBatchEvents && bytes + more <= limits.maxBatchBytes;
    if (count && (!fits || isUpsert(item) || isSingle(idOf(item)))) break;
    bytes += more;
    count++;
  }
  const taken = items.slice(0, count);
  return { path: BATCH_PATH, items: taken, body: OPEN + taken.join() + CLOSE, bytes };
};

/** All of `items` that fits into `room` bytes, as batches, in order: nothing is passed over. */
export const batchesWithin = (items: readonly ItemText[], limits: BatchLimits, room: number): Batch[] => {
  const batch = nextBatch(items, { ...limits, maxBatchBytes: Math.min(limits.maxBatchBytes, room) });
  if (!batch || batch.bytes > room) return [];
  return [batch, ...batchesWithin(items.slice(batch.items.length), limits, room - batch.bytes)];
};
