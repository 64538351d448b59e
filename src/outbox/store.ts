import type { ItemText } from '../recorder/event.js';

/**
 * The key of a row. Rows of a service are ordered by the number of the page load, then by the page's own count. The key contains
 * no time, because clocks jump. `tab` keeps keys apart if the numbers start again. `size` is for how many events the row counted
 * when it was written first. Rows of earlier versions lack it.
 */
export type RowKey = [service: string, page: number, count: number, tab: string, ...size: number[]];

/** Items that are stored together, at most one batch. A row without items is deleted. */
export type Row = readonly [key: RowKey, items: readonly ItemText[] | undefined];

/** A write: a row, or a record under its name. */
export type Entry = Row | readonly [name: string, record: object];

/**
 * The rows to read: the oldest of a service, with at least `most` items if the store has as many. With `isWanted`, rows for
 * which it returns false count as one item and may lack their items.
 */
export type RowQuery = readonly [service: string, most?: number, isWanted?: (key: RowKey) => boolean];

/** A store of unsent events and named records. All tabs of an origin share one store. No method rejects. */
export interface Store {
  /**
   * Runs one transaction over all tabs. The transaction writes rows and named records, and then replaces the record `name` by the
   * result of the function `change`, unless that is undefined. `change` gets the rows that `query` asks for. If `entries` is a
   * function, it is called after `change` in the same transaction. Without `name`, the transaction is committed within the call, so
   * that it survives the unload. Resolves to the result of `change`, or true, or to undefined if nothing was written.
   */
  transact<T extends object>(
    entries: readonly Entry[] | (() => readonly Entry[]),
    name?: string,
    change?: (old: T | undefined, rows: readonly Row[]) => T | undefined,
    query?: (old: T | undefined) => RowQuery | undefined,
  ): Promise<T | undefined>;
  /** Reads rows in a transaction of its own, also while a full disk refuses writes. */
  read(...query: RowQuery): Promise<readonly Row[]>;
  /**
   * Aborts uncommitted transactions while the page unloads. In the back/forward cache, the page would keep its transaction and
   * block all other tabs, and its own last write would wait, too.
   *
   * @param isKept the browser may keep the page in that cache, so the page must leave no request behind that waits for it
   */
  abort(isKept?: boolean): void;
  /**
   * Deletes the rows of a service and these records, and everything if nothing else is left. Running transactions write nothing more.
   *
   * @param isRefused whether the first of these records belongs to those who have refused. If it does not, all of them stay. Without it,
   * the page erases what it finds
   */
  clear(service: string, names: readonly string[], isRefused?: (record: unknown) => boolean): void;
  /** Whether writes proceed at once, because the database is open. */
  isOpen(): boolean;
  /** A counter. A new number means that stored data may be gone, because the site, the visitor or the browser deleted it. */
  generation(): number;
  /**
   * Takes the place of localStorage, where clew keeps what a page cannot write into the store as it leaves.
   *
   * @default localStorage
   */
  readonly local?: Record<string, string> | undefined;
}
