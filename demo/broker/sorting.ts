import type { Outcome, Waits } from './answer.ts';
import { type Cut, type Entry, nextCut, type Unit } from './entry.ts';

/**
 * Finds the events that the service rejects. A rejected request is halved until one event alone is rejected: a suspect. Suspects
 * leave the queue, so they never block other events. A suspect is sent again after a pause. The suspect is dropped if the service
 * rejects it again, and has accepted another request on the same path meanwhile. If the service has accepted none, the service
 * may be the cause.
 */

interface Suspect {
  /** How often the service has rejected it. A rejection counts only if the service has accepted a request since the last one. */
  refusals: number;
  /** How many requests on its path the service had accepted by the latest rejection. */
  after: number;
  /** The earliest time (ms since the epoch) at which it is sent again. */
  dueAt: number;
}

/** Result of an answer. Unless units are `settled`, the next request goes at once, after a short pause, or after a back-off. */
export type Verdict = 'settled' | 'next' | 'probe' | 'wait';

/** How many rejections drop an event. */
const REFUSALS = 2;
/** How many answers of 500 drop an event: more, since a 500 may be the service's fault. These answers take two minutes at least. */
const ERRORS = 8;
/** After this many single events were rejected in a row, each further one follows a pause. */
const IN_A_ROW = 5;
/** With this many suspects, the worker takes no further entries, because each suspect is in memory. */
const MOST_SUSPECTS = 1000;
/** Most bytes of a request: more than a relay appends at a time. */
const MOST_BYTES = 1_048_576;

/** @param waits the pause after a suspect's first refusal, which each further one doubles, and the longest one, in ms */
export const createSorting = (waits: Pick<Waits, 'first' | 'most'>) => {
  const suspects = new Map<string, Suspect>();
  /** How many requests the service has accepted, by path, because one endpoint may fail while the others work. */
  const taken = new Map<Entry['path'], number>();
  let inARow = 0;
  /** `largest` is the most bytes that the service takes, as its answers of 413 show. `most` is the most of the next request. */
  let largest = MOST_BYTES;
  let most = largest;
  /** Whether the last answer was a failure. The first 500 counts as the service's failure, and a second one as a rejection. */
  let hasFailed = false;
  /** A suspect's turn follows each request of other events. */
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

  /** The suspect that has been due for longest, so that each has its turn. */
  const earliest = (units: readonly Unit[]): Unit | undefined =>
    units.reduce<Unit | undefined>((found, unit) => {
      const isEarlier = !found || (suspectOf(unit)?.dueAt ?? 0) < (suspectOf(found)?.dueAt ?? 0);
      return isEarlier ? unit : found;
    }, undefined);

  return {
    /** How many entries a worker holds in addition to the usual number. */
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
     * @param isForced a suspect may be sent although the service has accepted nothing since
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
