import { NOT_ALLOWED } from './accept.js';
import { type BookTotals, today } from './books.js';
import type { Reading } from './clocks.js';
import type { RelayedEvent } from './job.js';
import type { Fact } from './load.js';
import { union } from './ranges.js';
import { numberIn, type Statement } from './statements.js';

/** The fate of a request's events. */
export interface Fate {
  /** The service has the request's events, or there is nothing to forward. */
  readonly isServed: boolean;
  /** Events that the service has taken now. */
  readonly taken: readonly RelayedEvent[];
  /** Events that it had already. */
  readonly repeats: readonly RelayedEvent[];
  /** Events that the relay has refused, each with the reason for the report. */
  readonly refused: readonly (readonly [event: unknown, reason: Reason])[];
}

/** A reason of the relay, for the report. An answer has another one, which may contain what a page has sent. */
export type Reason = 'unsigned' | 'not-allowed' | 'not-accepted' | 'bot' | 'timestamp' | 'invalid';

/** The reason for the report of an event that is not of the contract's form. */
export const reasonOfJob = (fault: string | undefined = ''): Reason => {
  if (fault.startsWith('signature')) return 'unsigned';
  return fault.startsWith('timestamp') ? 'timestamp' : 'invalid';
};

/** The reason for the report of an event that `bots`, `allowedEvents` or `accept` has dropped. */
export const reasonOfSieve = (fault: string | undefined, isBot: boolean): Reason => {
  if (isBot) return 'bot';
  return fault === NOT_ALLOWED ? 'not-allowed' : 'not-accepted';
};

/** The duplicates that the service has. An event that is in a batch twice was delivered only if it was taken now. */
export const deliveredOf = (
  repeats: readonly RelayedEvent[],
  fresh: readonly RelayedEvent[],
  taken: readonly RelayedEvent[],
): readonly RelayedEvent[] => {
  if (!repeats[0]) return repeats;
  const idsOf = (events: readonly RelayedEvent[]) => new Set(events.map(({ came }) => came.uuid));
  const [tried, done] = [idsOf(fresh), idsOf(taken)];
  return repeats.filter(({ came: { uuid } }) => !tried.has(uuid) || done.has(uuid));
};

/** Most page loads of which a request may state drops. More come from no tracker. */
const MOST_LOADS = 500;

/** The facts of a request for each page load that its events or its statements name. */
export const factsOf = (
  statements: readonly (Statement | undefined)[],
  { isServed, taken, repeats, refused }: Fate,
  engine: BookTotals['engine'],
  reading: Reading | undefined,
  at: number,
): Map<number, Fact> => {
  const facts = new Map<number, Fact>();
  const day = today();
  const change = (load: number, by: (fact: Fact) => Partial<Fact>) => {
    const fact = facts.get(load) ?? { engine, day };
    facts.set(load, { ...fact, ...by(fact) });
  };
  // Drops and deliveries change each page load in one step, because a request may have thousands of them.
  const dropped = new Map<number, Record<string, number[]>>();
  const drop = (load: number, reason: string, first: number, length: number) => {
    const reasons = dropped.get(load) ?? {};
    if (dropped.size < MOST_LOADS) dropped.set(load, reasons);
    const ranges = reasons[reason] ?? [];
    ranges.push(first, first + length - 1);
    reasons[reason] = ranges;
  };
  for (const statement of statements) {
    if (!statement) continue;
    const { load, closed, release, count, drops, since } = statement;
    const begunAt = reading && since !== undefined ? at - (reading[0] - since) : undefined;
    // The page still has the request's events, and makes the statement again.
    change(load, (before) => ({
      release,
      count: Math.max(before.count ?? 0, count),
      closed: Math.max(before.closed ?? 0, isServed ? closed : 0),
      begunAt: begunAt ?? before.begunAt,
    }));
    for (const { reason, load: of, first, length } of drops) {
      if (first) drop(of, reason, first, length);
      else
        change(of, ({ unnumbered = {} }) => ({
          unnumbered: { ...unnumbered, [reason]: (unnumbered[reason] ?? 0) + length },
        }));
    }
  }
  for (const [event, reason] of refused) {
    const [load, n] = numberIn(event) ?? [];
    if (load && n) drop(load, reason, n, 1);
  }
  for (const [load, reasons] of dropped) {
    const ranges = Object.entries(reasons).map(([reason, pairs]) => [reason, union([], pairs)] as const);
    change(load, () => ({ dropped: Object.fromEntries(ranges) }));
  }
  const delivered = new Map<number, Map<number, number>>();
  for (const { came, time } of isServed ? [...taken, ...repeats] : []) {
    const [load, n] = numberIn(came) ?? [];
    if (!load || !n) continue;
    const ages = delivered.get(load) ?? new Map<number, number>();
    delivered.set(load, ages.set(n, at - time));
  }
  for (const [load, ages] of delivered) change(load, () => ({ delivered: ages }));
  return facts;
};
