import type { Scheduler } from '../world/scheduler.ts';

/** One call of `track`, by the number in its payload. */
export interface Tracked {
  readonly n: number;
  readonly name: string;
  readonly page: string;
  readonly at: number;
  /** Characters of its payload, about. */
  readonly size: number;
  /** Whether the tracker was loaded, and not only the stub. */
  readonly isReceived: boolean;
  /** Whether no transaction of the page had completed. */
  readonly isEarly: boolean;
  /** Whether the page's second tracker was called. */
  readonly isOther?: boolean;
  /** The person identified at the call, '' for none. More than one while a change travels between tabs. */
  readonly persons: ReadonlySet<string>;
  /** How many changes of the person there had been. */
  readonly change: number;
  /** Why the event may be lost without a report. */
  excuse?: string;
  /** Reported as dropped, for this reason. */
  dropped?: string;
  /** Virtual time (ms) of that report. */
  droppedAt?: number;
}

/** The payload of the event with this number, of about `size` characters. */
export const payloadOf = (n: number, size: number) => ({ n, ...(size && { pad: '.'.repeat(size) }) });

/** One call of `identify`. */
export interface Identified {
  readonly page: string;
  readonly person: string;
  readonly at: number;
  readonly isReceived: boolean;
  /** Whether the call was for the page's second service. Undefined: for all services. */
  readonly isOther?: boolean | undefined;
  /** Whether the signature was another person's. */
  readonly isForged?: boolean;
  /** Whether the page cannot know that this person is identified already. */
  readonly isNew: boolean;
  /** How many changes of the person there have been, this one included. */
  readonly change: number;
}

/** The person was changed. */
export interface Change {
  readonly at: number;
  /** Earlier than `at` if the call has waited for consent. */
  readonly calledAt: number;
  readonly page: string;
  readonly person: string;
}

/** The calls of the walk, and the persons to whom their events may belong. */
export interface Ledger {
  readonly tracked: Map<number, Tracked>;
  /** Notes a call of `track` in this page. Returns the number of the event. */
  track(
    call: Pick<Tracked, 'page' | 'name' | 'isReceived' | 'isEarly' | 'isOther' | 'size'> & {
      /** Whether the page may know any earlier visitor, or no visitor. */
      readonly isStranger?: boolean;
    },
  ): number;
  identify(
    call: Omit<Identified, 'at' | 'isNew' | 'change'> &
      Pick<Tracked, 'isEarly'> &
      Pick<Change, 'calledAt'> & {
        /** Whether the page may have no storage. Then it may have a visitor of its own, and other pages keep theirs. */
        readonly isStranger?: boolean;
      },
  ): void;
  readonly identified: readonly Identified[];
  /** Virtual time (ms) of the last call of `track` or `identify`. */
  lastAt(): number;
  /** The person whom the page must know by now, or undefined if it may know several. */
  personOf(page: string): string | undefined;
  reset(call: Pick<Change, 'page' | 'calledAt'>): void;
  /** The visitor refuses, and is anonymous from now on. Other pages know the person until the page's tracker has received the answer. */
  refuse(page: string, isReceived: boolean): void;
  /** The page leaves before its tracker is loaded. Other pages know its changes once a later page replays them. */
  leaveUnheard(page: string): void;
  /** How many changes of the person there have been. */
  changes(): number;
  /** The next change of the person after this call, if no other page may have changed the person at the same time. */
  next(event: Tracked): Change | undefined;
  /** The pages that have changed the person in this time. */
  changedBy(from: number, to: number): readonly string[];
  /** The page is activated. The page's events from the time of its prerendering may belong to any person so far. */
  reconsider(page: string): void;
  /** A crash or kill may have undone the changes of the last `ms`. */
  doubt(ms: number): void;
  /** The persons who may own the visitor id of this event, '' for none. */
  owners(event: Tracked): ReadonlySet<string>;
}

/** Calls of two pages within this time (ms) have no order, because the clock of a page is not more precise. */
const MOMENT = 1;
/** How long (ms) a page that has just loaded asks its database. A change by another page meanwhile comes before or after. */
const ASKING = 100;

