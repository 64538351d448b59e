import type { Network, NetworkAnswer } from '../server/network.ts';
import type { Random } from '../world/random.ts';
import { EPOCH, type World } from '../world/world.ts';

export interface SentEvent {
  readonly uuid: string;
  readonly event: string;
  readonly source: 'custom';
  readonly correlationKey: '_id';
  readonly correlationValue: string;
  readonly payload: { readonly n: number };
  readonly seq: readonly [load: number, n: number];
}

export const RELAYS = ['https://relay1.example', 'https://relay2.example'] as const;
const BATCH = '/clew/api/events/batch/';
/** Shortest and longest wait before a client sends again, in ms. */
const BACK_OFF = [200, 4000] as const;

export interface Clients {
  /** The ids of the events for which a client has read a success. */
  readonly confirmed: ReadonlySet<string>;
  readonly areDone: () => boolean;
}

const uuidOf = (random: Random): string => {
  const hex = (count: number) => Array.from({ length: count }, () => random.below(16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
};

/** The page load of all events. */
export const LOAD = 2 ** 41;
/** For how long the page load has lasted, in ms. */
const AGE = 5000;
const EVENTS = 6;

/** The book of the page load, and the clock of the request. The event behind the last one is lost. */
const bookAt = (now: number, isClosed: boolean) => {
  const count = EVENTS + 1;
  const begun = EPOCH - AGE;
  return { books: [[LOAD, count, isClosed ? count : 0, 'r', [], begun]], clock: [now, now - begun] };
};

export const createEvents = (random: Random): SentEvent[] => {
  const correlationValue = uuidOf(random);
  return Array.from({ length: EVENTS }, (_, n) => ({
    uuid: uuidOf(random),
    event: `e${n}`,
    source: 'custom',
    correlationKey: '_id',
    correlationValue,
    payload: { n },
    seq: [LOAD, n + 1],
  }));
};

/** Batches that share events, in different orders, as two tabs send them, or a browser that retries a request on its own. */
export const createBatches = (random: Random, events: readonly SentEvent[]): SentEvent[][] =>
  Array.from({ length: 5 }, () => {
    const start = random.below(events.length - 1);
    const some = events.slice(start, start + 1 + random.below(4));
    return random.chance(0.5) ? some : some.toReversed();
  }).concat(
    events.map((event) => [event]).filter(() => random.chance(0.3)),
    [[...events]],
  );

const isSuccess = (answer: NetworkAnswer | undefined): boolean =>
  !!answer && !answer.isCut && answer.status >= 200 && answer.status < 300 && answer.headers['clew-relay'] === '1';

/**
 * One client for each batch. The client sends the batch to either relay until it reads a success.
 *
 * @param onConfirmed is called with each event of a batch when a client has read a success for it
 * @param isClosed whether the page has left: no other events will come
 */
export const startClients = (
  world: World,
  front: Network,
  batches: readonly (readonly SentEvent[])[],
  onConfirmed: (event: SentEvent) => void,
  isClosed = false,
): Clients => {
  const { scheduler } = world;
  const random = world.random.fork('clients');
  const confirmed = new Set<string>();
  let open = batches.length;
  batches.forEach((batch, number) => {
    let wait: number = BACK_OFF[0];
    const send = () => {
      const url = random.pick(RELAYS) + BATCH;
      // A browser may send a request for a page that has gone, without a book.
      const isBeacon = random.chance(0.3);
      const type = isBeacon ? 'text/plain;charset=UTF-8' : 'application/json';
      const body = JSON.stringify({ batch, ...(!isBeacon && bookAt(world.serverClock(), isClosed)) });
      front.send({ from: `client${number}`, url, headers: { 'Content-Type': type }, body }, (answer) => {
        if (isSuccess(answer)) {
          open--;
          for (const event of batch) {
            confirmed.add(event.uuid);
            onConfirmed(event);
          }
          return;
        }
        const asked = Number(answer?.headers['Retry-After'] ?? 0) * 1000;
        scheduler.after(Math.max(asked, wait) * (1 + random.next()), 'client sends again', send);
        wait = Math.min(wait * 2, BACK_OFF[1]);
      });
    };
    scheduler.after(random.between(0, 60), 'client sends', send);
  });
  return { confirmed, areDone: () => open === 0 };
};
