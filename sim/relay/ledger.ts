/** Something that happened in a simulation, such as a kill. The invariants are computed from all entries, in order. */
export type Entry =
  | { readonly what: 'reserved'; readonly key: string; readonly owner: string; readonly from: string }
  | { readonly what: 'taken'; readonly key: string; readonly from: string }
  | { readonly what: 'expired'; readonly key: string; readonly owner: string }
  /** A client of Redis has rejected a command. */
  | { readonly what: 'failed'; readonly args: readonly string[]; readonly from: string }
  | { readonly what: 'redis down' | 'redis up' | 'redis emptied' }
  | { readonly what: 'killed'; readonly from: string }
  | { readonly what: 'stored'; readonly uuid: string; readonly from: string; readonly request: number }
  /** A relay has read the service's answer to a request. */
  | { readonly what: 'read'; readonly request: number };

export interface Ledger {
  readonly entries: readonly Entry[];
  note(entry: Entry): void;
}

export const createLedger = (): Ledger => {
  const entries: Entry[] = [];
  return { entries, note: (entry) => void entries.push(entry) };
};

export const PREFIX = 'clew:seen:';

type Stored = Extract<Entry, { what: 'stored' }> & { readonly at: number };
type Reserved = Extract<Entry, { what: 'reserved' }>;

const isReservation = (entry: Entry, uuid: string): entry is Reserved =>
  entry.what === 'reserved' && entry.key === PREFIX + uuid;

/** Reads a ledger by positions, of which `from` is included and `to` is not. */
const readerOf = (entries: readonly Entry[]) => {
  const has = (from: number, to: number, is: (entry: Entry) => boolean) => entries.slice(from, to).some(is);
  return {
    has,
    /** The position of the latest reservation by the relay that has stored an event, or -1. */
    reservationOf: ({ uuid, from, at }: Stored) =>
      entries.findLastIndex((entry, place) => place < at && isReservation(entry, uuid) && entry.from === from),
    /** The position of the first reservation of an event after it was stored for the last time before `at`. */
    firstReservation: ({ uuid, at }: Stored) => {
      const before = entries.findLastIndex(
        (entry, place) => place < at && entry.what === 'stored' && entry.uuid === uuid,
      );
      return entries.findIndex((entry, place) => place > before && isReservation(entry, uuid));
    },
    storedOnes: () => entries.flatMap((entry, at): Stored[] => (entry.what === 'stored' ? [{ ...entry, at }] : [])),
  };
};

/**
 * The reason in docs/relay.md why an event may be stored again, or undefined.
 *
 * @returns `answer lost`: no relay has read the service's answer. `keys lost`: Redis has forgotten the event. `not written`: the
 * relay or Redis was killed before Redis had written that the service has taken the event
 */
const excuseOf = (entries: readonly Entry[], first: Stored, second: Stored): string | undefined => {
  const { has, reservationOf, firstReservation } = readerOf(entries);
  if (!has(first.at, entries.length, (entry) => entry.what === 'read' && entry.request === first.request))
    return 'answer lost';
  const [from, to] = [reservationOf(first), reservationOf(second)];
  // The relay that reserved the event first may forward it last.
  const earliest = Math.min(firstReservation(first), from, to);
  if (has(earliest, Math.max(from, to), ({ what }) => what === 'redis emptied')) return 'keys lost';
  const isDown = (what: string) => what === 'redis down' || what === 'redis up';
  const isWritten = has(from, to, (entry) => entry.what === 'taken' && entry.key === PREFIX + first.uuid);
  const isKilled = has(from, to, (entry) => entry.what === 'killed' && entry.from === first.from);
  if (!isWritten && (isKilled || has(from, to, ({ what }) => isDown(what)))) return 'not written';
  return undefined;
};

/** Events that the service has stored again: the faults have no excuse, and the others have one excuse each. */
export const repeatsIn = (entries: readonly Entry[]) => {
  const latest = new Map<string, Stored>();
  const faults: string[] = [];
  const excuses: string[] = [];
  const { storedOnes, reservationOf } = readerOf(entries);
  for (const stored of storedOnes()) {
    const before = latest.get(stored.uuid);
    latest.set(stored.uuid, stored);
    if (reservationOf(stored) < 0) faults.push(`${stored.uuid} was forwarded without a reservation`);
    if (!before) continue;
    const excuse = excuseOf(entries, before, stored);
    if (excuse) excuses.push(excuse);
    else faults.push(`${stored.uuid} was stored by ${before.from}, and again by ${stored.from}`);
  }
  return { faults, excuses };
};

/** Reservations that expired although their relay was alive and all its commands about them had succeeded. */
export const abandonedIn = (entries: readonly Entry[]): string[] => {
  const { has } = readerOf(entries);
  return entries.flatMap((entry, at) => {
    if (entry.what !== 'expired' || entry.owner === 'taken') return [];
    const { key, owner } = entry;
    const isMine = (other: Entry): other is Reserved =>
      other.what === 'reserved' && other.key === key && other.owner === owner;
    const { from } = entries.find(isMine) as Reserved;
    const isExcused = (other: Entry) =>
      (other.what === 'killed' && other.from === from) ||
      (other.what === 'failed' && other.from === from && other.args.includes(key));
    return has(0, at, isExcused) ? [] : [`${key} of ${from} stayed reserved`];
  });
};
