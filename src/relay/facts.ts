import { NOT_ALLOWED } from './accept.js';
import { type BookTotals, today } from './books.js';
import type { Reading } from './clocks.js';
import type { Job, RelayedEvent } from './job.js';
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
  /** Events that the relay has refused, each with its reason. */
  readonly refused: readonly (readonly [event: unknown, reason: string])[];
}

/** The reason for the report, of a fixed list. `reason` is for people, and may contain what a page has sent. */
const nameOf = (reason: string, isOfJob: boolean): string => {
  if (reason.startsWith('signature')) return 'unsigned';
  if (reason.startsWith('timestamp')) return 'timestamp';
  if (isOfJob) return 'invalid';
  if (reason === NOT_ALLOWED) return 'not-allowed';
  return reason === 'bot' ? 'bot' : 'not-accepted';
};

/** Most page loads of which a request may state drops. More come from no tracker, and each one costs the store as much as an event. */
const MOST_LOADS = 500;

/** The facts of a request for each page load that its events or its statements name. */
export const factsOf = (
  statements: readonly (Statement | undefined)[],
  { isServed, taken, repeats, refused }: Fate,
  { refused: ofJob }: Pick<Job, 'refused'>,
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
    change(load, () => ({ release, count, closed: isServed ? closed : 0, begunAt }));
    for (const { reason, load: of, first, length } of drops) {
      if (first) drop(of, reason, first, length);
      else
        change(of, ({ unnumbered = {} }) => ({
          unnumbered: { ...unnumbered, [reason]: (unnumbered[reason] ?? 0) + length },
        }));
    }
  }
  const isOfJob = new Set(ofJob);
  for (const [event, reason] of refused) {
    const [load, n] = numberIn(event) ?? [];
    if (load && n) drop(load, nameOf(reason, isOfJob.has(event)), n, 1);
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
