import { type Call, finish } from './calls.js';
import { AHEAD } from './late.js';
import { merge, type Visitor } from './record.js';
import type { Who } from './who.js';

/**
 * Whether another tab may have identified a customer on the visitor id first. The record has only the latest id. The tab that has begun that
 * id in the same moment may have identified a customer on the one before.
 */
const isTaken = (begin: Visitor, calls: readonly Call[], mine: Visitor, kept: Visitor, service: string): boolean => {
  if (kept.thread === begin.thread) return !!kept.keys[service];
  const isOwn = calls.some(({ fresh }) => fresh === kept.thread);
  return !isOwn && kept.turn > begin.turn && kept.turn <= mine.turn + AHEAD;
};

/**
 * Decides about an `identify` on a visitor id without a customer, once the database has put it in order with those of other tabs. If
 * another tab was first with another person, the `identify` starts a new visitor id.
 *
 * @param who the page's knowledge with the claim
 * @param calls that have waited, with the `identify`
 * @param mine the visitor right after the `identify`
 * @param kept the visitor of the record
 * @returns the page's knowledge without the claim, and the calls. If nothing was taken, `visitor` is the same object
 */
export const decideClaim = (
  who: Who,
  calls: readonly Call[],
  mine: Visitor,
  kept: Visitor | undefined,
  service: string,
): [Who, readonly Call[]] => {
  const decided: Who = { ...who, claim: undefined };
  if (!kept || !isTaken(who.begin, calls, mine, kept, service)) return [decided, calls];
  const isSameId = kept.thread === who.begin.thread;
  const begin: Visitor = isSameId ? merge(kept, who.begin) : { ...who.begin, keys: { [service]: [0] } };
  // Properties from before `identify` belong to the customer whom the id has.
  const sorted = [...calls.filter(({ owner }) => owner), ...calls.filter(({ owner }) => !owner)];
  const [visitor] = finish(begin, sorted, service);
  const turn = Math.max(visitor.turn, who.visitor.turn);
  return [{ ...decided, begin, visitor: { ...visitor, turn } }, sorted];
};
