import { type ItemText, isEvent } from '../pipeline/event.js';
import type { DropReason, Signals } from './signals.js';
import type { Stats } from './types.js';

/** The account of this page's events: each one tracked ends as delivered, or as dropped for a reason. */
export const createLedger = (emit: <S extends keyof Signals>(signal: S, make: () => Signals[S]) => void) => {
  const counts: Omit<Stats, 'queued'> = { tracked: 0, delivered: 0, dropped: {} };
  /** These have reached their end: dropped if there is a reason, else delivered. Upserts are no events. */
  const end = (items: readonly ItemText[], reason?: DropReason): void => {
    const texts = items.filter(isEvent);
    const events = () => texts.map((text) => JSON.parse(text));
    if (!texts[0]) return;
    if (reason) {
      counts.dropped[reason] = (counts.dropped[reason] ?? 0) + texts.length;
      emit('dropped', () => ({ events: events(), reason }));
    } else {
      counts.delivered += texts.length;
      emit('delivered', () => ({ events: events() }));
    }
  };
  return { counts, end };
};
