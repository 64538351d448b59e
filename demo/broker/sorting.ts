import type { Outcome } from './answer.ts';
import { type Cut, nextCut, type Unit } from './entry.ts';

/**
 * Finds the events that the service refuses. A refused request is halved until one event alone is refused: a suspect. Suspects
 * leave the queue of the others, so they hold nothing up. A suspect is given up if the service refuses it again after it has
 * taken another event. Without that, the cause may be the service.
 */

interface Suspect {
  /** Refusals, each after the service had taken another event since the one before. */
  refusals: number;
  /** So many requests had been taken at the latest of them. */
  after: number;
}

/** What comes of an answer: the units are settled, the next request can go at once, or it has to wait. */
export type Verdict = 'settled' | 'next' | 'probe' | 'wait';

/** A 400 is about the event. */
const REFUSALS = 2;
/** A 500 says little: half of a service may be down. */
const ERRORS = 4;
/** So many single events refused in a row: from then on there is a pause before the next one. */
const IN_A_ROW = 5;
/** No more suspects are held at a time, because each is in memory. */
const MOST_SUSPECTS = 1000;
/** Bytes of a request, more than a relay appends at a time. */
const MOST_BYTES = 1_048_576;

export const createSorting = () => {
  const suspects = new Map<string, Suspect>();
  let taken = 0;
  let inARow = 0;
  /** Most bytes that the service takes, as far as it has said, and of the next request. */
  let largest = MOST_BYTES;
  let most = largest;
  /** A 500 is of the service until it comes again. */
  let hasFailed = false;
  /** A suspect goes after each request of the others. */
  let isTurnOfSuspect = false;

  const nameOf = ({ entry, at }: Unit) => `${entry.id} ${at}`;
  const suspectOf = (unit: Unit) => suspects.get(nameOf(unit));

  const refuse = (unit: Unit, status: number | undefined): Verdict => {
    const suspect = suspectOf(unit) ?? { refusals: 0, after: -1 };
    suspects.set(nameOf(unit), suspect);
    if (taken > suspect.after) suspect.refusals++;
    suspect.after = taken;
    if (suspect.refusals >= (status === 500 ? ERRORS : REFUSALS)) return 'settled';
    return ++inARow < IN_A_ROW ? 'next' : 'probe';
  };

  return {
    /** How many more entries to hold, besides the usual number. */
    held: () => suspects.size,
    isFull: () => suspects.size >= MOST_SUSPECTS,

    /** Forgets suspects that are no longer among `units`. */
    keep(units: readonly Unit[]): void {
      const names = new Set(units.map(nameOf));
      for (const name of suspects.keys()) if (!names.has(name)) suspects.delete(name);
    },

    /**
     * The next request, or undefined if there are only suspects, and the service has taken nothing since it refused each.
     *
     * @param isForced a suspect may go nevertheless: the wait is over
     */
    next(units: readonly Unit[], now: number, isForced: boolean): Cut | undefined {
      const fresh = units.filter((unit) => !suspectOf(unit));
      const waitsSince = (unit: Unit) => suspectOf(unit)?.after ?? taken;
      // The one that has waited longest: with many suspects, each has its turn.
      const due = units.reduce<Unit | undefined>(
        (found, unit) => (waitsSince(unit) < (found ? waitsSince(found) : taken) ? unit : found),
        undefined,
      );
      const goesSuspect = due && (isTurnOfSuspect || !fresh[0]);
      isTurnOfSuspect = !goesSuspect;
      if (goesSuspect) return nextCut([due], 1, now);
      return nextCut(fresh[0] || !isForced ? fresh : units.slice(0, 1), most, now);
    },

    judge({ units, bytes }: Cut, outcome: Outcome, status: number | undefined): Verdict {
      const [first, second] = units;
      if (outcome === 'delivered') {
        const last = units.at(-1);
        const isEnd = last && last.at === last.entry.units.length - 1;
        taken++;
        inARow = 0;
        hasFailed = false;
        if (most < largest) most = isEnd ? largest : Math.min(bytes * 2, largest);
        return 'settled';
      }
      const isDoubtful = hasFailed || most < largest || (first && suspectOf(first));
      const isRefused = outcome === 'rejected' || (status === 500 && isDoubtful);
      hasFailed ||= !isRefused;
      if (!isRefused || !first) return 'wait';
      if (!second) return refuse(first, status);
      most = bytes >> 1;
      if (status === 413) largest = most;
      return 'next';
    },
  };
};
