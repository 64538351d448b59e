import type { Outcome, Waits } from './answer.ts';
import { type Cut, type Entry, nextCut, type Unit } from './entry.ts';

/**
 * Finds the events that the service refuses. A refused request is halved until one event alone is refused: a suspect. Suspects
 * leave the queue of the others, so they hold nothing up. A suspect goes again after a pause, and is given up if the service
 * refuses it although it has taken others on the same path meanwhile. Without that, the cause may be the service.
 */

interface Suspect {
  /** Refusals, each after the service had taken another event since the one before. */
  refusals: number;
  /** So many requests on its path had been taken at the latest of them. */
  after: number;
  /** Not before then (ms) it goes again. */
  dueAt: number;
}

/** What comes of an answer: the units are settled, the next request can go at once, or it has to wait. */
export type Verdict = 'settled' | 'next' | 'probe' | 'wait';

/** A 400 is about the event. */
const REFUSALS = 2;
/** A 500 says little: half of a service may be down. With the pauses this takes two minutes at least. */
const ERRORS = 8;
/** So many single events refused in a row: from then on there is a pause before the next one. */
const IN_A_ROW = 5;
/** With so many suspects no further entries are taken, because each suspect is in memory. */
const MOST_SUSPECTS = 1000;
/** Bytes of a request, more than a relay appends at a time. */
const MOST_BYTES = 1_048_576;

/** @param waits the pause after a suspect's first refusal, which each further one doubles, and the longest one, in ms */
export const createSorting = (waits: Pick<Waits, 'first' | 'most'>) => {
  const suspects = new Map<string, Suspect>();
  /** Requests that were taken, by path: one endpoint of the service may fail while the others work. */
  const taken = new Map<Entry['path'], number>();
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
  const takenOf = ({ entry: { path } }: Unit) => taken.get(path) ?? 0;

  const refuse = (unit: Unit, status: number | undefined, now: number): Verdict => {
    const suspect = suspectOf(unit) ?? { refusals: 0, after: -1, dueAt: now };
    suspects.set(nameOf(unit), suspect);
    if (takenOf(unit) > suspect.after) suspect.refusals++;
    suspect.after = takenOf(unit);
    suspect.dueAt = now + Math.min(waits.first * 2 ** (suspect.refusals - 1), waits.most);
    if (suspect.refusals >= (status === 500 ? ERRORS : REFUSALS)) return 'settled';
    return ++inARow < IN_A_ROW ? 'next' : 'probe';
  };

  /** The suspect that has been due for longest: each has its turn. */
  const earliest = (units: readonly Unit[]): Unit | undefined =>
    units.reduce<Unit | undefined>((found, unit) => {
      const isEarlier = !found || (suspectOf(unit)?.dueAt ?? 0) < (suspectOf(found)?.dueAt ?? 0);
      return isEarlier ? unit : found;
    }, undefined);

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
     * The next request, or undefined if there are only suspects, and each has to wait.
     *
     * @param isForced a suspect may go although the service has taken nothing since
     */
    next(units: readonly Unit[], now: number, isForced: boolean): Cut | undefined {
      const fresh = units.filter((unit) => !suspectOf(unit));
      const isDue = (unit: Unit) => {
        const suspect = suspectOf(unit);
        return !!suspect && (isForced || (takenOf(unit) > suspect.after && now >= suspect.dueAt));
      };
      const due = earliest(units.filter(isDue));
      const goesSuspect = due && (isTurnOfSuspect || !fresh[0]);
      isTurnOfSuspect = !goesSuspect;
      return goesSuspect ? nextCut([due], 1, now) : nextCut(fresh, most, now);
    },

    judge({ units, bytes }: Cut, outcome: Outcome, status: number | undefined, now: number): Verdict {
      const [first, second] = units;
      if (!first) return 'wait';
      if (outcome === 'delivered') {
        taken.set(first.entry.path, takenOf(first) + 1);
        inARow = 0;
        hasFailed = false;
        const isEnd = units.at(-1)?.at === first.entry.units.length - 1;
        if (most < largest) most = isEnd ? largest : Math.min(bytes * 2, largest);
        return 'settled';
      }
      const isDoubtful = hasFailed || most < largest || suspectOf(first);
      const isRefused = outcome === 'rejected' || (status === 500 && isDoubtful);
      hasFailed ||= !isRefused;
      if (!isRefused) return 'wait';
      if (!second) return refuse(first, status, now);
      most = bytes >> 1;
      if (status === 413) largest = most;
      return 'next';
    },
  };
};
