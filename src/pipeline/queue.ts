import { type BatchLimits, ENVELOPE } from './batch.js';
import { byteLength, type ItemText, idOf } from './event.js';
import type { Row, Store } from './store.js';

/** This page's memory of what it has tracked and no answer has confirmed, with the store following a microtask behind. */
export interface Queue {
  /** Takes an item in; stored at the end of the microtask, with all others of it and the records set meanwhile. */
  add(text: ItemText): void;
  /** Sets a record of the store in the same transaction as the items added before and after it. */
  record(name: string, value: unknown): void;
  /** From now on items are stored, as those of page load number `page`; with 0, no longer. */
  open(page: number): void;
  /** Stores now what the end of the microtask would have stored. */
  persist(): void;
  /** How many items are unconfirmed. */
  size(): number;
  /** Unconfirmed items, oldest first. */
  items(): ItemText[];
  /** Ids of the items that have been written to the store. */
  stored(): string[];
  /** Forgets items. Returns those that were here, and their stored rows as these have to be now. */
  remove(ids: Iterable<string>): { removed: ItemText[]; rows: Row[] };
  /** Goes on remembering items whose rows are being deleted, to store them anew when the page turns out to live on. */
  detach(ids: Iterable<string>): void;
}

interface Entry {
  readonly text: ItemText;
  /** Where it is stored, once it is. */
  row?: Row;
}

/** The rows as they are without the items of these ids; a row that does not change is left out. */
export const without = (rows: Iterable<Row>, ids: ReadonlySet<string>): Row[] =>
  [...rows].flatMap(({ key, items }) => {
    const rest = items.filter((text) => !ids.has(idOf(text)));
    return rest.length < items.length ? [{ key, items: rest }] : [];
  });

export const createQueue = (store: Store, service: string, tab: string, limits: BatchLimits): Queue => {
  const entries = new Map<string, Entry>();
  let unwritten: Entry[] = [];
  let records: Record<string, unknown> = {};
  let page = 0;
  let count = 0;
  let scheduled = false;

  /** One row of the first unwritten entries: never more than a batch, so that confirming deletes whole rows. */
  const nextRow = (): Row => {
    let bytes = ENVELOPE;
    const items: ItemText[] = [];
    for (const { text } of unwritten) {
      const more = byteLength(text) + 1;
      if (items.length && (items.length >= limits.maxBatchEvents || bytes + more > limits.maxBatchBytes)) break;
      bytes += more;
      items.push(text);
    }
    const row: Row = { key: [service, page, ++count, tab, bytes], items };
    for (const entry of unwritten.splice(0, items.length)) entry.row = row;
    return row;
  };

  const persist = () => {
    scheduled = false;
    if (!page) return;
    const rows: Row[] = [];
    while (unwritten.length) rows.push(nextRow());
    const changed = records;
    records = {};
    if (rows.length || Object.keys(changed).length) store.write(rows, changed);
  };

  const schedule = () => {
    if (!scheduled) queueMicrotask(persist);
    scheduled = true;
  };

  return {
    add(text) {
      if (entries.has(idOf(text))) return;
      const entry = { text };
      entries.set(idOf(text), entry);
      unwritten.push(entry);
      schedule();
    },
    record(name, value) {
      records[name] = value;
      schedule();
    },
    open(number) {
      page = number;
      persist();
    },
    persist,
    size: () => entries.size,
    stored: () => Array.from(entries).flatMap(([id, { row }]) => (row ? [id] : [])),
    items: () => Array.from(entries.values(), ({ text }) => text),
    remove(ids) {
      const gone: Entry[] = [];
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry && entries.delete(id)) gone.push(entry);
      }
      const left = ({ text }: Entry) => entries.has(idOf(text));
      unwritten = unwritten.filter(left);
      const rows = new Set(gone.flatMap(({ row }) => row ?? []));
      return {
        removed: gone.map(({ text }) => text),
        rows: Array.from(rows, ({ key, items }) => ({ key, items: items.filter((text) => left({ text })) })),
      };
    },
    detach(ids) {
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry?.row) unwritten.push(entry);
        delete entry?.row;
      }
    },
  };
};
