import type { ItemText } from '../recorder/event.js';
import { type Call, type Finished, finish, isEarly } from './calls.js';
import { AT_ONCE } from './decide.js';
import { type Desk, is, isDoubtful } from './desk.js';
import { earlyCall } from './early.js';
import { heldOf, withCall } from './held.js';
import type { Knowledge } from './knowledge.js';
import { ASKING, AWAY, OPEN, REFUSED, SIGNAL } from './life.js';

/** Finishes the calls that wait for the visitor, in order. */
export const createTurn = (desk: Desk, { write }: Knowledge) => {
  const { ports, early, waiters } = desk;
  const { service, weigh } = ports;

  /** Gives the visitor id to those who wait for it, once it is certain or there will be none. */
  const give = () => {
    const { life, who, held } = desk;
    const isUnknown = !who || is(desk, ASKING) || isDoubtful(desk);
    // After a signal, the visitor may still consent.
    const end =
      is(desk, REFUSED) && life.reason !== SIGNAL
        ? 'the visitor has refused'
        : isUnknown && life.isStopped && 'the tracker was stopped';
    if (end) waiters.end(end);
    // A stopped page never finishes the calls that it leaves to the next one.
    else if (who && !isUnknown && (life.isStopped || (life.isSure && !held.calls[0]))) waiters.give(who.visitor.thread);
  };

  /** Takes finished items. Upserts wait until their visitor id has a customer. Those of an earlier visitor id never have one. */
  const take = (items: readonly Finished[], ...others: [isAdopted?: boolean, left?: readonly ItemText[]]) => {
    const waiting = items.filter(isEarly);
    ports.take(
      items.filter((item) => !waiting.includes(item)),
      ...others,
    );
    for (const item of waiting) if (item[1].correlationValue === desk.who?.visitor.thread) early.keep(item);
  };

  /** Finishes waiting calls, a few at a time, so that the page's own work goes on. */
  const pump = (most = AT_ONCE) => {
    const { who, life, held } = desk;
    if (!who || !(is(desk, OPEN) || is(desk, AWAY))) return;
    const { calls } = held;
    const isBacklog = !!calls[1];
    const [begin, items, count] = finish(who.begin, calls.slice(0, most), service, life.isSure);
    desk.held = heldOf(calls.slice(count), weigh);
    desk.who = { ...who, begin };
    take(items);
    if (desk.held.calls[0]) {
      if (is(desk, OPEN)) setTimeout(pump);
      return;
    }
    give();
    if (!isBacklog) return;
    // `write` takes the finished calls out of the journal, so they stay there as items until they are stored.
    ports.keep();
    write();
  };

  return {
    give,
    take,
    pump,
    pumpAll: () => pump(Number.POSITIVE_INFINITY),
    /** The upsert that waits follows the call that identifies its visitor. Another visitor id drops it. */
    holdEarly({ fresh, key, at }: Call) {
      // Until the database has answered, the upsert is left there, because the page may leave.
      for (const text of fresh && (desk.life.isSure || !key) ? early.take() : []) {
        const call = earlyCall(text, undefined, at);
        if (key && call) desk.held = withCall(desk.held, call, weigh);
      }
    },
  };
};

export type Turn = ReturnType<typeof createTurn>;
