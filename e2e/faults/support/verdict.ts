import type { Balance } from './ledger.ts';

/** How one run went. */
export interface RunVerdict {
  survived: boolean;
  lost: number;
  twice: number;
  repeats: number;
  details: string[];
}

/** How a fault went in one browser: what a test leaves to the reporter as its annotation `verdict`. */
export interface Verdict {
  fault: number;
  runs: number;
  survived: number;
  lost: number;
  twice: number;
  /** Events sent more than once and dropped by their uuid at the collector: no loss, and no fault. */
  repeats: number;
  details: string[];
}

interface Findings {
  balance: Balance;
  /** Items left in the store. */
  left: number;
  problems: string[];
  repeats: number;
}

const list = (numbers: number[]) => `${numbers.slice(0, 20).join(', ')}${numbers.length > 20 ? ', …' : ''}`;

export const judge = ({ balance: { lost, twice, undead }, left, problems, repeats }: Findings): RunVerdict => {
  const details = [
    ...(lost[0] === undefined ? [] : [`${lost.length} lost: ${list(lost)}`]),
    ...(twice[0] === undefined ? [] : [`${twice.length} twice: ${list(twice)}`]),
    ...(undead[0] === undefined ? [] : [`${undead.length} reported as dropped, and arrived: ${list(undead)}`]),
    ...(left ? [`${left} left in the store`] : []),
    // The same one comes by beacon and from the page itself.
    ...new Set(problems),
  ];
  return { survived: !details[0], lost: lost.length, twice: twice.length, repeats, details };
};

const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0);

export const summarise = (fault: number, runs: RunVerdict[]): Verdict => ({
  fault,
  runs: runs.length,
  survived: runs.filter(({ survived }) => survived).length,
  lost: sum(runs.map(({ lost }) => lost)),
  twice: sum(runs.map(({ twice }) => twice)),
  repeats: sum(runs.map(({ repeats }) => repeats)),
  details: runs.flatMap(({ details }, index) => details.map((detail) => `run ${index + 1}: ${detail}`)),
});
