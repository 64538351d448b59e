import type { WireEvent } from '../wire.js';

/** What a relay has seen since it was made. Of the events tracked, `missing / (taken + missing)` is the rate of loss. */
export interface RelayReport {
  /** Events that the service, or whatever is forwarded to, has taken. */
  readonly taken: number;
  /** Events that came once more after that, and were dropped. */
  readonly repeats: number;
  /** Events that were refused: ill-formed, or not signed. */
  readonly rejected: number;
  /**
   * Events that their trackers have numbered and that are not here, though later ones of the same page load are. Some may
   * still come: a browser keeps what it could not send. What a page tracked last is not missed.
   */
  readonly missing: number;
}

/** Page loads whose events are counted at a time, at least; of older ones it is known how many were missing. */
const MOST_PAGES = 10_000;

/** Counts, and tells at most once in `interval` ms. */
export const createAccount = (onReport: (report: RelayReport) => void, interval: number) => {
  const report = { taken: 0, repeats: 0, rejected: 0, missing: 0 };
  /** By thread and page load: the highest number, and how many of the numbers up to it have come. */
  let pages = new Map<string, { highest: number; come: number }>();
  // Dropped whole: a map that loses its first entry again and again is searched for it again and again.
  let older = pages;
  let toldAt = Date.now();
  let isChanged = false;

  const place = ({ correlationValue, seq }: WireEvent) => {
    if (!Array.isArray(seq) || !seq.every((n) => Number.isSafeInteger(n) && n > 0 && n < 1e6)) return;
    const [page, n] = seq;
    const key = `${correlationValue} ${page}`;
    const counted = pages.get(key) ?? older.get(key) ?? { highest: 0, come: 0 };
    report.missing -= counted.highest - counted.come;
    counted.highest = Math.max(counted.highest, n);
    // A number that comes twice, of two events, is no second arrival.
    counted.come = Math.min(counted.come + 1, counted.highest);
    report.missing += counted.highest - counted.come;
    pages.set(key, counted);
    if (pages.size < MOST_PAGES) return;
    older = pages;
    pages = new Map();
  };

  const tell = (): void => {
    if (!isChanged) return;
    isChanged = false;
    toldAt = Date.now();
    onReport({ ...report });
  };

  return {
    taken(events: readonly WireEvent[]): void {
      report.taken += events.length;
      for (const event of events) place(event);
      isChanged ||= events.length > 0;
    },
    count(what: 'repeats' | 'rejected', number: number): void {
      report[what] += number;
      isChanged ||= number > 0;
    },
    tellIfDue(): void {
      if (Date.now() - toldAt >= interval) tell();
    },
    tell,
  };
};
