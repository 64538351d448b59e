import { type BatchLimits, ENVELOPE } from '../courier/cut.js';
import { KEEPALIVE_QUOTA } from '../courier/flight.js';
import { byteLength, type ItemText, idOf, isEvent, isItem } from '../recorder/event.js';
import { sumOf } from '../wire.js';
import type { Journal } from './journal.js';
import { amongThem, changed, type Older } from './older.js';
import { createSize } from './size.js';
import type { Entry, Row, RowKey, RowQuery, Store } from './store.js';

/** Settled events of one row, as tabs report them to each other: the page that stored them, and their texts. */
export type Sent = readonly [page: string, ...texts: ItemText[]];

/**
 * The unconfirmed events. Memory has the events that the store may lack, and the latest of the others, so that a leaving page can hand
 * them over. The store follows a microtask later.
 */
export interface Queue {
  /** Why there is no room for an event, while `waiting` more events wait. */
  excessOf(text: ItemText, waiting?: number): 'too-large' | 'full' | undefined;
  /** For how many events this one counts. */
  weigh(text: ItemText): number;
  /** Takes an event in. The end of the microtask stores it, with all others of that microtask. */
  add(text: ItemText): void;
  /**
   * Stores now what the end of the microtask would have stored, and `extra` with it, in one transaction. Resolves to
   * whether that is done. Before the page has a number nothing may be stored: then it is undefined. With `isAborted`, also
   * rows whose transaction was aborted, which the queue learns a moment later.
   */
  persist(extra?: readonly Entry[], isAborted?: boolean): Promise<boolean> | undefined;
  /** The same for another transaction, which stores the rows and reports the result. */
  collect(): Collected;
  /** Whether an event is in memory. */
  has(id: string): boolean;
  /** The events in memory by id, oldest first. */
  readonly items: ReadonlyMap<string, ItemText>;
  /** The events in memory as rows. */
  rows(): Row[];
  /**
   * Whether the store may have items that memory has not: older ones of this page, or those of other pages. Without reports of the other
   * tabs, that is unknown.
   *
   * @param isLikely whether other pages are likely to have stored some. Counts before the database has answered
   */
  hasOlder(isLikely?: boolean): boolean;
  /** Whether the store has items of this page that memory has not. */
  isTrimmed(): boolean;
  /** The number of this page's latest row. */
  count(): number;
  /** Names this page's rows. */
  readonly page: string;
  /** Length of all events in memory together. */
  length(): number;
  /** Journals the items that no transaction has confirmed. With `isLeft`, also stored items whose rows may be gone. */
  keep(isLeft: boolean): void;
  /**
   * Forgets events, here and with the next transaction in the store. Returns those of this page: from memory, or from `sent`,
   * which contains settled events that are in the store only. With `isWritten`, another tab writes what is left of their rows: it
   * may have settled more by the time this page could write.
   */
  remove(ids: readonly string[], sent?: readonly Sent[], isWritten?: boolean): ItemText[];
  /** Forgets all items, because the visitor has refused. Returns those of memory. */
  clear(): ItemText[];
  /** These events, of any page, are settled. */
  settled(texts: readonly ItemText[]): void;
  /** The rows that `measure` needs. */
  query(): RowQuery;
  /** Forgets these items, which another page has taken in, except those whose rows the store has. Returns the forgotten ones. */
  forget(ids: ReadonlySet<string>): ItemText[];
  /** Counts the stored events inside a transaction. Returns the ids of those that may be in a journal, too. */
  measure(rows: readonly Row[]): ReadonlySet<string>;
  /** The courier's read has found these rows of the service, and no others. */
  saw(rows: readonly Row[]): void;
  /** The page is back from the back/forward cache. Other pages may have settled its stored events. */
  restore(): void;
  /** Another tab has stored (positive) or settled (negative) events, or has an upsert to store. */
  receive(by: SizeMessage): void;
}

/** A tab has an upsert to store: until another tab has read the store, it must not hand over properties past it. */
export const UPSERT = 'upsert';
/** The reports of tabs to each other about the number of stored events. */
export type SizeMessage = number | typeof UPSERT;

/** The rows of one transaction. */
export interface Collected {
  readonly entries: readonly Entry[];
  /** Receives whether that is done. */
  settle(isStored: boolean): boolean;
}

/** The place of a row that is to be written, or to be deleted if nothing is left of it. */
const CHANGED = -1;
/**
 * A row: its key, once it has been written, and its unsettled events. The row's place is the generation of the store that has it, or
 * the transaction that is to write it, or `CHANGED`. Rows are numbered also where nothing can be written.
 */
type OwnRow = [key: RowKey | undefined, texts: ItemText[], place: number | object, number: number];

