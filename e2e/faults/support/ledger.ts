import { randomUUID } from 'node:crypto';

/** An event of the ledger as it is stored at the collector. */
export interface Arrival {
  n: number;
  visitor: string;
}

/** The numbers of the ledger whose events break a promise. */
export interface Balance {
  lost: number[];
  twice: number[];
  /** Stored with the visitor id of another person. */
  wrong: number[];
  /** Reported as dropped, and yet arrived. */
  undead: number[];
}

/** The numbers of the calls of one run: each has to arrive exactly once. */
export interface Ledger {
  readonly run: string;
  /** Reserves the next numbers. */
  next(count: number): { run: string; from: number; count: number };
  /** These events may have been tracked or not. */
  unsure(numbers: number[]): void;
  drop(numbers: number[], reason: string): void;
  /** These events have to arrive with this visitor id. */
  assign(numbers: number[], visitor: string): void;
  /** The numbers that have to arrive and have not arrived. */
  missing(arrived: number[]): number[];
  balance(arrived: Arrival[], stored: number[]): Balance;
}

export const createLedger = (): Ledger => {
  const run = randomUUID();
  let size = 0;
  const unsure = new Set<number>();
  const dropped = new Map<number, string>();
  const visitors = new Map<number, string>();

  const missing = (arrived: number[]): number[] => {
    const there = new Set(arrived);
    const isMissing = (n: number) => !there.has(n) && !unsure.has(n) && !dropped.has(n);
    return Array.from({ length: size }, (_, n) => n).filter(isMissing);
  };

  return {
    run,
    next(count) {
      const from = size;
      size += count;
      return { run, from, count };
    },
    unsure(numbers) {
      for (const n of numbers) unsure.add(n);
    },
    drop(numbers, reason) {
      for (const n of numbers) dropped.set(n, reason);
    },
    assign(numbers, visitor) {
      for (const n of numbers) visitors.set(n, visitor);
    },
    missing,
    balance(arrived, stored) {
      const once = new Set<number>();
      const twice = new Set<number>();
      for (const { n } of arrived) (once.has(n) ? twice : once).add(n);
      return {
        lost: missing([...once, ...stored]),
        twice: [...twice],
        wrong: arrived.filter(({ n, visitor }) => (visitors.get(n) ?? visitor) !== visitor).map(({ n }) => n),
        undead: [...once].filter((n) => dropped.has(n)),
      };
    },
  };
};
