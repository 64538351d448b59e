import type { OtherJournal } from '../outbox/journal.js';
import { type ItemText, timeOf } from '../recorder/event.js';
import { complete } from './calls.js';
import { merge, type Visitor } from './record.js';

/**
 * Takes in the journals of pages that have gone.
 *
 * @param others their journals, in the order of time
 * @param stored the visitor of the record, if there is one
 * @param first stands in for it
 * @param isKnown whether an event is stored or settled already
 * @returns the visitor of record and journals, and complete items in the order of time. An item that is '' had no customer.
 */
export const adopt = (
  others: readonly OtherJournal[],
  stored: Visitor | undefined,
  first: Visitor,
  isKnown: (text: ItemText) => boolean,
  service: string,
): [Visitor | undefined, (ItemText | '')[]] => {
  let base = stored;
  const adopted: (readonly [at: number, text: ItemText])[] = [];
  for (const { visitor, texts } of others) {
    if (visitor) base = merge(base, visitor);
    let at = 0;
    for (const text of texts) {
      // In order, even if the clock was set back. An upsert has no time of its own.
      at = Math.max(at, timeOf(text) || 0);
      if (!isKnown(text)) adopted.push([at, complete(text, base ?? first, service)]);
    }
  }
  adopted.sort(([one], [other]) => one - other);
  return [base, adopted.map(([, text]) => text)];
};
