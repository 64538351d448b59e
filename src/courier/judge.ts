import { type ItemText, idOf } from '../recorder/event.js';
import { BISECT, type Bisection, isOn, narrowed, refused, SETTLED, taken, unanswered, WAIT } from './bisect.js';
import { fail, type Link, succeed, take } from './lease.js';
import type { Next } from './next.js';
import type { Answer } from './transport.js';

/** Changes the link inside a transaction. */
export type Change = (link: Link, tab: string, now: number) => void;

/** The meaning of an answer. */
export interface Judgement {
  /** Ids of events that need no further request. */
  readonly done: readonly string[];
  /** Ids of events that the service rejected. */
  readonly lost: readonly string[];
  /** A smaller request has the same events, or the first of them, and asks the same questions. */
  readonly isTooLarge: boolean;
  /** The site's owner is to read the answer's message. */
  readonly isError: boolean;
  readonly change: Change;
}

/**
 * Judges the answer to a request. Changes the bisection.
 *
 * @param items those of the batch that the answer is about
 */
export const judge = (
  bisection: Bisection,
  items: readonly ItemText[],
  { batch: { bytes }, sent, books, isLast }: Next,
  { outcome, status, retryAfter, rejected }: Answer,
): Judgement => {
  const ids = items.map(idOf);
  const isDelivered = outcome === 'delivered';
  // A question has no events to bisect. If it is rejected, the relay is an older one.
  const verdictOnNone = isDelivered || outcome === 'rejected' ? SETTLED : WAIT;
  const verdictOnSome = () =>
    isDelivered
      ? taken(bisection, bytes, isLast)
      : outcome === 'rejected' || (status === 500 && isOn(bisection))
        ? refused(bisection, bytes, ids, isLast, status)
        : unanswered(bisection, bytes);
  const least = ids[0] || books[0] ? bytes : sent.bytes;
  const isTooLarge = outcome === 'rejected' && status === 413 && narrowed(bisection, ids.length, least, sent.bytes);
  const verdict = isTooLarge ? BISECT : ids[0] ? verdictOnSome() : verdictOnNone;
  const isRefused = verdict === WAIT && outcome !== 'failed';
  const done = verdict === SETTLED ? ids : [];
  // The service's answers have no fixed form: `rejected` may be anything.
  const lost = isDelivered ? (Array.isArray(rejected) ? rejected.map((one) => one?.uuid) : []) : done;
  // A failure with a 2xx is the answer of another server, and 0 is a transport that breaks its contract.
  const isForeign = outcome === 'failed' && (status ?? 300) < 300;
  const wait: Change = (...held) => fail(...held, isRefused, retryAfter);
  return {
    done,
    lost,
    isTooLarge,
    isError: isRefused || !!lost[0] || isForeign,
    change: isDelivered ? succeed : verdict === WAIT ? wait : take,
  };
};
