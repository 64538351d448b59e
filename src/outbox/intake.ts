import type { DropReason } from '../api/signals.js';
import { type ItemText, idOf, isEvent, isIdentify } from '../recorder/event.js';
import type { Finished } from '../visitor/calls.js';
import type { Queue } from './queue.js';

export interface IntakePorts {
  readonly queue: Queue;
  /** Adds to an item what it says of its visitor. */
  number(item: Finished): ItemText;
  /** One event more is counted as tracked. */
  begin(): void;
  /** This `$identify` was made. */
  onIdentify(text: ItemText): void;
  /** There is no room for an event. */
  drop(text: ItemText, reason: DropReason): void;
  /** An item was queued. */
  onAdded(): void;
  fail(message: string): void;
}

/** The outbox as the visitor sees it. */
export const createIntake = ({ queue, number, begin, onIdentify, drop, onAdded, fail }: IntakePorts) => {
  const add = (text: ItemText, isAdopted?: boolean) => {
    const excess = queue.excessOf(text);
    // What another page has taken in or left had room there, and perhaps was handed over.
    if (excess && !(isAdopted && excess === 'full')) {
      // An upsert is no event, and has no signal of its own.
      if (!isEvent(text)) fail(`setProperties: ${excess}`);
      return drop(text, excess);
    }
    queue.add(text);
    onAdded();
  };
  /** Nobody may be identified whom an upsert could concern. */
  const isKnown = (known: unknown) => !!known || fail('setProperties: call identify first');

  return {
    query: queue.query,
    measure: queue.measure,
    rows: queue.collect,
    /** Journals what no transaction has confirmed. */
    keep: () => queue.carry(false),
    /** Takes items of this page. Another page may have taken them in already, from the journal. */
    take(items: readonly Finished[], isAdopted?: boolean) {
      for (const item of items) {
        const [draft, known] = item;
        if (queue.has(idOf(draft)) || !isKnown(known)) continue;
        const text = number(item);
        if (isIdentify(draft)) {
          begin();
          onIdentify(text);
        }
        add(text, isAdopted);
      }
    },
    /** Takes complete items that other pages have left. One that is '' had no customer. */
    adopt(texts: readonly ItemText[]) {
      for (const text of texts) {
        if (!isKnown(text) || queue.has(idOf(text))) continue;
        if (isEvent(text)) begin();
        add(text, true);
      }
    },
  };
};
