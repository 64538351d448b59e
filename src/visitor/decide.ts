import type { OtherJournal } from '../outbox/journal.js';
import { type ItemText, idOf } from '../recorder/event.js';
import { type Finished, finish, type Held, isChange } from './held.js';
import { type Visitor, visitorIn } from './record.js';

/** For each page, the index of the last call that was taken over from its journal. */
export type Taken = readonly (readonly [page: string, index: number])[];

/** The record in the store. */
export type Stored = Visitor & { readonly taken?: Taken | undefined };

/** The journals of so many pages are remembered as taken over. */
const MOST_TAKEN = 30;
/** So many calls are finished in one task. */
export const AT_ONCE = 200;

/** Everything that decides who the visitor is. */
export interface Question {
  readonly service: string;
  /** Name of this page in `taken`. */
  readonly page: string;
  /** The stored record. Any code of the origin may have written it. */
  readonly stored: unknown;
  /** The visitor as this page knows it. */
  readonly mine: Visitor;
  /** The number of this page load, or 0 if the database has not assigned it. */
  readonly number: number;
  /** This page's calls that wait. */
  readonly held: readonly Held[];
  readonly others: readonly OtherJournal[];
  /** Ids of events that need not be sent. */
  readonly settled: ReadonlySet<unknown>;
  /** Merges what the site's other hosts and the page's link know into the visitor with whom this page began. */
  meet(visitor: Visitor): Visitor;
}

export interface Decision {
  readonly visitor: Visitor;
  readonly number: number;
  readonly taken: Taken;
  /** This page's calls that still wait. */
  readonly rest: Held[];
  /** Finished items, and whether this page recorded them. */
  readonly items: readonly (readonly [item: Finished, isOwn: boolean])[];
  /** Finished items of this page that another page has stored, because it found their calls in the journal. */
  readonly lent: readonly Finished[];
  /** Items that other pages had finished. */
  readonly adopted: readonly ItemText[];
}

const takenIn = (stored: unknown): [page: string, index: number][] => {
  const { taken } = Object(stored) as Stored;
  return (Array.isArray(taken) ? taken : []).filter(Array.isArray) as [string, number][];
};

/**
 * The calls of a page and of those whose journals are there, in the order of time. At the same moment, calls of a page that has
 * left come first, and calls of one that is open come last.
 */
export const inOrder = (
  own: readonly Held[],
  others: readonly OtherJournal[],
  taken: ReadonlyMap<string, number>,
): Held[] => {
  const theirs = (isLeft: boolean) =>
    others.flatMap((other) =>
      !!other.isLeft === isLeft ? other.held.filter(({ index }) => index > (taken.get(other.page) ?? 0)) : [],
    );
  return [...theirs(true), ...own, ...theirs(false)].sort((one, other) => one.at - other.at);
};

/** What the stored record becomes by the calls of this page and of pages that have left. */
export const decide = ({ service, page, stored, mine, number, held, others, settled, meet }: Question): Decision => {
  const done = new Map(takenIn(stored));
  const last = done.get(page) ?? 0;
  const isLent = ({ index }: Held) => index <= last;
  const waiting = held.filter((call) => !isLent(call));
  // Up to the last change. Of calls that only need the visitor, the rest may wait a little longer.
  const end = Math.max(waiting.map(isChange).lastIndexOf(true) + 1, AT_ONCE);
  const own = waiting.slice(0, end);
  const calls = inOrder(own, others, done).filter(({ text }) => !(text && settled.has(idOf(text))));
  for (const { page, held } of others) if (held[0] && page) done.set(page, held.at(-1)?.index as number);
  // Without a record, the visitor of the first page counts. The hint may show that another tab has identified that visitor.
  const first = calls.find((call) => call.visitor)?.visitor ?? mine;
  const from = visitorIn(stored) ?? (first.thread === mine.thread ? mine : first);
  const begin = Math.max(0, calls.indexOf(own.find((call) => call.visitor) as Held));
  const [before, earlier] = finish(from, calls.slice(0, begin), service);
  const [after, later] = finish(meet(before), calls.slice(begin), service);
  const load = number || Math.max(from.pages, mine.pages) + 1;
  const visitor = { ...after, pages: Math.max(after.pages, load) };
  const texts = new Set(own.map(({ text }) => text));
  const lent = held.filter((call) => isLent(call) && !isChange(call));
  return {
    visitor,
    number: load,
    taken: [...done].slice(-MOST_TAKEN),
    rest: waiting.slice(end),
    items: [...earlier, ...later].map((item) => [item, texts.has(item[0])]),
    lent: finish(visitor, lent, service)[1],
    adopted: others.flatMap((other) => other.texts.filter((text) => !settled.has(idOf(text)))),
  };
};
