import type { Handed } from '../outbox/receipts.js';
import { byteLength } from '../recorder/event.js';
import { BATCH_PATH, type Book, jsonOf } from '../wire.js';
import type { Batch } from './cut.js';
import type { Answer } from './transport.js';

/** Most handovers in one question. */
export const MOST_ASKED = 20;

/** A request that only asks. */
export const QUESTION: Batch = { path: BATCH_PATH, items: [], body: '{"batch":[]}', bytes: 12 };

/** Most bytes that the page's clock adds to a body: three numbers of 16 digits, their name and their marks. */
const CLOCK_BYTES = 65;
/** Most bytes that `withQuestions` adds with the clock: a pair has two ids, a time and their marks. */
export const bytesOfQuestions = (count: number): number => CLOCK_BYTES + 70 + 60 * count;

/** The batch with fields for the relay in its body. */
export const withFields = (batch: Batch, fields: object): Batch => {
  const body = `${jsonOf(fields).slice(0, -1)},${batch.body.slice(1)}`;
  return { ...batch, body, bytes: byteLength(body) };
};

/** The batch with its own id, questions about handovers, the page's clock, and books, in its body. */
export const withQuestions = (
  batch: Batch,
  id: string,
  asked: readonly Handed[],
  clock: readonly number[],
  books: readonly Book[] = [],
): Batch => {
  const handovers = asked.map(({ id, at }) => [id, Math.max(Date.now() - at, 0)]);
  return withFields(batch, { handover: id, clock, ...(asked[0] && { handovers }), ...(books[0] && { books }) });
};

/** The meaning of an answer for the handovers that it was asked about. */
export interface Receipt {
  /** Handovers whose events need not be sent any more. */
  readonly taken: readonly Handed[];
  /** Handovers whose events are sent again. */
  readonly others: readonly Handed[];
}

/**
 * Judges what an answer states of handovers. An older relay states nothing, and refuses a batch without events perhaps. Undefined if there
 * is no answer yet: they are asked about again.
 */
export const receiptOf = (
  asked: readonly Handed[],
  { items }: Batch,
  { outcome, handovers }: Answer,
): Receipt | undefined => {
  if (!handovers && outcome !== 'delivered' && (items[0] || outcome !== 'rejected')) return undefined;
  // A forgotten one may not have arrived: the relay was down, or the clock was set ahead.
  const taken = asked.filter((_handed, at) => handovers?.[at] === 'taken');
  return { taken, others: asked.filter((one) => !taken.includes(one)) };
};
