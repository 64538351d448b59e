import type { Journal } from '../outbox/journal.js';
import type { Entry, Row, RowQuery, Store } from '../outbox/store.js';
import type { ItemText } from '../recorder/event.js';
import type { Finished } from './calls.js';
import type { SharedVisitor } from './cookieDomain.js';
import type { ReportedVisitor, Visitor } from './record.js';

/** Rows to store with the record, and a function that receives the result. */
export interface Rows {
  readonly entries: readonly Entry[];
  settle(isStored: boolean): void;
}

/** The visitor's ports. */
export interface VisitorPorts {
  readonly service: string;
  readonly store: Store;
  readonly journal: Journal;
  /** The first visitor id, if there is none yet. */
  readonly given: string | undefined;
  readonly elsewhere: SharedVisitor | undefined;
  /** Removes the visitor of a link from the page's address, and returns how that link changes the visitor. */
  arrive(): ((visitor: Visitor) => Visitor) | undefined | '';
  /**
   * Takes complete items that pages have left, and then finished items of this page. Another page may have taken in the items of this
   * page already.
   */
  take(items: readonly Finished[], isAdopted?: boolean, left?: readonly ItemText[]): void;
  /**
   * Forgets these items, which another page has taken in and counts, except those whose rows the store has.
   *
   * @param waiting those that waited for the visitor
   */
  forget(ids: ReadonlySet<string>, waiting: readonly ItemText[]): void;
  /** Ids of earlier pages' events that need not be sent any more. At the page's start, the courier takes them over. */
  settled(isStart: boolean): ReadonlySet<unknown>;
  /** How many events a text counts for, where their number is bounded. */
  weigh(text: ItemText): number;
  /** The rows to be stored. */
  rows(): Rows;
  /** Journals items that are not stored yet. */
  keep(): void;
  /** The rows that `measure` needs. */
  query(): RowQuery;
  /** Counts the stored events. Returns the ids of those that may be in a journal, too. */
  measure(rows: readonly Row[]): ReadonlySet<string>;
  /** The visitor is known, or is another one. */
  onVisitor(visitor: Visitor): void;
  /** The database has answered. */
  onLoad(): void;
  /** For the other tabs. */
  onChange(visitor: ReportedVisitor): void;
  /** These events are dropped, because the visitor has refused. */
  onRefused(texts: readonly ItemText[]): void;
  /** Whether messages of the other tabs arrive. */
  isInformed(): boolean;
  /**
   * The visitor has refused without this page's knowledge.
   *
   * @param isRenewed the visitor has consented again since, in another tab
   */
  onMissed(isRenewed: boolean): void;
  fail(message: string): void;
}
