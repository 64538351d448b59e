import { type ItemText, idOf, isUpsert } from '../pipeline/event.js';
import type { DropReason, Signals } from './signals.js';
import type { Stats } from './types.js';

type Emit = <S extends keyof Signals>(signal: S, make: () => Signals[S]) => void;

/** The account of this page's events: each one tracked ends as delivered, or dropped for a reason. */
export const createLedger = (emit: Emit) => {
  const endings = new Map<string, () => void>();
  const dropped = {} as Stats['dropped'];
  for (const reason of ['rejected', 'too-large', 'full', 'expired', 'unserialisable', 'filtered', 'consent'] as const) {
    dropped[reason] = 0;
  }
  let tracked = 0;
  let delivered = 0;

  const end = (signal: 'delivered' | 'dropped', texts: readonly ItemText[], reason?: DropReason) => {
    const events = texts.filter((text) => !isUpsert(text));
    if (reason) dropped[reason] += events.length;
    else delivered += events.length;
    // An upsert that is dropped has been told as an error; it is no event.
    if (events.length) emit(signal, () => ({ events: events.map((text) => JSON.parse(text)), reason }) as never);
    for (const text of events) {
      endings.get(idOf(text))?.();
      endings.delete(idOf(text));
    }
  };

  return {
    tracked: (): void => {
      tracked++;
    },
    delivered: (texts: readonly ItemText[]): void => end('delivered', texts),
    dropped: (texts: readonly ItemText[], reason: DropReason): void => end('dropped', texts, reason),
    /** Calls back when the event with this id has reached its end. */
    whenEnded: (id: string, then: () => void): void => {
      endings.set(id, then);
    },
    stats: (queued: number): Stats => ({ tracked, delivered, queued, dropped: { ...dropped } }),
  };
};
