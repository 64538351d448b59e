import type { WireEvent } from '../wire.js';

/** Counts of events since the relay's start. `missing / (taken + missing)` is the rate of loss. */
export interface RelayReport {
  /** Events that the service, or your `forward`, has taken. */
  readonly taken: number;
  /** Duplicates of taken events, which the relay dropped. */
  readonly repeats: number;
  /** Events that the relay refused: malformed, unsigned, or not accepted. */
  readonly rejected: number;
  /**
   * Numbers that the relay has not received, although it has received a later number of the same page load. It falls again
   * when a browser sends late events. It cannot see the last events of a page load.
   */
  readonly missing: number;
  /** Taken events whose `timestamp` the relay has corrected, because the visitor's clock is wrong. */
  readonly corrected: number;
}

/** Page loads that are counted at a time, at least. For older ones only the number of missing events is kept. */
const MOST_PAGES = 10_000;

/** Counts events, and reports at most once in `interval` ms. */
export const createAccount = (onReport: (report: RelayReport) => void, interval: number) => {
  const report = { taken: 0, repeats: 0, rejected: 0, missing: 0, corrected: 0 };
  /** By visitor id and page load: the highest number, and how many of the numbers up to it have arrived. */
  let pages = new Map<string, { highest: number; come: number }>();
  // Dropped whole, because V8 searches a map from its beginning to find the first entry after many deletions.
  let older = pages;
  let emittedAt = performance.now();
  let isChanged = false;

  const place = ({ correlationValue, seq }: WireEvent) => {
    if (!Array.isArray(seq) || seq.length !== 2 || !seq.every((n) => Number.isSafeInteger(n) && n > 0 && n < 1e6))
      return;
    const [page, n] = seq;
    const key = `${correlationValue} ${page}`;
    const counted = pages.get(key) ?? older.get(key) ?? { highest: 0, come: 0 };
    report.missing -= counted.highest - counted.come;
    counted.highest = Math.max(counted.highest, n);
    // A number that comes twice fills the gap of another one. The numbers themselves would need memory that pages choose.
    counted.come = Math.min(counted.come + 1, counted.highest);
    report.missing += counted.highest - counted.come;
    pages.set(key, counted);
    if (pages.size < MOST_PAGES) return;
    older = pages;
    pages = new Map();
  };

  const emit = (): void => {
    if (!isChanged) return;
    isChanged = false;
    emittedAt = performance.now();
    onReport({ ...report });
  };

  return {
    missing: () => report.missing,
    taken(events: readonly WireEvent[]): void {
      report.taken += events.length;
      for (const event of events) place(event);
      isChanged ||= events.length > 0;
    },
    /** Events that are not forwarded, and not missing either. */
    arrived(events: readonly WireEvent[]): void {
      for (const event of events) place(event);
    },
    count(what: 'repeats' | 'rejected' | 'corrected', number: number): void {
      report[what] += number;
      isChanged ||= number > 0;
    },
    emitIfDue(): void {
      if (performance.now() - emittedAt >= interval) emit();
    },
    emit,
  };
};
