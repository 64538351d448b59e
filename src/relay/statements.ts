import { type Book, isObject, type WireEvent } from '../wire.js';

/** Most books in a request, most drops in a book, and most numbers of a page load. More come from no tracker. */
const MOST_BOOKS = 60;
const MOST_DROPS = 5000;
const MOST_NUMBER = 1e7;

/** The tracker's reasons. Pages must not be able to add others. */
const REASONS = ['full', 'too-large', 'expired', 'rejected', 'filtered', 'unserialisable'];

const isNumber = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= MOST_NUMBER;
/** Smaller numbers are those of earlier trackers, which counted the page loads of each browser from 1. */
export const LEAST_LOAD = 2 ** 32;
const isLoad = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= LEAST_LOAD;
/** The release becomes a label of metrics. */
const isRelease = (value: unknown): value is string => typeof value === 'string' && /^[^"\\\p{C}]{0,64}$/u.test(value);

/** Events that a tracker has dropped. Without `first`, they never had a number. */
export interface StatedDrop {
  readonly reason: string;
  readonly load: number;
  readonly first?: number | undefined;
  readonly length: number;
}

/** A page's statement about a page load. */
export interface Statement {
  readonly load: number;
  readonly release: string;
  readonly count: number;
  readonly closed: number;
  readonly drops: readonly StatedDrop[];
  /** When the page load began, in ms since the epoch by the visitor's clock. */
  readonly since: number | undefined;
}

const dropIn = (drop: unknown, own: number): StatedDrop | undefined => {
  if (!Array.isArray(drop) || drop.length !== 4) return undefined;
  const [given, load, first, length] = drop;
  if (typeof given !== 'string' || !isNumber(length, 1)) return undefined;
  const reason = REASONS.includes(given) ? given : 'other';
  if (load === 0 && first === 0) return { reason, load: own, length };
  return isLoad(load) && isNumber(first, 1) && isNumber(first + length, 1)
    ? { reason, load, first, length }
    : undefined;
};

const statementIn = (book: unknown): Statement | undefined => {
  if (!Array.isArray(book)) return undefined;
  const [load, count, closed, release, given, since] = book as unknown as Partial<Book>;
  if (!isLoad(load) || !isNumber(count, 0) || !isNumber(closed, 0) || closed > count) return undefined;
  const drops = Array.isArray(given) ? given.slice(0, MOST_DROPS) : [];
  return {
    load,
    release: isRelease(release) ? release : 'other',
    count,
    closed,
    drops: drops.flatMap((drop) => dropIn(drop, load) ?? []),
    since: Number.isFinite(since) ? since : undefined,
  };
};

/** The books in a request, in their order. A value of another form is no statement: pages of other versions may send it. */
export const statementsIn = ({ books }: Record<string, unknown>): readonly (Statement | undefined)[] =>
  Array.isArray(books) ? books.slice(0, MOST_BOOKS).map(statementIn) : [];

/** How many page loads they name. */
export const loadsIn = (statements: readonly (Statement | undefined)[]): number =>
  new Set(statements.flatMap((one) => (one ? [one.load, ...one.drops.map(({ load }) => load)] : []))).size;

/** The page load of an event, and its number there. */
export const numberIn = (event: unknown): readonly [load: number, n: number] | undefined => {
  const { seq } = (isObject(event) ? event : {}) as Partial<WireEvent>;
  if (!Array.isArray(seq) || seq.length !== 2) return undefined;
  const [load, n] = seq;
  return isLoad(load) && isNumber(n, 1) ? [load, n] : undefined;
};
