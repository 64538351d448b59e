import type { BatchLimits } from '../courier/cut.js';
import { type ItemText, idOf } from '../recorder/event.js';
import type { Entry, RowKey, Store } from './store.js';

/** This page's memory of what no answer has confirmed yet, with the store following a microtask behind. */
export interface Queue {
  /** Takes an item in; stored at the end of the microtask, with all others of it. */
  add(text: ItemText): void;
  /**
   * Stores now what the end of the microtask would have stored, and `extra` with it, in one transaction. Resolves to
   * whether that is done. Before the page has a number nothing may be stored: then it is undefined.
   */
  persist(extra?: readonly Entry[]): Promise<boolean> | undefined;
  /** The same, for somebody else's transaction: what is to be stored, and what to do when that is done. */
  collect(): Collected;
  /** Takes in an item that another page has stored. */
  note(text: ItemText): void;
  /** Unconfirmed items by id, oldest first. */
  readonly items: ReadonlyMap<string, ItemText>;
  /** Length of all these items together. */
  length(): number;
  /** Those of them that no transaction has confirmed yet. */
  unsaved(): ItemText[];
  /** Forgets items, here and with the next transaction in the store. Returns those that were here. */
  remove(ids: readonly string[]): ItemText[];
}

/** What is to be stored in one transaction. */
export interface Collected {
  readonly entries: readonly Entry[];
  /** Told whether that is done. */
  settle(isStored: boolean): boolean;
}

/** A row of this page: its key once it has been written, what is left of its items, and whether it is known to be stored. */
type OwnRow = [key: RowKey | undefined, items: ItemText[], isStored?: boolean];

/**
 * @param page the number of the page load, as those whose items are stored; with 0 none are
 * @param onStored told what is left of each row that has been written
 */
export const createQueue = (
  store: Store,
  service: string,
  tab: string,
  { maxBatchEvents, maxBatchBytes }: BatchLimits,
  page: () => number,
  onStored: (items: readonly ItemText[]) => void,
): Queue => {
  const items = new Map<string, ItemText>();
  const rows = new Set<OwnRow>();
  /** The rows that are not, or not so, in the store. */
  let changed = new Set<OwnRow>();
  /** The row of this microtask, and how much it still takes: a row is about a batch, so that confirming deletes whole rows. */
  let row: OwnRow | undefined;
  let room = 0;
  let length = 0;
  let count = 0;
  let generation = store.generation();

  /** What was stored and may be gone is to be stored again. */
  const review = () => {
    if (generation === store.generation()) return;
    generation = store.generation();
    for (const own of rows) own[2] = false;
    changed = new Set([...changed, ...rows]);
  };

  const collect = (number = page()): Collected => {
    row = undefined;
    review();
    const due = changed;
    const entries: Entry[] = [];
    for (const own of due) {
      own[0] ??= [service, number, ++count, tab];
      entries.push([own[0], own[1][0] ? own[1] : undefined]);
    }
    changed = new Set();
    const settle = (isStored: boolean) => {
      for (const own of due) {
        if (isStored) {
          own[2] = true;
          onStored(own[1]);
        }
        // Tried again with the next ones, if there is anything to store or to delete.
        else if (own[1][0] || own[2]) changed.add(own);
      }
      return isStored;
    };
    return { entries, settle };
  };

  const persist = (extra: readonly Entry[] = []) => {
    if (!page()) return;
    const { entries, settle } = collect();
    const all = [...entries, ...extra];
    return all[0] ? store.transact(all).then((done) => settle(!!done)) : Promise.resolve(true);
  };

  const note = (text: ItemText) => {
    items.set(idOf(text), text);
    length += text.length;
  };

  return {
    add(text) {
      note(text);
      room -= text.length;
      if (!row) queueMicrotask(persist);
      if (!row || room < 0 || row[1].length >= maxBatchEvents) {
        row = [undefined, []];
        rows.add(row);
        room = maxBatchBytes - text.length;
      }
      row[1].push(text);
      changed.add(row);
    },
    persist,
    collect,
    note,
    items,
    length: () => length,
    unsaved() {
      review();
      return [...rows].flatMap(([, left, isStored]) => (isStored ? [] : left));
    },
    remove(ids) {
      const removed: ItemText[] = [];
      for (const id of ids) {
        const text = items.get(id) ?? '';
        if (items.delete(id)) removed.push(text);
        length -= text.length;
      }
      row = undefined;
      let missing = removed.length;
      for (const own of rows) {
        // Mostly the oldest are removed: the others need not be looked at.
        if (!missing) break;
        const left = own[1].filter((text) => items.has(idOf(text)));
        missing -= own[1].length - left.length;
        if (left.length < own[1].length) {
          own[1] = left;
          changed.add(own);
          if (!left[0]) rows.delete(own);
        }
      }
      return removed;
    },
  };
};
