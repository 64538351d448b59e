import { type BatchLimits, batchesWithin } from './batch.js';
import { type ItemText, idOf } from './event.js';
import type { Entry, Row, Store } from './store.js';

/** This page's memory of what no answer has confirmed yet, with the store following a microtask behind. */
export interface Queue {
  /** Takes an item in; stored at the end of the microtask, with all others of it and the records set meanwhile. */
  add(text: ItemText): void;
  /** Sets a record of the store in the same transaction as the items added around it. */
  record(name: string, value: object): void;
  /** From now on items are stored, as those of page load number `page`; with 0, no longer. */
  open(page: number): void;
  /** Stores now what the end of the microtask would have stored. */
  persist(): void;
  /** How many items are unconfirmed. */
  size(): number;
  /** Unconfirmed items, oldest first. */
  items(): ItemText[];
  /** Forgets items. Returns those that were here, and their rows as these have to be now. */
  remove(ids: readonly string[]): { removed: ItemText[]; rows: Row[] };
}

export const createQueue = (store: Store, service: string, tab: string, limits: BatchLimits): Queue => {
  const texts = new Map<string, ItemText>();
  const rows = new Map<string, Row>();
  let unwritten: ItemText[] = [];
  let records: Entry[] = [];
  let page = 0;
  let count = 0;
  let isScheduled = false;

  const has = (text: ItemText) => texts.has(idOf(text));

  const persist = () => {
    isScheduled = false;
    if (!page) return;
    const entries = records;
    // A row is never more than a batch, so that confirming deletes whole rows.
    for (const { items } of batchesWithin(unwritten, limits, Infinity)) {
      const row: Row = [[service, page, ++count, tab], items];
      for (const text of items) rows.set(idOf(text), row);
      entries.push(row);
    }
    unwritten = [];
    records = [];
    if (entries.length) store.transact(entries);
  };

  const schedule = () => {
    if (!isScheduled) queueMicrotask(persist);
    isScheduled = true;
  };

  return {
    add(text) {
      if (has(text)) return;
      texts.set(idOf(text), text);
      unwritten.push(text);
      schedule();
    },
    record(name, value) {
      records.push([name, value]);
      schedule();
    },
    open(number) {
      page = number;
      persist();
    },
    persist,
    size: () => texts.size,
    items: () => [...texts.values()],
    remove(ids) {
      const removed: ItemText[] = [];
      const changed = new Set<Row>();
      for (const id of ids) {
        const text = texts.get(id);
        const row = rows.get(id);
        if (text) removed.push(text);
        if (row) changed.add(row);
        texts.delete(id);
        rows.delete(id);
      }
      unwritten = unwritten.filter(has);
      return { removed, rows: Array.from(changed, ([key, items]) => [key, items.filter(has)]) };
    },
  };
};
