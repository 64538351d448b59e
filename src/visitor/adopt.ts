import type { OtherJournal } from '../outbox/journal.js';
import { type ItemText, idOf, stamp, timeOf } from '../recorder/event.js';
import { type Call, isEarly, upsertOf } from './calls.js';
import { earlyCall } from './early.js';
import { merge, type Visitor } from './record.js';

/**
 * A page that did not know of a refusal yet may have left a journal with the visitor who has refused.
 *
 * @param epoch the epoch of the record, if it has one
 * @param isEnded whether a refusal is known to have ended an epoch. If the epochs only differ, the site's data may have been deleted
 * without a refusal: then the events count
 */
export const withoutRefused = (
  others: readonly OtherJournal[],
  epoch: string | undefined,
  isEnded: (epoch: unknown) => boolean,
): OtherJournal[] =>
  others
    .filter((other) => !isEnded(other.epoch))
    .map((other) => (epoch && other.epoch && other.epoch !== epoch ? { ...other, visitor: undefined } : other));

/**
 * The journals whose items no page has taken in. A page may come back from the back/forward cache, and leave before the database has
 * answered. Such a page journals all of its items again, also those that another page has taken in meanwhile. A page that crashes as it
 * takes in a journal leaves copies, and another page may have taken in the same journal.
 *
 * @param taken names of journals that have been taken in
 */
export const withoutTaken = (others: readonly OtherJournal[], taken: readonly string[]): OtherJournal[] =>
  others
    .filter(({ name }) => !taken.includes(name))
    .map((other) => {
      // Any code of the origin may have written it.
      const before = [other.earlier ?? []].flat().filter((one) => Array.isArray(one) && taken.includes(one[0]));
      const ids = new Set(before.flat());
      return { ...other, texts: other.texts.filter((text) => !ids.has(idOf(text))) };
    });

/**
 * Takes in the journals of pages that have gone.
 *
 * @param others the journals of these pages, in the order of time
 * @param stored the visitor of the record, if there is one
 * @param first stands in for it
 * @param isKnown whether an event is stored or settled already
 * @returns the visitor of record and journals, complete items in the order of time, and upserts that still have no customer
 */
export const adopt = (
  others: readonly Pick<OtherJournal, 'visitor' | 'texts' | 'at'>[],
  stored: Visitor | undefined,
  first: Visitor,
  isKnown: (text: ItemText) => boolean,
  service: string,
): [base: Visitor | undefined, items: ItemText[], early: Call[]] => {
  let base = stored;
  const visitors = [base ?? first];
  const left: (readonly [at: number, text: ItemText, thread: string])[] = [];
  for (const { visitor, texts, at: written = 0 } of others) {
    // If the visitor ids are equal, the later one has the newer token.
    if (visitor) base = !base || base.turn >= visitor.turn ? merge(base, visitor) : merge(visitor, base);
    visitors.push(base ?? first);
    const { thread } = base ?? first;
    // In order, even if the clock was set back. An upsert has no time of its own. The first upserts get the time of the first event. A
    // journal without an event has the time of its last write.
    let at = texts.map(timeOf).find(Boolean) ?? written;
    for (const text of texts) {
      at = Math.max(at, timeOf(text) || 0);
      if (!isKnown(text)) left.push([at, text, thread]);
    }
  }
  left.sort(([one], [other]) => one - other);
  /** The item with its customer, if one of the visitors had its visitor id and is identified. */
  const completed = ([, text, thread]: (typeof left)[number]): ItemText | Call => {
    const call = earlyCall(text, thread);
    if (!call) return text;
    const found = visitors.map((visitor) => upsertOf(visitor, call.text as ItemText, call.owner, service));
    const known = found.filter((one) => !isEarly(one)).pop();
    return known ? stamp(...known) : call;
  };
  const items = left.map(completed);
  return [base, items.filter((one) => typeof one === 'string'), items.filter((one) => typeof one === 'object')];
};
