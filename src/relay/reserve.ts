import type { RelayedEvent } from './job.js';
import { Refusal } from './request.js';
import type { Seen } from './seen.js';

/** Shortest and longest wait before `seen` is asked again about an event that another request is forwarding, in ms. */
const FIRST_LOOK = 10;
const LAST_LOOK = 500;

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const uuidsOf = (events: readonly RelayedEvent[]): string[] =>
  events.flatMap(({ came: { uuid } }) => uuid ?? []);

/**
 * Creates a function that reserves events and resolves to those that are new. It waits at most `timeout` ms for events that
 * another request is forwarding.
 *
 * @param refusalOf makes the refusal to reject with when `seen` fails
 */
export const createReserve =
  (seen: Seen, timeout: number, refusalOf: (error: unknown) => Refusal) =>
  async (events: readonly RelayedEvent[]): Promise<readonly RelayedEvent[]> => {
    const until = Date.now() + timeout;
    let open = [...new Set(uuidsOf(events))];
    for (let wait = FIRST_LOOK; ; wait = Math.min(wait * 2, LAST_LOOK)) {
      const states = await seen.reserve(open).catch((error) => {
        throw refusalOf(error);
      });
      const mine = new Set(open.filter((_, at) => states[at] === 'new'));
      // An id that is in a batch twice is forwarded once.
      if (!states.includes('pending'))
        return events.filter(({ came: { uuid } }) => uuid === undefined || mine.delete(uuid));
      // Released, because two relays that wait for each other's events would wait for ever. If this fails, the reservation expires.
      await seen.release([...mine]).catch(() => {});
      if (Date.now() > until) throw new Refusal(503, 'another request is forwarding the same events', 1);
      open = open.filter((_, at) => states[at] !== 'taken');
      await pause(wait * (1 + Math.random()));
    }
  };
