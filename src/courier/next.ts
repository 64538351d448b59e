import type { Handed, Receipts } from '../outbox/receipts.js';
import { type ItemText, idOf, isEvent } from '../recorder/event.js';
import { BATCH_PATH, type Book, UPSERT_PATH } from '../wire.js';
import type { Bisection } from './bisect.js';
import { type Batch, type BatchLimits, nextBatch } from './cut.js';
import { bytesOfQuestions, MOST_ASKED, QUESTION, withQuestions } from './question.js';

/** The next request. */
export interface Next {
  /** The events of the request. */
  readonly batch: Batch;
  /** The request itself: the batch, with its id and the questions. */
  readonly sent: Batch;
  /** Names the request to the relay. Without a receipt it is ''. */
  readonly id: string;
  /** Handovers that it asks about. */
  readonly questions: readonly Handed[];
  /** Books that it states. */
  readonly books: readonly Book[];
  /** No event is queued after the batch. Properties may be queued after properties. */
  readonly isLast: boolean;
}

/**
 * Chooses the next request, or none. Handed-over events wait for the relay's answer about them.
 *
 * @param texts all events that may be sent, oldest first
 * @param isEnd no others are stored
 * @param ready leaves out the events that wait for a token
 * @param stated the books that a request with this batch states, in at most so many bytes
 */
export const nextRequest = (
  texts: readonly ItemText[],
  isEnd: boolean,
  ready: (items: readonly ItemText[]) => readonly ItemText[],
  receipts: Receipts | undefined,
  limits: BatchLimits,
  bisection: Bisection,
  singles: ReadonlySet<string>,
  clock: () => readonly number[],
  stated: (batch: Batch, room: number) => readonly Book[] = () => [],
): Next | undefined => {
  const open = receipts?.open() ?? [];
  const handed = new Set(open.flatMap(({ ids }) => ids));
  const held = texts.filter((text) => handed.has(idOf(text)));
  const items = ready(texts.filter((text) => !handed.has(idOf(text))));
  const isAside = (text: ItemText) => bisection.aside.includes(idOf(text));
  const hasUpsertAside = items.some((text) => isAside(text) && !isEvent(text));
  // Properties never pass earlier ones that are set aside: these may be taken yet, and would overwrite them.
  const start = items.findIndex((text) => !isAside(text) && (isEvent(text) || !hasUpsertAside));
  // If all are passed over, the next one lies behind the rows of this read, or it is the turn of the first one again.
  const place = start < 0 && !isEnd ? items.length : Math.max(start, 0);
  const waiting = items.slice(place);
  if (start < 0 && isEnd) bisection.aside = [];
  bisection.passed = place;
  // First those that keep events back. The others may have been answered: their rows lie behind a backlog, so they are asked about again.
  const heldIds = new Set(held.map(idOf));
  const isBlocking = ({ ids }: Handed) => ids.some((id) => heldIds.has(id));
  const asked = [...open.filter(isBlocking), ...open.filter((one) => !isBlocking(one))].slice(0, MOST_ASKED);
  const room = receipts ? bytesOfQuestions(asked.length) : 0;
  const maxBatchBytes = Math.min(bisection.most, bisection.largest - room);
  const cut = nextBatch(waiting, { ...limits, maxBatchBytes }, singles);
  // Later events must not pass handed-over events, which may not have arrived.
  const batch = held[0] ? QUESTION : cut;
  if (!batch) return;
  // An event of the largest size is sent alone, without a receipt.
  const hasReceipt = receipts && (!batch.items[0] || batch.bytes + room <= bisection.largest);
  const questions = hasReceipt && batch.path === BATCH_PATH ? asked : [];
  const id = hasReceipt ? receipts.makeId() : '';
  const books = id ? stated(batch, bisection.largest - batch.bytes - room) : [];
  const sent = id ? withQuestions(batch, id, questions, clock(), books) : batch;
  const later = waiting.slice(batch.items.length);
  const isLast = !(batch.path === UPSERT_PATH ? later.some(isEvent) : later[0]);
  return { batch, sent, id, questions, books, isLast };
};