export interface QueuePorts {
  readonly store: Store;
  readonly journal: Journal;
  readonly service: string;
  /** Names this page's rows. */
  readonly page: string;
  readonly limits: BatchLimits & { readonly maxQueuedEvents: number };
  /** The number of the page load, for the keys of its rows. With 0 nothing is stored. */
  pages(): number;
  /** Receives the unsettled events of each row that has been written. */
  onStored(texts: readonly ItemText[]): void;
  /** Whether the other tabs report to this page. */
  isInformed(): boolean;
  /** Another page has settled events while this page received no messages. */
  onUnseen(settled: number): void;
  /** Reports to the other tabs how many events this page has added or settled, and each upsert at once. */
  onSize(by: SizeMessage): void;
}

const NONE: Older = { events: 0, upserts: 0, generation: 0 };

const lengthOf = (texts: readonly ItemText[]) => sumOf(texts, ({ length }) => length);

export const createQueue = (ports: QueuePorts): Queue => {
  const { store, journal, service, page, limits, pages, onStored } = ports;
  const { maxBatchEvents, maxBatchBytes, maxQueuedEvents } = limits;
  const size = createSize(maxQueuedEvents, maxBatchEvents, ports.onSize);
  const weigh = (text: ItemText) => size.of([text]);
  const items = new Map<string, ItemText>();
  const rows = new Set<OwnRow>();
  /** The events of this microtask, which are in no row yet. */
  const fresh: ItemText[] = [];
  let count = 0;
  let older = NONE;

  /** Rows that were stored before the store's generation changed may be gone. */
  const isStored = ([, , place]: OwnRow) => place === store.generation();

  const length = () => lengthOf([...items.values()]);

  /** All rows. Puts the events of this microtask into rows of about a batch, so that confirming deletes whole rows. */
  const allRows = (): ReadonlySet<OwnRow> => {
    let left = 0;
    let texts: ItemText[] = [];
    for (const text of fresh.splice(0)) {
      left -= text.length;
      if (left < 0 || texts.length >= maxBatchEvents) {
        left = maxBatchBytes - text.length;
        texts = [];
        rows.add([undefined, texts, CHANGED, ++count]);
      }
      texts.push(text);
    }
    return rows;
  };

  const hasOlder = () => older.events + older.upserts > 0;

  /** Only the latest of the stored events stay in memory. */
  const trim = () => {
    let kept = length();
    for (const own of rows) {
      const [, texts] = own;
      const left = kept - lengthOf(texts);
      // A browser takes as much from a leaving page.
      if (left < KEEPALIVE_QUOTA) break;
      if (!isStored(own)) continue;
      kept = left;
      rows.delete(own);
      for (const text of texts) items.delete(idOf(text));
      // Rows of an earlier generation may be gone. Until a read has counted, the whole number is uncertain.
      older = changed(hasOlder() ? older : { ...older, generation: store.generation() }, texts, 1);
    }
  };

  const collect = (isAborted?: boolean): Collected => {
    const generation = store.generation();
    const due = [...allRows()].filter((own) => (isAborted || typeof own[2] === 'number') && !isStored(own));
    const unwritten = new Set(due.filter(([key]) => !key));
    const entries = due.map((own): Entry => {
      own[2] = due;
      own[0] ??= [service, pages(), own[3], page, size.of(own[1])];
      return [own[0], own[1][0] ? own[1] : undefined];
    });
    const settle = (isDone: boolean) => {
      if (isDone) journal.drop(due.flatMap(([, texts]) => texts.map(idOf)));
      for (const own of due) {
        const [, texts, place] = own;
        if (isDone) onStored(texts);
        // The row has changed meanwhile: the next transaction writes it as it is now.
        if (place !== due) continue;
        own[2] = isDone ? generation : CHANGED;
        if (!isDone && unwritten.has(own)) own[0] = undefined;
        if (!texts[0] && (isDone || !own[0])) rows.delete(own);
      }
      if (isDone) size.publish();
      trim();
      return isDone;
    };
    return { entries, settle };
  };

  const persist = (extra: readonly Entry[] = [], isAborted?: boolean) => {
    if (!pages()) return;
    const { entries, settle } = collect(isAborted);
    const all = [...entries, ...extra];
    if (all[0]) return store.transact(all).then((done) => settle(!!done));
    // A page that has sent the rows of others has none of its own to write.
    size.publish();
    return Promise.resolve(true);
  };

  /** Returns those of these events that memory had. */
  const drop = (ids: readonly string[], isWritten?: boolean): ItemText[] => {
    const removed: ItemText[] = [];
    for (const id of ids) {
      const text = items.get(id);
      if (!text) continue;
      removed.push(text);
      items.delete(id);
    }
    let missing = removed.length;
    for (const own of allRows()) {
      // Mostly the oldest are removed: the others need not be looked at.
      if (!missing) break;
      const left = own[1].filter((text) => items.has(idOf(text)));
      missing -= own[1].length - left.length;
      if (left.length === own[1].length) continue;
      own[1] = left;
      if (left[0] && (isWritten || older.isBack)) continue;
      own[2] = CHANGED;
      if (!left[0] && !own[0]) rows.delete(own);
    }
    journal.drop(ids);
    return removed;
  };

  const unsaved = (isLeft = true) =>
    [...allRows()].flatMap((own) => ((isLeft ? isStored(own) : (own[2] as number) >= 0) ? [] : own[1]));

  /** Counts these rows, and the events that may be in none. Own rows of an earlier generation of the store may be among them. */
  const countAll = (found: readonly Row[]) => {
    const numbers = new Set([...allRows()].flatMap((own) => (isStored(own) ? [] : own[3])));
    size.count(
      found.filter(([[, , number, owner]]) => owner !== page || !numbers.has(number)),
      unsaved(),
    );
  };

  return {
    excessOf(text, waiting = 0) {
      const most = maxBatchBytes - ENVELOPE;
      // A character has at most three bytes: most events need not be counted.
      if (text.length * 3 > most && byteLength(text) > most) return 'too-large';
      return size.isFull(waiting) ? 'full' : undefined;
    },
    weigh,
    add(text) {
      items.set(idOf(text), text);
      size.change(weigh(text));
      if (!isEvent(text)) ports.onSize(UPSERT);
      if (fresh.push(text) === 1) queueMicrotask(persist);
    },
    persist,
    collect,
    has: (id) => items.has(id),
    items,
    rows: () =>
      [...allRows()].flatMap(([key, texts, , number]): Row[] =>
        texts[0] ? [[key ?? [service, 0, number, page], texts]] : [],
      ),
    hasOlder: (isLikely) => !ports.isInformed() || !!(older.hasOthers ?? isLikely) || !!older.isBack || hasOlder(),
    isTrimmed: hasOlder,
    count: () => count,
    page,
    length,
    keep: (isLeft) => journal.keep(unsaved(isLeft)),
    remove(ids, sent = [], isWritten) {
      // A tab may run another version of clew, whose reports have any form.
      const theirs = sent.flatMap((one) => (Array.isArray(one) && one[0] === page ? one.filter(isItem) : []));
      const others = amongThem(
        older,
        theirs.filter((text) => !items.has(idOf(text))),
      );
      older = changed(older, others, -1);
      return [...others, ...drop(ids, isWritten)];
    },
    clear() {
      // Other pages may have stored rows since the refusal, if this page has missed that.
      older = { ...NONE, hasOthers: older.hasOthers };
      return drop([...items.keys()]);
    },
    settled(texts) {
      size.change(-size.of(texts));
    },
    query() {
      const pages = new Set(journal.pages());
      return [service, maxQueuedEvents, ([, , , owner]) => pages.has(owner)];
    },
    forget: (ids) =>
      drop([...allRows()].flatMap(([key, texts]) => (key ? [] : texts.map(idOf).filter((id) => ids.has(id))))),
    measure(rows) {
      countAll(rows);
      older = { ...older, hasOthers: !!rows[0] };
      return new Set(rows.flatMap(([, texts]) => [texts ?? []].flat().filter(isItem).map(idOf)));
    },
    saw(all) {
      const before = older;
      const generation = store.generation();
      const own = all.flatMap(([key, texts = []]) => (key[3] === page ? texts : []));
      const left = amongThem(
        before,
        own.filter((text) => !items.has(idOf(text))),
      );
      const hasOthers = all.some(([key]) => key[3] !== page);
      older = changed({ generation, events: 0, upserts: 0, hasOthers }, left, 1);
      const present = new Set([...all.flatMap(([, texts = []]) => texts), ...unsaved()].map(idOf));
      // A page that receives reports sends the events of its memory again, because another tab may have erased their rows by mistake.
      const isGone = (id: string) => (before.isBack || !ports.isInformed()) && !present.has(id);
      const gone = drop([...items.keys()].filter(isGone));
      // Rows that were lost with a whole database were not settled.
      const unseen = before.generation === generation ? before.events - older.events : 0;
      ports.onUnseen(unseen + gone.filter(isEvent).length);
      countAll(all);
    },
    restore() {
      older = { ...older, isBack: true };
    },
    receive(by) {
      if (by === UPSERT) older = { ...older, hasOthers: true };
      else size.receive(by);
    },
  };
};
