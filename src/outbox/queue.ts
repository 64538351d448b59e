import { type BatchLimits, ENVELOPE } from '../courier/cut.js';
import { byteLength, type ItemText, idOf, isItem } from '../recorder/event.js';
import type { Journal } from './journal.js';
import { createSize } from './size.js';
import type { Entry, ReadRows, Row, RowKey, Store } from './store.js';

/** Events of one row that are settled, as tabs report them to each other: whose they were, and their texts. */
export type Sent = readonly [page: string, ...texts: ItemText[]];

/**
 * What no answer has confirmed yet. Memory has what the store may not have, and the latest of the rest, so that a page that
 * leaves has something to hand over. The store follows a microtask behind.
 */
export interface Queue {
  /** Why there is no room for an event, with so many more that wait. */
  excessOf(text: ItemText, waiting?: number): 'too-large' | 'full' | undefined;
  /** Takes an event in; stored at the end of the microtask, with all others of it. */
  add(text: ItemText): void;
  /**
   * Stores now what the end of the microtask would have stored, and `extra` with it, in one transaction. Resolves to
   * whether that is done. Before the page has a number nothing may be stored: then it is undefined.
   */
  persist(extra?: readonly Entry[]): Promise<boolean> | undefined;
  /** The same, for another transaction: what is to be stored, and what to do when that is done. */
  collect(): Collected;
  /** Whether an event is in memory, or was stored by a page that journaled it because it did not know that. */
  has(id: string): boolean;
  /** The events in memory by id, oldest first. */
  readonly items: ReadonlyMap<string, ItemText>;
  /** The events in memory as rows. */
  rows(): Row[];
  /** Whether older events of this page are in the store only. */
  hasOlder(): boolean;
  /** The number of this page's latest row. */
  count(): number;
  /** Names this page's rows. */
  readonly page: string;
  /** Length of all events in memory together. */
  length(): number;
  /** Writes what was added since the last call into the journal if it needs to be there. */
  rest(isJournaled: boolean): void;
  /** The page leaves: journals what no transaction has confirmed yet. */
  carry(): void;
  /**
   * Forgets events, here and with the next transaction in the store. Returns those of this page: from memory, or from `sent`,
   * which contains settled events that are in the store only.
   */
  remove(ids: readonly string[], sent?: readonly Sent[]): ItemText[];
  /** These events, of any page, are settled. */
  settled(texts: readonly ItemText[]): void;
  /** Counts, inside a transaction, what the store has. */
  measure(read: ReadRows): Promise<void>;
  /** The courier's read has found these rows of the service, and no others. */
  saw(rows: readonly Row[]): void;
  /** Another tab has stored or settled so many events. */
  receive(by: number): void;
}

/** What is to be stored in one transaction. */
export interface Collected {
  readonly entries: readonly Entry[];
  /** Receives whether that is done. */
  settle(isStored: boolean): boolean;
}

/** A row that is only in memory, or on the disk too. */
type Place = 'memory' | 'disk';
/** A row: its key once it has been written, what is left of its events, and where they are. */
type OwnRow = [key: RowKey | undefined, texts: ItemText[], place: Place];

export interface QueuePorts {
  readonly store: Store;
  readonly journal: Journal;
  readonly service: string;
  /** Names this page's rows. */
  readonly page: string;
  readonly limits: BatchLimits & { readonly maxQueuedEvents: number };
  /** The number of the page load, as those whose events are stored; with 0 none are. */
  pages(): number;
  /** Receives what is left of each row that has been written. */
  onStored(texts: readonly ItemText[]): void;
  /** Reports to the other tabs how many events this page has added or settled. */
  onSize(by: number): void;
}

/** Memory keeps so many characters of what is stored: as much as a browser takes from a page that leaves. */
const MIRROR = 65_536;

const lengthOf = (texts: readonly ItemText[]) => texts.reduce((sum, { length }) => sum + length, 0);

