import { type ItemText, isEvent } from '../recorder/event.js';
import type { DropReason, Signals } from './signals.js';
import type { Stats } from './types.js';

/** The account of this page's events: each one tracked is queued until it ends, delivered or dropped for a reason. */
export const createLedger = (emit: <S extends keyof Signals>(signal: S, make: () => Signals[S]) => void) => {
  const counts: Stats = { tracked: 0, delivered: 0, queued: 0, dropped: {} };
  const begin = (): void => {
    counts.tracked++;
    counts.queued++;
  };
  /** So many events have reached their end: dropped if there is a reason, else delivered. Their texts are not here. */
  const endUnseen = (length: number, reason?: DropReason): void => {
    counts.queued -= length;
    if (!length) return;
    if (reason) counts.dropped[reason] = (counts.dropped[reason] ?? 0) + length;
    else counts.delivered += length;
  };
  /** These have reached their end: dropped if there is a reason, else delivered. Upserts are no events. */
  const end = (items: readonly ItemText[], reason?: DropReason): void => {
    const texts = items.filter(isEvent);
    if (!texts[0]) return;
    endUnseen(texts.length, reason);
    emit(
      reason ? 'dropped' : 'delivered',
      () => ({ events: texts.map((text) => JSON.parse(text)), ...(reason && { reason }) }) as never,
    );
  };
  return [counts, begin, end, endUnseen] as const;
};
