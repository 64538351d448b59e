import type { Scheduler } from '../world/scheduler.ts';
import { listIn, listOf } from './stubCalls.ts';

/** A time span of virtual ms. One that is not over ends at infinity. */
interface Span {
  readonly from: number;
  to: number;
}

/** How and when a page went away, or into the back/forward cache. */
export interface Departure {
  readonly page: string;
  readonly at: number;
  readonly kind: 'leaves' | 'crashes';
  /** Whether the tracker ran in the page, and not only the stub. */
  readonly isLoaded: boolean;
  /** How many requests all pages had sent before. */
  readonly requests: number;
}

/** A page reports that the `$identify` of a person was dropped. */
export interface Refused {
  readonly page: string;
  readonly person: string;
  readonly reason: string;
  readonly at: number;
}

/** A page was frozen. */
export interface Freeze extends Span {
  readonly page: string;
}

/** The times of the walk's faults, for checks that hold only without faults. */
export interface History {
  /** The network, the service or the relay does not work as it should from now on, or does again. */
  network(isFair: boolean): void;
  /** The disk is slow, held, full or cleared from now on, or works again. */
  disk(isFair: boolean): void;
  /** localStorage has no room from now on, or has it again. */
  journal(isFair: boolean): void;
  /** The browser freezes or thaws the page. */
  freeze(page: string, isFrozen: boolean): void;
  /** When pages were frozen. */
  readonly freezes: readonly Freeze[];
  /** The visitor sets the clock ahead by `ms`. */
  jump(ms: number): void;
  /** How far (ms) the visitor's clock was ahead. */
  skewAt(at: number): number;
  /** The same, at the least: the visitor may have set the clock several times in one moment. */
  leastSkewAt(at: number): number;
  /** Whether the clock was set more than once between these times. */
  wasSetAgain(from: number, to: number): boolean;
  /** Whether the clock was set ahead after this time. */
  wasSetAhead(from: number): boolean;
  /** Something happens that lets clew end a back-off: a page loads or comes back, or the app calls flush(). */
  stir(): void;
  /** The app stops the page's tracker, which from now on hands over each tracked event. */
  stop(page: string): void;
  /** When the page's tracker was stopped. Infinity if it was not. */
  stopOf(page: string): number;
  /** The app sets properties of the customer. */
  upsert(page: string): void;
  wasUpserted(page: string, from: number, to: number): boolean;
  /** A page loads. */
  load(page: string): void;
  depart(departure: Omit<Departure, 'at' | 'requests'>): void;
  /** The page comes back from the back/forward cache. */
  restore(page: string): void;
  /** Whether the page was gone or in the back/forward cache at some time, and so received no messages. */
  wasAway(page: string, from: number, to: number): boolean;
  /** Pages that came back from the back/forward cache in this time. */
  restored(from: number, to: number): readonly string[];
  /** Pages that may not use the database, or no storage at all. */
  readonly refused: Set<string>;
  /** Pages that have reported that the database does not work. */
  readonly shut: Set<string>;
  /** A kill brings back this key of localStorage, because its deletion was not on the disk yet. */
  revive(key: string): void;
  /** Whether a kill between these times has brought back the stub's call that made the event. */
  wasRevived(uuid: string, from: number, to: number): boolean;
  /** The page reports that it has dropped properties, because the queue is full. */
  overflow(page: string): void;
  refuse(refused: Omit<Refused, 'at'>): void;
  readonly refusals: readonly Refused[];
  /** The site has deleted its database, which alone had these events, by number. */
  erase(events: ReadonlySet<number>): void;
  readonly erasures: readonly { readonly events: ReadonlySet<number>; readonly at: number }[];
  /** All reports of `overflow`, one for each dropped call. */
  readonly overflows: readonly { readonly page: string; readonly at: number }[];
  /** When the page loaded. */
  loadOf(page: string): number;
  readonly departures: readonly Departure[];
  wasNetworkFair(from: number, to: number): boolean;
  wasDiskFair(from: number, to: number): boolean;
  wasJournalFair(from: number, to: number): boolean;
  wasClockFair(from: number, to: number): boolean;
  /** Whether no page was frozen or thawed. */
  wasAwake(from: number, to: number): boolean;
  wasStirred(from: number, to: number): boolean;
  /** The first time after `from` at which the page went away. Infinity if it did not. */
  departureOf(page: string, from: number): number;
}

const createSpans = (now: () => number) => {
  const spans: Span[] = [];
  return {
    note(isFair: boolean) {
      const last = spans.at(-1);
      const isOpen = last?.to === Number.POSITIVE_INFINITY;
      if (isFair && isOpen) last.to = now();
      if (!isFair && !isOpen) spans.push({ from: now(), to: Number.POSITIVE_INFINITY });
    },
    touch: (from: number, to: number) => spans.some((span) => span.from <= to && span.to >= from),
  };
};

