import { stamp } from '../recorder/event.js';
import { finish } from './calls.js';
import { type Desk, is, isInDoubt } from './desk.js';
import { ASKING, AWAY, OPEN } from './life.js';
import type { Visitor } from './record.js';
import type { Who } from './who.js';

/** More calls that wait are not journaled until the page leaves: it would take too long. */
const MOST_JOURNALED = 1e3;

/** Writes the page's knowledge of the visitor to places where other pages find it. */
export const createKnowledge = (desk: Desk) => {
  const { ports, hints, epochs } = desk;
  const { service, journal, elsewhere } = ports;

  /** Journals the changes that the database may lack. */
  const write = () => {
    const { who, held, life } = desk;
    if (!who) return journal.write({});
    const { begin, visitor, stored } = who;
    const texts = finish(begin, held.calls, service)[1].map((item) => stamp(...item));
    const changed = visitor === stored ? undefined : visitor;
    journal.write({ visitor: changed, texts, isLeft: is(desk, AWAY), epoch: epochs.current(), earlier: life.earlier });
  };

  /** Writes the hint, so that also a page that has no time to ask the database knows the visitor. */
  const hint = (known: Who) => {
    desk.who = known;
    // A refusal has ended the epoch of this page, which is about to learn of it.
    if (epochs.isOver() || isInDoubt(desk)) return;
    const isSeen = hints.rawHint() === known.seen;
    hints.writeHint(known.visitor);
    epochs.mark();
    // This page has not noticed yet what another tab has written meanwhile.
    if (isSeen) desk.who = { ...known, seen: hints.rawHint() };
  };

  return {
    write,
    /** Journals the calls that wait for the database, or for calls that have waited for it. */
    writeHeld() {
      const { calls } = desk.held;
      const isWaiting = calls[0] && (is(desk, ASKING) || is(desk, OPEN));
      if (isWaiting && !isInDoubt(desk) && calls.length < MOST_JOURNALED) write();
    },
    hint,
    /** The visitor is known. Returns whether no listener has refused meanwhile. */
    announce(visitor: Visitor): boolean {
      const ended = epochs.ended();
      if (!epochs.isOver()) elsewhere?.share(visitor, ports.fail, service);
      ports.onVisitor(visitor);
      return epochs.ended() === ended;
    },
  };
};

export type Knowledge = ReturnType<typeof createKnowledge>;
