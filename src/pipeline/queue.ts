import { type BatchLimits, nextBatch } from './batch.js';
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
  /** Unconfirmed items by id, oldest first. */
  readonly items: ReadonlyMap<string, ItemText>;
  /** Forgets items. Returns those that were here, and their rows as these have to be now. */
  remove(ids: readonly string[]): [removed: ItemText[], rows: Row[]];
}

/** The rows that change when only these items are left, as they are then. */
export const changedRows = (rows: Iterable<Row>, isLeft: (text: ItemText) => boolean): Row[] =>
  [...rows].flatMap(([key, items = []]): Row[] => {
    const left = items.filter(isLeft);
    return left.length < items.length ? [[key, left[0] ? left : undefined]] : [];
  });

export const createQueue = (store: Store, service: string, tab: string, limits: BatchLimits): Queue => {
  const items = new Map<string, ItemText>();
  /** Where they are stored, by the row's count. */
  const rows = new Map<number, Row>();
  let unwritten: ItemText[] = [];
  let records: Entry[] = [];
  let page = 0;
  let count = 0;
  let isScheduled = false;

  const persist = () => {
    isScheduled = false;
    if (!page) return;
    const entries = records;
    records = [];
    // A row is never more than a batch, so that confirming deletes whole rows.
    for (let batch = nextBatch(unwritten, limits); batch; batch = nextBatch(unwritten, limits)) {
      const row: Row = [[service, page, ++count, tab], batch.items];
      rows.set(count, row);
      entries.push(row);
      unwritten = unwritten.slice(batch.items.length);
    }
    if (entries[0]) store.transact(entries);
  };

  const schedule = () => {
    if (!isScheduled) queueMicrotask(persist);
    isScheduled = true;
  };

  return {
    add(text) {
      items.set(idOf(text), text);
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
    items,
    remove(ids) {
      const removed = ids.flatMap((id) => items.get(id) ?? []);
      for (const id of ids) items.delete(id);
      const isHere = (text: ItemText) => items.has(idOf(text));
      const changed = removed[0] ? changedRows(rows.values(), isHere) : [];
      for (const row of changed) row[1] ? rows.set(row[0][2], row) : rows.delete(row[0][2]);
      unwritten = unwritten.filter(isHere);
      return [removed, changed];
    },
  };
};