/** @param sent how many requests all pages have sent */
export const createHistory = ({ now }: Pick<Scheduler, 'now'>, sent = () => 0): History => {
  const network = createSpans(now);
  const disk = createSpans(now);
  const journal = createSpans(now);
  const jumps: { readonly at: number; readonly ms: number }[] = [];
  /** By how much the clock was ahead at this time, before each jump of the moment and after the last one. */
  const skewsAt = (time: number): number[] => {
    const before: number[] = [];
    let skew = 0;
    for (const { at, ms } of jumps.filter((jump) => jump.at <= time)) {
      if (at === time) before.push(skew);
      skew += ms;
    }
    return [...before, skew];
  };
  const freezes: Freeze[] = [];
  const stirs: number[] = [];
  const departures: Departure[] = [];
  /** `departures` is the number of departures before. A page may come back and leave in one millisecond. */
  const returns: { readonly page: string; readonly at: number; readonly departures: number }[] = [];
  const loads = new Map<string, number>();
  const stops = new Map<string, number>();
  const overflows: { readonly page: string; readonly at: number }[] = [];
  const refusals: Refused[] = [];
  const erasures: { readonly events: ReadonlySet<number>; readonly at: number }[] = [];
  const revivals: { readonly list: string | undefined; readonly at: number }[] = [];
  const upserts: { readonly page: string; readonly at: number }[] = [];
  return {
    network: network.note,
    disk: disk.note,
    journal: journal.note,
    freeze(page, isFrozen) {
      const last = freezes.findLast((freeze) => freeze.page === page && freeze.to === Number.POSITIVE_INFINITY);
      if (isFrozen && !last) freezes.push({ page, from: now(), to: Number.POSITIVE_INFINITY });
      if (!isFrozen && last) last.to = now();
    },
    freezes,
    jump: (ms) => void jumps.push({ at: now(), ms }),
    skewAt: (at) => skewsAt(at).at(-1) ?? 0,
    leastSkewAt: (at) => Math.min(...skewsAt(at)),
    wasSetAgain: (from, to) => jumps.filter(({ at }) => at >= from && at <= to).length > 1,
    wasSetAhead: (from) => jumps.some(({ at, ms }) => at >= from && ms > 0),
    refused: new Set(),
    shut: new Set(),
    stir: () => void stirs.push(now()),
    stop: (page) => void stops.set(page, now()),
    stopOf: (page) => stops.get(page) ?? Number.POSITIVE_INFINITY,
    upsert: (page) => void upserts.push({ page, at: now() }),
    wasUpserted: (page, from, to) => upserts.some((call) => call.page === page && call.at >= from && call.at <= to),
    revive: (key) => void revivals.push({ list: listOf(key), at: now() }),
    wasRevived: (uuid, from, to) => revivals.some(({ list, at }) => list === listIn(uuid) && at >= from && at <= to),
    refuse: (refused) => void refusals.push({ ...refused, at: now() }),
    refusals,
    erase: (events) => void erasures.push({ events, at: now() }),
    erasures,
    overflow: (page) => void overflows.push({ page, at: now() }),
    overflows,
    load: (page) => void loads.set(page, now()),
    loadOf: (page) => loads.get(page) ?? 0,
    depart: (departure) => void departures.push({ ...departure, at: now(), requests: sent() }),
    restore: (page) => void returns.push({ page, at: now(), departures: departures.length }),
    wasAway: (page, from, to) =>
      departures.some((left, index) => {
        if (left.page !== page || left.at > to) return false;
        const back = returns.find((returned) => returned.page === page && returned.departures > index);
        return !back || back.at >= from;
      }),
    restored: (from, to) => returns.filter(({ at }) => at >= from && at <= to).map(({ page }) => page),
    departures,
    wasNetworkFair: (from, to) => !network.touch(from, to),
    wasDiskFair: (from, to) => !disk.touch(from, to),
    wasJournalFair: (from, to) => !journal.touch(from, to),
    wasClockFair: (from, to) => !jumps.some(({ at }) => at >= from && at <= to),
    wasAwake: (from, to) => !freezes.some((freeze) => [freeze.from, freeze.to].some((at) => at >= from && at <= to)),
    wasStirred: (from, to) => stirs.some((at) => at >= from && at <= to),
    departureOf: (page, from) =>
      departures.find((departure) => departure.page === page && departure.at >= from)?.at ?? Number.POSITIVE_INFINITY,
  };
};
