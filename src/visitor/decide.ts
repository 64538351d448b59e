import { type Call, type Finished, finish, isChange } from './calls.js';
import { detachLate, withVisitor } from './late.js';
import { merge, type Visitor } from './record.js';
import type { Who } from './who.js';

/** How many calls are finished in one task. */
export const AT_ONCE = 200;

/**
 * Corrects calls that were made with the visitor of the hint.
 *
 * @param mine the page's knowledge so far
 * @param held the calls that wait
 * @param base the visitor of the record and of the journals. `undefined` if there is none.
 * @param hinted the visitor of the hint. A page that left may have put the record back to an earlier number of page loads
 * @param meet adds the changes by other hosts and by the link that has opened the page
 * @param early upserts that wait for their customer, from before the calls
 * @returns the page's knowledge from now on, the finished items, and the calls that still wait
 */
export const decide = (
  mine: Who,
  held: readonly Call[],
  base: Visitor | undefined,
  hinted: Visitor | undefined,
  meet: (visitor: Visitor) => Visitor,
  service: string,
  early: readonly Call[] = [],
): [Who, Finished[], Call[]] => {
  const { begin, visitor } = mine;
  const known = [visitor.thread, hinted?.thread, ...held.map(({ fresh }) => fresh)];
  // After a crash of the browser, the hint may be out of date. If it is not, the later visitor has followed from it.
  const isOther = base && base.thread !== begin.thread;
  const isLater = isOther && base.turn > begin.turn;
  const isStale = isOther && (base.turn === begin.turn || (isLater && !known.includes(base.thread)));
  // The record comes first: while this page was in the back/forward cache, another one may have got a newer token.
  const met = meet(base?.thread !== begin.thread ? (isStale ? base : begin) : merge(base, begin));
  const waiting = isLater && !isStale ? withVisitor(held, base) : held;
  const [calls, past] = detachLate(waiting, met, mine.past, service);
  const end = Math.max(calls.map(isChange).lastIndexOf(true) + 1, AT_ONCE);
  const [after, items] = finish(met, [...early, ...calls.slice(0, end)], service);
  const isNew = after.thread !== visitor.thread;
  const last = isStale
    ? { ...after, turn: Math.max(after.turn, visitor.turn + (isNew ? 1 : 0)) }
    : merge(merge(after, visitor), base ?? visitor);
  const pages = Math.max(last.pages, visitor.pages, hinted?.pages ?? 0);
  const number = mine.number || pages + 1;
  const next = { ...last, pages: Math.max(pages, number) };
  return [{ ...mine, begin: next, visitor: next, met, past, number, stored: undefined }, items, calls.slice(end)];
};
