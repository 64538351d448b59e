import type { Balance } from './ledger.ts';

/** How many events broke which promise. */
export interface Broken {
  lost: number;
  twice: number;
  /** Stored with the visitor id of another person. */
  wrong: number;
  /** Reported as dropped, after a refusal for instance, and stored all the same. */
  undead: number;
}

/** How one run went. */
export interface RunVerdict extends Broken {
  survived: boolean;
  repeats: number;
  details: string[];
}

/**
 * How a fault went in one browser. Each test leaves it in its annotation `verdict`, as JSON.
 *
 * In Playwright's JSON report, it is in `tests[].annotations` as `{ type: 'verdict', description: '{"lost":0,…}' }`.
 * If one of `lost`, `twice`, `wrong` and `undead` is above 0, clew has broken a promise, and no later success excuses that. A
 * play that fails while it waits for arrivals is settled, too, so that lost events count. If all four are 0 or the annotation is
 * missing (a time-out), the test failed for another reason. For example, the page had an error, or a step took too long.
 */
export interface Verdict extends Broken {
  fault: number;
  runs: number;
  survived: number;
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

const BROKEN = ['lost', 'twice', 'wrong', 'undead'] as const;

/** Names the broken promises, or states that none is broken. */
export const showBroken = (broken: Broken): string =>
  BROKEN.filter((kind) => broken[kind])
    .map((kind) => `${kind} ${broken[kind]}`)
    .join(', ') || 'nothing lost, twice or wrong';

const list = (numbers: number[]) => `${numbers.slice(0, 20).join(', ')}${numbers.length > 20 ? ', …' : ''}`;

export const judge = ({ balance, left, problems, repeats }: Findings): RunVerdict => {
  const { lost, twice, wrong, undead } = balance;
  const details = [
    ...(lost[0] === undefined ? [] : [`${lost.length} lost: ${list(lost)}`]),
    ...(twice[0] === undefined ? [] : [`${twice.length} twice: ${list(twice)}`]),
    ...(wrong[0] === undefined ? [] : [`${wrong.length} with the visitor id of another person: ${list(wrong)}`]),
    ...(undead[0] === undefined ? [] : [`${undead.length} reported as dropped, and arrived: ${list(undead)}`]),
    ...(left ? [`${left} left in the store`] : []),
    // A problem may arrive twice, by beacon and from the page itself.
    ...new Set(problems),
  ];
  const counts = { lost: lost.length, twice: twice.length, wrong: wrong.length, undead: undead.length };
  return { survived: !details[0], ...counts, repeats, details };
};

const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0);

export const summarise = (fault: number, runs: RunVerdict[]): Verdict => ({
  fault,
  runs: runs.length,
  survived: runs.filter(({ survived }) => survived).length,
  lost: sum(runs.map(({ lost }) => lost)),
  twice: sum(runs.map(({ twice }) => twice)),
  wrong: sum(runs.map(({ wrong }) => wrong)),
  undead: sum(runs.map(({ undead }) => undead)),
  repeats: sum(runs.map(({ repeats }) => repeats)),
  details: runs.flatMap(({ details }, index) => details.map((detail) => `run ${index + 1}: ${detail}`)),
});
