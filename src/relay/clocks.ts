import { inTime } from '../service/inTime.js';
import type { Rejections, WireEvent } from '../wire.js';
import type { RelayedEvent } from './job.js';
import { memoryOffsets, type Offsets } from './offsets.js';
import type { Seen } from './seen.js';
import { LEAST_LOAD } from './statements.js';

/**
 * The clock of the page that sends a request: its time, and the age (ms) of the page load. `back` is by how many ms the visitor has set
 * the clock back meanwhile. Pages that were opened since then have that other clock.
 */
export type Reading = readonly [now: number, age: number, back?: number];

/** A clock that differs by less (ms) is right. The transfer of a request takes some of that time. */
const RIGHT = 120_000;
/**
 * So much more (ms) is right for a page load whose clock was right before. The next request may take less time than the first one, and
 * a clock near the bound must not count as set meanwhile.
 */
const TRANSIT = 30_000;
/** The last event of a page load may be so much (ms) older than the load's beginning: one that was tracked before the bundle came. */
const EARLY = 1000;

/** The latest time (ms since the epoch) of a `Date`: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const LATEST = 8.64e15;

/** The visitor's clock as the page has stated it. Anything else under that name is no statement. */
export const readingIn = ({ clock }: Record<string, unknown>): Reading | undefined =>
  Array.isArray(clock) && (clock.length === 2 || clock.length === 3) && clock.every(Number.isFinite)
    ? (clock as unknown as Reading)
    : undefined;

/** The relay's knowledge of a page load when some of its events arrive. */
interface Arrival {
  /** The times of its events, in ms since the epoch. */
  readonly times: readonly number[];
  /** The offset by which its earlier events were corrected. */
  readonly known: number | undefined;
  readonly reading: Reading | undefined;
  /** When the request arrived. */
  readonly at: number;
  readonly maxPast: number;
}

/**
 * Raises each offset that would move an event before an earlier event. The event then gets the time of that earlier event.
 *
 * @param offsets the offset of each time, from the earliest time on
 */
const keepOrder = (offsets: Iterable<readonly [time: number, offset: number]>): Map<number, number> => {
  const found = new Map<number, number>();
  let before = Number.NEGATIVE_INFINITY;
  for (const [time, offset] of offsets) {
    found.set(time, time + offset < before ? before - time : offset);
    before = Math.max(before, time + offset);
  }
  return found;
};

/**
 * By how many ms the time of each event is to be moved. All events get one offset. If that leads into the future or too far into the
 * past, the clock was set during the page load, and another offset is tried. Events keep their order.
 */
export const offsetsFor = ({ times, known, reading, at, maxPast }: Arrival): number[] => {
  if (!reading) return times.map(() => known ?? 0);
  const [now, age, back = 0] = reading;
  const latest = Math.max(...times);
  const right = known === 0 ? RIGHT + TRANSIT : RIGHT;
  const measured = Math.abs(at - now) > right ? at - now : 0;
  // While the sending page was open, all pages of the browser had its clock. Before, it may have been another one.
  const isSameClock = latest >= now - age - EARLY && latest <= now + EARLY;
  const [likely, other] = isSameClock ? [measured, 0] : [0, measured];
  const guesses = [...(known !== undefined ? [known, measured, 0] : [likely, other]), at - now + back];
  const [first = 0] = guesses;
  // If the clock was set ahead since, a time after the arrival is of that clock.
  const isAhead = known !== undefined && known - (at - now) > right;
  let next = isAhead ? at : at + right;
  // Nearly always: all events fit one offset, which keeps their order.
  if (latest + first <= next && Math.min(...times) + first >= at - maxPast) return times.map(() => first);
  // An event from the future was tracked before it arrived. The latest possible time is the arrival.
  const otherwise = guesses.some((offset) => latest + offset > at) ? at - latest : first;
  const chosen: [time: number, offset: number][] = [];
  // From the last event on: an offset that would change the order is of another clock.
  for (const time of times.filter(Number.isFinite).sort((one, other) => other - one)) {
    const isPossible = (offset: number) => time + offset <= at + right && time + offset >= at - maxPast;
    const isInOrder = (offset: number) => isPossible(offset) && time + offset <= next;
    // The clock may have been set twice. An event from the future is then no old one: it came just before the next one.
    const last = isPossible(otherwise) || time <= at ? otherwise : Math.min(at, next) - time;
    const offset = guesses.find(isInOrder) ?? guesses.find(isPossible) ?? last;
    chosen.push([time, offset]);
    next = time + offset;
  }
  // If no offset keeps the order, the later event moves. The known offset was measured with the first events of the page load.
  const found = keepOrder(chosen.reverse());
  return times.map((time) => found.get(time) ?? first);
};

/** The number of an event's page load, if the event has one. */
const loadIn = ({ seq }: WireEvent): number | undefined =>
  Array.isArray(seq) && Number.isSafeInteger(seq[0]) ? seq[0] : undefined;

/**
 * Names the page load of an event. The number suffices: a page load has another visitor after a log-out, and the same clock. Only
 * earlier trackers have used a number for several visitors.
 */
const nameOf = (event: WireEvent): string => {
  const load = loadIn(event);
  if (load === undefined) return '';
  return load < LEAST_LOAD ? `${event.correlationValue}:${load}` : `load:${load}`;
};

