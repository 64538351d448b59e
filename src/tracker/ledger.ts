import { type ItemText, idOf, isEvent } from '../pipeline/event.js';
import type { DropReason, Signals } from './signals.js';
import type { Stats } from './types.js';

/** The account of this page's events: each one tracked ends as delivered, or as dropped for a reason. */
export const createLedger = (emit: <S extends keyof Signals>(signal: S, value: Signals[S]) => void) => {
  const endings = new Map<string, () => void>();
  const dropped: Stats['dropped'] = {
    rejected: 0,
    'too-large': 0,
    full: 0,
    expired: 0,
    unserialisable: 0,
    filtered: 0,
    consent: 0,
  };
  const counts = { tracked: 0, delivered: 0 };

  return {
    counts,
    /** Calls back when the event with this id has reached its end, whichever. */
    whenEnded: (id: string, then: () => void): Map<string, () => void> => endings.set(id, then),
    /** These have reached their end: dropped if there is a reason, else delivered. Upserts are no events. */
    end(items: readonly ItemText[], reason?: DropReason): void {
      const texts = items.filter(isEvent);
      if (!texts[0]) return;
      const events = texts.map((text) => JSON.parse(text));
      if (reason) {
        dropped[reason] += texts.length;
        emit('dropped', { events, reason });
      } else {
        counts.delivered += texts.length;
        emit('delivered', { events });
      }
      for (const id of texts.map(idOf)) {
        endings.get(id)?.();
        endings.delete(id);
      }
    },
    stats: (queued: number): Stats => ({ ...counts, queued, dropped: { ...dropped } }),
  };
};