/** @param travel how long (ms) a change of the person may take to reach other tabs */
export const createLedger = (scheduler: Scheduler, travel: number): Ledger => {
  const tracked = new Map<number, Tracked>();
  const identified: Identified[] = [];
  /** Changes that a crash or kill may have undone. */
  const unsure = new Set<Change>();
  const changes: Change[] = [
    { at: Number.NEGATIVE_INFINITY, calledAt: Number.NEGATIVE_INFINITY, page: '', person: '' },
  ];
  /** Persons who may be the current one besides the last change's. */
  let doubted = new Set<string>();

  const doubt = (change: Change, before: string) => {
    unsure.add(change);
    doubted.add(before);
  };
  const change = (page: string, person: string, calledAt = scheduler.now()) => {
    // Two pages' changes in the same moment have no order, also if one of them waits for consent meanwhile.
    const others = changes.filter((other) => other.page !== page && calledAt - other.at < ASKING);
    doubted = new Set(others[0] ? [...doubted, ...others.map((other) => other.person)] : []);
    changes.push({ at: scheduler.now(), calledAt, page, person });
  };
  /** Whether the change came after an event of another page. A call that waits for consent is ordered by the tenth of a second. */
  const isAfter = (later: Change, at: number) =>
    later.at - at >= MOMENT && (later.calledAt === later.at || later.calledAt - at >= ASKING);
  const personsFor = (page: string): Set<string> => {
    const persons = new Set<string>(doubted);
    for (let i = changes.length - 1; i >= 0; i--) {
      const { at, page: actor, person } = changes[i] as Change;
      persons.add(person);
      if (actor === page || scheduler.now() - at > travel) break;
    }
    return persons;
  };
  const personOf = (page: string): string | undefined => {
    const [person, other] = personsFor(page);
    return other === undefined ? person : undefined;
  };
  return {
    tracked,
    track(call) {
      const n = tracked.size + 1;
      tracked.set(n, {
        ...call,
        n,
        at: scheduler.now(),
        persons: call.isStranger ? new Set(changes.map(({ person }) => person)) : personsFor(call.page),
        change: changes.length,
      });
      return n;
    },
    identify({ isEarly, calledAt, isStranger, ...call }) {
      const { page, person } = call;
      const isNew = isEarly || personOf(page) !== person;
      const before = isStranger ? changes.map((one) => one.person) : [];
      change(page, person, calledAt);
      for (const one of before) doubt(changes.at(-1) as Change, one);
      identified.push({ ...call, at: scheduler.now(), isNew, change: changes.length });
    },
    identified,
    lastAt: () => Math.max(tracked.get(tracked.size)?.at ?? 0, identified.at(-1)?.at ?? 0),
    personOf,
    reset: ({ page, calledAt }) => change(page, '', calledAt),
    refuse(page, isReceived) {
      const before = isReceived ? [] : [...doubted, changes.at(-1)?.person ?? ''];
      change(page, '');
      if (!isReceived) unsure.add(changes.at(-1) as Change);
      for (const person of before) doubted.add(person);
    },
    leaveUnheard(page) {
      const before = changes.findLast((change) => change.page !== page);
      if (before && changes.at(-1)?.page === page) doubted.add(before.person);
    },
    changes: () => changes.length,
    next({ change, page, at }) {
      const [before, next, after] = changes.slice(change - 1);
      const isBefore = before?.page === page || at - (before?.at ?? 0) >= ASKING;
      const isAlone = !after || (next && after.at - next.at >= ASKING);
      return next && isBefore && isAlone && !unsure.has(next) ? next : undefined;
    },
    changedBy: (from, to) => changes.flatMap(({ at, page }) => (at >= from && at <= to ? page : [])),
    reconsider(page) {
      for (const event of tracked.values())
        if (event.page === page)
          tracked.set(event.n, { ...event, persons: new Set(changes.map(({ person }) => person)) });
    },
    doubt(ms) {
      // The change before may have been taken back earlier.
      const mayBeGone = (change: Change) => scheduler.now() - change.at < ms || unsure.has(change);
      for (let i = changes.length - 1; i > 0 && mayBeGone(changes[i] as Change); i--)
        doubt(changes[i] as Change, (changes[i - 1] as Change).person);
    },
    owners({ persons, change, at }) {
      const owners = new Set(['', ...persons]);
      // An event of one page and a change by another page in the same moment have no order.
      for (const later of changes.slice(change)) if (later.at - at < MOMENT) owners.add(later.person);
      if (!persons.has('')) return owners;
      // An anonymous visitor's events belong to the person who is identified next.
      for (const [index, later] of changes.entries()) {
        if (index < change) continue;
        const hasOrder = changes
          .slice(index + 1)
          .every((next) => next.page === later.page || next.at - later.at >= ASKING);
        if (!later.person && !unsure.has(later) && isAfter(later, at) && hasOrder) break;
        owners.add(later.person);
      }
      return owners;
    },
  };
};
