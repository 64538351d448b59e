import type { Played } from './report.ts';

/** More failures than this in one part are not chance: the part fails without a replay. */
export const MOST_REPLAYED = 10;
/** How often a failed test is played again. */
export const REPLAYS = 2;

export interface Verdict {
  readonly passed: number;
  /** Names of tests that failed the run. */
  readonly failed: readonly string[];
  /** Names of tests that failed once and passed each replay. Such tests do not fail the run. */
  readonly unstable: readonly string[];
  readonly skipped: number;
  /** Why a test failed, by its name. */
  readonly causes: Readonly<Record<string, string>>;
}

/** The tests to play again. */
export const replayed = (tests: readonly Played[]): Played[] => {
  const failed = tests.filter(({ outcome, isPromise }) => outcome === 'failed' && !isPromise);
  return failed.length > MOST_REPLAYED ? [] : failed;
};

/**
 * Judges a part of the run.
 *
 * @param replays the outcomes of each test that was played again
 */
export const judge = (
  tests: readonly Played[],
  replays: ReadonlyMap<Played, readonly Played['outcome'][]>,
): Verdict => {
  const isUnstable = (test: Played): boolean => {
    const outcomes = replays.get(test) ?? [];
    return outcomes.length >= REPLAYS && outcomes.every((outcome) => outcome === 'passed');
  };
  const failed = tests.filter(({ outcome }) => outcome === 'failed');
  const named = (isWanted: boolean) => failed.filter((test) => isUnstable(test) === isWanted).map(({ name }) => name);
  return {
    passed: tests.filter(({ outcome }) => outcome === 'passed').length,
    failed: named(false),
    unstable: named(true),
    skipped: tests.filter(({ outcome }) => outcome === 'skipped').length,
    causes: Object.fromEntries(failed.flatMap(({ name, cause }) => (cause ? [[name, cause]] : []))),
  };
};
