import type { Books, BookTotals } from './books.js';
import { oneAtATime } from './oneAtATime.js';

/** Counts of events since the relay's start, and the books of page loads. */
export interface RelayReport {
  /** Events that the service, or your `forward`, has taken. */
  readonly taken: number;
  /** Duplicates of taken events, which the relay dropped. */
  readonly repeats: number;
  /** Events that the relay refused: malformed, unsigned, or not accepted. */
  readonly rejected: number;
  /**
   * Events that no page has any more, and that never arrived: the sum of `missing` in `books`. Undefined if the relay could not read
   * the books since its start.
   */
  readonly missing: number | undefined;
  /** Taken events whose `timestamp` the relay has corrected, because the visitor's clock is wrong. */
  readonly corrected: number;
  /**
   * Totals for each release, browser engine and day, of the last 31 days. All relays that share a `seen` have the same, also after a
   * restart. Compare `missing` with `tracked` of the same row. Undefined if the relay could not read them since its start.
   */
  readonly books: readonly BookTotals[] | undefined;
}

/** The number of missing events in all books. */
export const missingIn = (books: readonly BookTotals[]): number => books.reduce((sum, { missing }) => sum + missing, 0);

/** Counts events, and reports at most once in `interval` ms. */
export const createAccount = (
  onReport: (report: RelayReport) => void,
  interval: number,
  { refresh, longestRefresh, totals }: Pick<Books, 'refresh' | 'longestRefresh' | 'totals'>,
) => {
  const counts = { taken: 0, repeats: 0, rejected: 0, corrected: 0 };
  let emittedAt = performance.now();
  let isChanged = false;

  const report = oneAtATime(async () => {
    if (!isChanged) return;
    isChanged = false;
    emittedAt = performance.now();
    // Other relays have counted, too.
    await refresh();
    const books = totals();
    onReport({ ...counts, missing: books && missingIn(books), books });
  }, longestRefresh);

  return {
    count(what: keyof typeof counts, number: number): void {
      counts[what] += number;
      isChanged ||= number > 0;
    },
    /** The books have changed, perhaps without an event. */
    changed(): void {
      isChanged = true;
    },
    emitIfDue: async (): Promise<void> => {
      if (performance.now() - emittedAt >= interval) await report();
    },
    /** Resolves once everything is reported. */
    emit: report.again,
  };
};
