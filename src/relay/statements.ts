import { type Book, isObject, type WireEvent } from '../wire.js';
import { isRanges, type Ranges } from './ranges.js';

/** Most books in a request, and most numbers of a page load. More come from no tracker. */
const MOST_BOOKS = 50;
export const MOST_NUMBER = 1e7;
/** Most pairs of numbers for one reason. */
const MOST_PAIRS = 200;

/** The tracker's reasons. Pages must not be able to add others. */
const REASONS = ['full', 'too-large', 'expired', 'rejected', 'filtered', 'unserialisable'];
const nameOf = (reason: string): string => (REASONS.includes(reason) ? reason : 'other');

const isNumber = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= MOST_NUMBER;
/** Smaller numbers are those of earlier trackers, which counted the page loads of each browser from 1. */
const LEAST_LOAD = 2 ** 32;
const isLoad = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= LEAST_LOAD;
/** It becomes a label of metrics. */
const isRelease = (value: unknown): value is string => typeof value === 'string' && /^[^"\\\p{C}]{0,64}$/u.test(value);

/** A page's statement about a page load. */
export interface Statement {
  readonly load: number;
  readonly release: string;
  readonly count: number;
  readonly closed: number;
  readonly unnumbered: Readonly<Record<string, number>>;
  readonly dropped: Readonly<Record<string, Ranges>>;
}

const statementIn = (book: unknown): Statement | undefined => {
  if (!Array.isArray(book)) return undefined;
  const [load, count, closed, release = '', unnumbered = {}, dropped = {}] = book as unknown as Partial<Book>;
  if (!isLoad(load) || !isNumber(count, 0) || !isNumber(closed, 0) || closed > count || !isRelease(release))
    return undefined;
  if (!isObject(unnumbered) || !isObject(dropped)) return undefined;
  const counts = Object.entries(unnumbered);
  const ranges = Object.entries(dropped);
  const isWhole =
    counts.length + ranges.length <= MOST_BOOKS &&
    counts.every(([, n]) => isNumber(n, 1)) &&
    ranges.every(([, list]) => isRanges(list, count) && list.length <= 2 * MOST_PAIRS);
  if (!isWhole) return undefined;
  return {
    load,
    release,
    count,
    closed,
    unnumbered: Object.fromEntries(counts.map(([reason, n]) => [nameOf(reason), n])),
    dropped: Object.fromEntries(ranges.map(([reason, list]) => [nameOf(reason), list])),
  };
};

/** The books in a request, in their order. A value of another form is no statement: pages of other versions may send it. */
export const statementsIn = ({ books }: Record<string, unknown>): readonly (Statement | undefined)[] =>
  Array.isArray(books) && books.length <= MOST_BOOKS ? books.map(statementIn) : [];

/** The page load of an event, and its number there. */
export const numberIn = (event: unknown): readonly [load: number, n: number] | undefined => {
  const { seq } = (isObject(event) ? event : {}) as Partial<WireEvent>;
  if (!Array.isArray(seq) || seq.length !== 2) return undefined;
  const [load, n] = seq;
  return isLoad(load) && isNumber(n, 1) ? [load, n] : undefined;
};
