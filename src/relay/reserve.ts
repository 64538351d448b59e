import { inTime } from '../service/inTime.js';
import type { RelayedEvent } from './job.js';
import { Refusal } from './request.js';
import { pause } from './retry.js';
import type { Seen, SeenState } from './seen.js';

/** Shortest and longest wait before `seen` is asked again about an event that another request is forwarding, in ms. */
const FIRST_LOOK = 10;
const LAST_LOOK = 500;

/** Any other answer would pass for `taken`, and the page would delete an event that no service has. */
const isState = (state: unknown): boolean => state === 'new' || state === 'pending' || state === 'taken';

const uuidsOf = (events: readonly RelayedEvent[]): string[] =>
  events.map(({ came }) => came.uuid).filter((uuid) => uuid !== undefined);

/** Ids that no other request has reserved meanwhile. */
export interface Reservation {
  /** The ids that were new. */
  readonly fresh: readonly string[];
  /** Confirms the `taken` of them and releases the others. The promise never rejects: if `seen` fails, the reservation expires. */
  end(taken: readonly string[]): Promise<void>;
}

/** Reserves ids. Rejects with a `Refusal`. */
export type Reserve = (uuids: readonly string[]) => Promise<Reservation>;

/** Events that no other request forwards meanwhile. */
export interface EventReservation {
  readonly events: readonly RelayedEvent[];
  /** The others, which the service has. */
  readonly repeats: readonly RelayedEvent[];
  /** As of a `Reservation`. */
  end(taken: readonly RelayedEvent[]): Promise<void>;
}

/**
 * Reserves events, each once.
 *
 * @param refused events that are not forwarded. `repeats` gets those that the service has
 */
export const reserveEvents = async (
  reserve: Reserve,
  events: readonly RelayedEvent[],
  refused: readonly RelayedEvent[] = [],
): Promise<EventReservation> => {
  const { fresh, end } = await reserve(uuidsOf([...events, ...refused]));
  const left = new Set(fresh);
  const kept: RelayedEvent[] = [];
  const repeats: RelayedEvent[] = [];
  for (const event of events) {
    const { uuid } = event.came;
    // An id that is in a batch twice is forwarded once.
    const isNew = uuid === undefined || left.delete(uuid);
    (isNew ? kept : repeats).push(event);
  }
  const isTaken = ({ came: { uuid } }: RelayedEvent) => uuid !== undefined && !fresh.includes(uuid);
  repeats.push(...refused.filter(isTaken));
  return { events: kept, repeats, end: (taken) => end(uuidsOf(taken)) };
};

/** Reserves for the owner those of the ids that are new, and resolves to the state of each. Rejects with a `Refusal`. */
export type AskSeen = (uuids: readonly string[], owner: string) => Promise<readonly SeenState[]>;

/**
 * Creates a function that waits at most `timeout` ms for the answer of `seen`.
 *
 * @param onError receives why `seen` has failed
 */
export const createAskSeen =
  (seen: Seen, timeout: number, onError: (error: unknown) => void): AskSeen =>
  async (uuids, owner) => {
    const asked = (async () => seen.reserve(uuids, owner))();
    try {
      const states = await inTime(asked, timeout, 'seen');
      const isWhole = Array.isArray(states) && states.length === uuids.length && states.every(isState);
      if (!isWhole) throw new TypeError('seen.reserve: expected a state for each event');
      return states;
    } catch (error) {
      // `seen` may have reserved some ids, or will yet. The relay releases these ids whenever the answer comes.
      asked
        .catch(() => {})
        .then(() => seen.release(uuids, owner))
        .catch(() => {});
      onError(error);
      throw new Refusal(503, 'the relay cannot read which events are confirmed', 1);
    }
  };

/**
 * Creates a function that reserves ids and resolves to those that are new. The function waits at most `timeout` ms for
 * ids that another request has reserved, and as long for each answer of `seen`.
 *
 * @param onError receives why `seen` has failed
 */
export const createReserve = (seen: Seen, timeout: number, onError: (error: unknown) => void): Reserve => {
  const ask = createAskSeen(seen, timeout, onError);
  return async (uuids) => {
    const until = performance.now() + timeout;
    const owner = crypto.randomUUID();
    const end = async (how: 'confirm' | 'release', uuids: readonly string[]): Promise<void> => {
      if (uuids.length === 0) return;
      try {
        await inTime((async () => seen[how](uuids, owner))(), timeout, 'seen');
      } catch (error) {
        onError(error);
      }
    };
    let open = [...new Set(uuids)];
    for (let wait = FIRST_LOOK; ; wait = Math.min(wait * 2, LAST_LOOK)) {
      const states = await ask(open, owner);
      const mine = open.filter((_, at) => states[at] === 'new');
      if (!states.includes('pending')) {
        return {
          fresh: mine,
          async end(taken) {
            const confirmed = new Set(taken);
            await Promise.all([
              end('confirm', [...confirmed]),
              end(
                'release',
                mine.filter((uuid) => !confirmed.has(uuid)),
              ),
            ]);
          },
        };
      }
      open = open.filter((_, at) => states[at] !== 'taken');
      // Two relays that wait for each other's events would wait for ever.
      await end('release', mine);
      if (performance.now() > until) throw new Refusal(503, 'another request is forwarding the same events', 1);
      await pause(wait * (1 + Math.random()));
    }
  };
};
