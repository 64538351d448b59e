import type { DropReason } from '../api/signals.js';
import { type ItemText, idOf, isEvent, isIdentify, stamp } from '../recorder/event.js';
import type { Finished } from '../visitor/calls.js';
import type { Queue } from './queue.js';

/** Reports to the listeners. */
type Report = () => void;

export interface IntakePorts {
  readonly queue: Queue;
  /** Adds the number to an `$identify`. Other events have one from their call. */
  number(text: ItemText): ItemText;
  /** So many events more are counted as tracked. */
  begin(length?: number): void;
  /** This `$identify` was made, here or by a page that has left it. */
  onIdentify(text: ItemText): void;
  /** Counts an item as dropped: there is no room for it. Returns the function that reports it. */
  drop(text: ItemText, reason: DropReason): Report;
  /** An item was queued. */
  onAdded(): void;
  fail(message: string): void;
}

/** The outbox as the visitor sees it. */
export const createIntake = ({ queue, number, begin, onIdentify, drop, onAdded, fail }: IntakePorts) => {
  /** Returns the report if there is no room for it. */
  const add = (text: ItemText, isAdopted?: boolean): Report | undefined => {
    const excess = queue.excessOf(text);
    // An item that another page has taken in or left had room there, and was perhaps handed over.
    if (!excess || (isAdopted && excess === 'full')) {
      queue.add(text);
      return void onAdded();
    }
    // An upsert is no event, and has no signal of its own.
    return isEvent(text) ? drop(text, excess) : () => fail(`setProperties: ${excess}`);
  };
  /** A `$identify` is reported once all items are queued or counted as dropped: a listener may refuse, and that ends the queued ones. */
  const addReported = (text: ItemText, isAdopted?: boolean): Report | undefined => {
    const report = add(text, isAdopted);
    if (!isIdentify(text)) return report;
    return () => {
      onIdentify(text);
      report?.();
    };
  };
  /** An item of this page. Another page may have taken it in already, from the journal. */
  const takeOwn = (item: Finished, isAdopted?: boolean): Report | undefined => {
    const [draft, known] = item;
    if (queue.has(idOf(draft))) {
      // `adopt` and the call have both counted it. A `$identify` counts only here.
      if (isEvent(draft) && !isIdentify(draft)) begin(-1);
      return undefined;
    }
    const finished = stamp(draft, known);
    // Two pages that number the same `$identify` would each wait for its number.
    const text = isIdentify(draft) && !isAdopted ? number(finished) : finished;
    if (isIdentify(draft)) begin();
    return addReported(text, isAdopted);
  };
  /** A complete item that another page has left. */
  const adopt = (text: ItemText): Report | undefined => {
    if (queue.has(idOf(text))) return undefined;
    if (isEvent(text)) begin();
    // That page may have crashed before a plugin could do its work for the customer.
    return addReported(text, true);
  };

  return {
    query: queue.query,
    measure: queue.measure,
    forget(ids: ReadonlySet<string>, waiting: readonly ItemText[]) {
      begin(-[...queue.forget(ids), ...waiting].filter(isEvent).length);
    },
    rows: queue.collect,
    weigh: queue.weigh,
    /** Journals the items that no transaction has confirmed. */
    keep: () => queue.keep(false),
    /**
     * Takes complete items that other pages have left, and then items of this page. Reports come last: a listener may track, and its
     * event comes after these.
     */
    take(items: readonly Finished[], isAdopted?: boolean, left: readonly ItemText[] = []) {
      const reports = [...left.map(adopt), ...items.map((item) => takeOwn(item, isAdopted))];
      for (const report of reports) report?.();
    },
  };
};