const isOfSameLoad = (one: WireEvent, other: WireEvent): boolean => {
  const load = loadIn(one);
  if (load !== loadIn(other)) return false;
  return Number(load) >= LEAST_LOAD || one.correlationValue === other.correlationValue;
};

/** The events of each page load, by its name. */
const byLoad = (events: readonly RelayedEvent[]): Map<string, RelayedEvent[]> => {
  const loads = new Map<string, RelayedEvent[]>();
  let own: RelayedEvent[] = [];
  let before: WireEvent | undefined;
  for (const event of events) {
    const { came } = event;
    // Most events are of the same page load as the one before, which needs no name.
    if (!before || !isOfSameLoad(before, came)) {
      const name = nameOf(came);
      own = loads.get(name) ?? [];
      loads.set(name, own);
    }
    own.push(event);
    before = came;
  }
  return loads;
};

export interface ClockOptions {
  readonly correctClock: boolean;
  readonly maxPast: number;
  readonly maxFuture: number;
  readonly seen: Seen;
  /** How long `seen` may take. */
  readonly timeout: number;
  /** Receives why `seen` has failed. The offset is then measured anew. */
  readonly onError: (error: unknown) => void;
}

/** Events with the times of the relay's clock. */
interface Timed {
  readonly events: readonly RelayedEvent[];
  /** The events, as they arrived, whose time was moved. */
  readonly moved: ReadonlySet<WireEvent>;
  /** The others, each with its reason in `rejected`. */
  readonly dropped: readonly RelayedEvent[];
  readonly rejected: Rejections['rejected'];
}

/**
 * Creates a function that finds the offsets of a batch's events. The function's promise never rejects, and resolves to a second
 * function. The second function corrects the times of some of these events, and sorts out events too far in the past or the future.
 */
export const createClocks = ({ correctClock, maxPast, maxFuture, seen, timeout, onError }: ClockOptions) => {
  const { offsets, setOffset }: Offsets =
    seen.offsets && seen.setOffset
      ? { offsets: seen.offsets.bind(seen), setOffset: seen.setOffset.bind(seen) }
      : memoryOffsets();
  /** @param until the moment (ms, as `performance.now()`) at which it gives up */
  const attempt = async <T>(until: number, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await inTime((async () => work())(), Math.ceil(until - performance.now()), 'seen');
    } catch (error) {
      onError(error);
      return undefined;
    }
  };

  /** A store of the app may have anything. */
  const finiteIn = (offset: unknown) => (Number.isFinite(offset) ? (offset as number) : undefined);

  /** The offset of each event whose time is to be moved. */
  const offsetsOf = async (events: readonly RelayedEvent[], reading: Reading | undefined, at: number) => {
    const found = new Map<RelayedEvent, number>();
    const until = performance.now() + timeout;
    const loads = byLoad(events);
    const names = [...loads.keys()].filter(Boolean);
    const remembered = names[0] ? await attempt(until, () => offsets(names)) : undefined;
    const note = async (name: string, own: readonly RelayedEvent[]) => {
      const times = own.map(({ time }) => time);
      const makeWith = (known: number | undefined) => offsetsFor({ times, known, reading, at, maxPast });
      const known = finiteIn(remembered?.[names.indexOf(name)]);
      let made = makeWith(known);
      // A known offset stays, although the clock may have been set since: earlier events may come again, or late.
      if (name && remembered && reading && known === undefined) {
        const mine = made.at(-1) ?? 0;
        const first = finiteIn(await attempt(until, () => setOffset(name, mine)));
        // A request with events of the same page load has arrived at the same time.
        if (first !== undefined && first !== mine) made = makeWith(first);
      }
      own.forEach((event, index) => void (made[index] && found.set(event, made[index])));
    };
    await Promise.all([...loads].map((load) => note(...load)));
    return found;
  };

  return async (events: readonly RelayedEvent[], reading: Reading | undefined, at: number) => {
    const dated = events.filter(({ came }) => came.timestamp !== undefined);
    const offsetOf = correctClock ? await offsetsOf(dated, reading, at) : undefined;
    return (some: readonly RelayedEvent[]): Timed => {
      const kept: RelayedEvent[] = [];
      const moved = new Set<WireEvent>();
      const dropped: RelayedEvent[] = [];
      const rejected: Rejections['rejected'] = [];
      // No other times have a text.
      const latest = Math.min(at + maxFuture, LATEST);
      const earliest = Math.max(at - maxPast, -LATEST);
      for (const event of some) {
        const { came, forwarded } = event;
        const offset = offsetOf?.get(event) ?? 0;
        // NaN is neither too late nor too early.
        const time = event.time + offset;
        const limit = time > latest ? `${maxFuture} ms after` : time < earliest ? `${maxPast} ms before` : '';
        if (limit) {
          dropped.push(event);
          rejected.push({ uuid: came.uuid ?? '', reason: `timestamp: expected at most ${limit} the relay's clock` });
          continue;
        }
        if (offset) moved.add(came);
        kept.push(
          offset ? { came, forwarded: { ...forwarded, timestamp: new Date(time).toISOString() }, time } : event,
        );
      }
      return { events: kept, moved, dropped, rejected };
    };
  };
};
