import { type Call, finish } from './calls.js';
import { detachLate } from './late.js';
import type { Visitor } from './record.js';
import type { Stored } from './stored.js';

/** The visitor as this page knows it. */
export interface Who {
  /** Before the calls that wait. */
  readonly begin: Visitor;
  /** After the calls that wait. */
  readonly visitor: Visitor;
  /** Without the calls of this page. */
  readonly met: Visitor;
  /** For calls that came late, because they are older than a change by another page. */
  readonly past?: Visitor | undefined;
  /** The visitor that the database has, or that another tab writes there. */
  readonly stored?: Visitor | undefined;
  /** The hint in localStorage as this page last saw it. */
  readonly seen?: string | undefined;
  /** The number of this page load, or 0 until the database has assigned it. */
  readonly number: number;
  /** Names of journals that have been taken in, and the epochs of all services, as this page last wrote them. */
  readonly taken?: readonly string[] | undefined;
  readonly epochs?: Stored['epochs'];
}

/** Whether a service knows the same person under the same visitor id, with the same proof. */
export const isSame = (one: Visitor, other: Visitor | undefined, service: string): boolean =>
  one.thread === other?.thread && `${one.keys[service] ?? ''}` === `${other.keys[service] ?? ''}`;

/**
 * Guesses the visitor before the database has answered.
 *
 * @param before the page's knowledge before it went into the back/forward cache
 * @param here the visitor by the hint and other hosts
 * @param seen the hint
 * @returns with the calls that wait for the database's answer
 */
export const guess = (
  before: Who | undefined,
  here: Visitor,
  seen: string | undefined,
  held: readonly Call[],
  service: string,
): [Who, Call[]] => {
  // Calls that have waited since before do not belong to who the visitor has become meanwhile.
  const waiting = before && held[0] ? [...held, { visitor: here }] : held;
  const begin = (held[0] && before?.begin) || here;
  const [calls, past] = detachLate(waiting, here, before?.past, service);
  return [{ begin, visitor: finish(begin, calls, service)[0], met: here, past, seen, number: 0 }, calls];
};

/** Returns a call, unless a change by another page has made it void since. */
export const meetCall = (who: Who, made: Call, service: string): [Who, Call | undefined] => {
  const [[call], past] = detachLate([made], who.met, who.past, service);
  return [{ ...who, met: made.visitor ?? who.met, past }, call];
};

/** The page's knowledge after a call that changes the visitor. The same object if the call changes nothing. */
export const changedBy = (who: Who, call: Call, service: string): Who => {
  const [visitor] = finish(who.visitor, [call], service);
  // Another tab or another host has stored its own change.
  return visitor === who.visitor ? who : { ...who, visitor, stored: call.visitor ? visitor : who.stored };
};