export const createQueue = (ports: QueuePorts): Queue => {
  const { store, journal, service, page, limits, pages, onStored } = ports;
  const { maxBatchEvents, maxBatchBytes, maxQueuedEvents } = limits;
  const size = createSize(maxQueuedEvents, maxBatchEvents, ports.onSize);
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
  /** So many events and upserts of this page are in the store only. */
  let older = 0;
  /** Ids of stored events that may be in a journal, too. */
  let stored = new Set<string>();
  /** What was added since the journal was last written or had no need of it. */
  let recent: ItemText[] = [];

  /** What was stored and may be gone is to be stored again. */
  const review = () => {
    if (generation === store.generation()) return;
    generation = store.generation();
    for (const own of rows) {
      if (own[2] !== 'disk') continue;
      own[2] = 'memory';
      changed.add(own);
    }
  };

  const forget = (text: ItemText) => {
    if (items.delete(idOf(text))) length -= text.length;
  };

  /** Only the latest of what is stored stays in memory. */
  const trim = () => {
    for (const own of rows) {
      const [key, texts, place] = own;
      if (length - lengthOf(texts) < MIRROR) break;
      if (place !== 'disk' || !key) continue;
      rows.delete(own);
      // If some of its events are settled, the courier's read deletes them.
      changed.delete(own);
      texts.forEach(forget);
      older += texts.length;
    }
  };

  const collect = (): Collected => {
    row = undefined;
    review();
    const due = changed;
    const entries: Entry[] = [];
    for (const own of due) {
      own[0] ??= [service, pages(), ++count, page, size.of(own[1])];
      entries.push([own[0], own[1][0] ? own[1] : undefined]);
    }
    changed = new Set();
    const settle = (isStored: boolean) => {
      for (const own of due) {
        const [, texts, place] = own;
        if (isStored) {
          own[2] = 'disk';
          journal.drop(texts.map(idOf));
          onStored(texts);
        }
        // Tried again with the next ones, if there is anything to store or to delete.
        else if (texts[0] ? rows.has(own) : place === 'disk') changed.add(own);
      }
      if (isStored) size.publish();
      trim();
      return isStored;
    };
    return { entries, settle };
  };

  const persist = (extra: readonly Entry[] = []) => {
    if (!pages()) return;
    const { entries, settle } = collect();
    const all = [...entries, ...extra];
    return all[0] ? store.transact(all).then((done) => settle(!!done)) : Promise.resolve(true);
  };

  const keep = (text: ItemText) => {
    items.set(idOf(text), text);
    length += text.length;
  };

  const unsaved = () => {
    review();
    return [...rows].flatMap(([, texts, place]) => (place === 'memory' ? texts : []));
  };

  return {
    excessOf(text, waiting = 0) {
      const most = maxBatchBytes - ENVELOPE;
      // A character has at most three bytes: most events need not be counted.
      if (text.length * 3 > most && byteLength(text) > most) return 'too-large';
      return size.isFull(waiting) ? 'full' : undefined;
    },
    add(text) {
      keep(text);
      recent.push(text);
      size.change(size.of([text]));
      room -= text.length;
      if (!row) queueMicrotask(persist);
      if (!row || room < 0 || row[1].length >= maxBatchEvents) {
        row = [undefined, [], 'memory'];
        rows.add(row);
        room = maxBatchBytes - text.length;
      }
      row[1].push(text);
      changed.add(row);
    },
    persist,
    collect,
    has: (id) => items.has(id) || stored.has(id),
    items,
    rows: () => [...rows].map(([key, texts]): Row => [key ?? [service, 0, 0, page], texts]),
    hasOlder: () => older > 0,
    count: () => count,
    page,
    length: () => length,
    rest(isJournaled) {
      if (isJournaled) journal.keep(recent);
      recent = [];
    },
    carry() {
      journal.keep(unsaved());
    },
    remove(ids, sent = []) {
      const removed: ItemText[] = [];
      // A tab may run another version of clew, whose reports have any form.
      const theirs = sent.flatMap((one) => (Array.isArray(one) && one[0] === page ? one.filter(isItem) : []));
      const others = theirs.filter((text) => !items.has(idOf(text))).slice(0, older);
      older -= others.length;
      for (const id of ids) {
        const text = items.get(id);
        if (!text) continue;
        removed.push(text);
        forget(text);
      }
      row = undefined;
      let missing = removed.length;
      for (const own of rows) {
        // Mostly the oldest are removed: the others need not be looked at.
        if (!missing) break;
        const left = own[1].filter((text) => items.has(idOf(text)));
        missing -= own[1].length - left.length;
        if (left.length === own[1].length) continue;
        own[1] = left;
        changed.add(own);
        if (!left[0]) rows.delete(own);
      }
      journal.drop(ids);
      return [...others, ...removed];
    },
    settled(texts) {
      size.change(-size.of(texts));
    },
    async measure(read) {
      const pages = new Set(journal.pages());
      const found = await read(service, maxQueuedEvents, ([, , , owner]) => pages.has(owner));
      stored = new Set(found.flatMap(([, texts]) => [texts ?? []].flat().filter(isItem).map(idOf)));
      size.count(found, unsaved());
    },
    saw(all) {
      size.count(all, unsaved());
      const own = all.flatMap(([key, texts = []]) => (key[3] === page ? texts : []));
      // Another tab may have settled some unnoticed.
      older = Math.min(older, own.filter((text) => !items.has(idOf(text))).length);
    },
    receive: size.receive,
  };
};
