import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

/** One test of a part, as its JSON report has it. */
export interface Played {
  /** File, project and title: names a test in lists, and finds it again in the report of a replay. */
  readonly name: string;
  readonly file: string;
  readonly title: string;
  /** Playwright only. */
  readonly project?: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /**
   * A failure shows an event that was lost or stored twice, a wrong person, or something left after a refusal. A replay
   * that passes excuses none of these.
   */
  readonly isPromise: boolean;
  /** Why it failed: the first lines of the error, without colours. */
  readonly cause?: string;
}

interface VitestReport {
  /** Failures outside of every test. `test/support/reporter.ts` adds them. */
  outside?: string[];
  testResults: {
    name: string;
    status: string;
    assertionResults: {
      fullName: string;
      status: string;
      tags?: string[];
      failureMessages?: string[];
      /** `test/support/reporter.ts` adds it. */
      meta?: { isRetried?: boolean };
    }[];
  }[];
}

interface Spec {
  title: string;
  tags: string[];
  tests: {
    projectName: string;
    status: 'expected' | 'unexpected' | 'flaky' | 'skipped';
    expectedStatus: string;
    annotations: { type: string; description?: string }[];
    results: {
      annotations?: { type: string; description?: string }[];
      errors?: { message?: string }[];
    }[];
  }[];
}

interface Suite {
  title: string;
  file: string;
  specs: Spec[];
  suites?: Suite[];
}

interface PlaywrightReport {
  config: { rootDir: string };
  /** Failures outside of every test: a file that throws, or the global set-up or tear-down. */
  errors?: { message?: string }[];
  suites: Suite[];
}

/** The first line of an error, without colours: a terminal's escape sequences have no place in a list of names. */
export const firstLine = (message: string): string => stripVTControlCharacters(message).split('\n')[0] ?? '';

/** How many lines of an error a list has. */
const MOST_LINES = 20;

const causeOf = (messages: readonly (string | undefined)[]): Pick<Played, 'cause'> => {
  const lines = stripVTControlCharacters(messages.filter(Boolean).join('\n')).split('\n');
  const cause = lines
    .filter((line) => line.trim())
    .slice(0, MOST_LINES)
    .join('\n');
  return cause ? { cause } : {};
};

/** The tag of a test whose failure is never excused, in Vitest and in Playwright. */
export const PROMISE = 'promise';

const VITEST_OUTCOMES: Record<string, Played['outcome']> = { passed: 'passed', failed: 'failed' };

/** A failure outside of every test. Nothing can replay it. */
const failOutside = (name: string): Played => ({ name, file: name, title: '', outcome: 'failed', isPromise: true });

export const readVitest = ({ testResults, outside = [] }: VitestReport, root: string): Played[] => [
  ...testResults.flatMap(({ name, status, assertionResults }) => {
    const file = name.replace(`${root}/`, '');
    const tests = assertionResults.map(
      ({ fullName, status, tags = [], failureMessages = [], meta }): Played => ({
        name: `${file} › ${fullName}`,
        file,
        title: fullName,
        outcome: meta?.isRetried ? 'failed' : (VITEST_OUTCOMES[status] ?? 'skipped'),
        isPromise: tags.includes(PROMISE),
        ...causeOf(failureMessages),
      }),
    );
    // A file that throws while it loads, or in a hook, fails without a failed test.
    const isBroken = status === 'failed' && !tests.some(({ outcome }) => outcome === 'failed');
    return isBroken && !outside.includes(name) ? [...tests, failOutside(file)] : tests;
  }),
  ...outside.map((name) => failOutside(name.replace(`${root}/`, ''))),
];

const specsOf = (suite: Suite, path: readonly string[] = []): [spec: Spec, path: readonly string[]][] => [
  ...suite.specs.map((spec): [Spec, readonly string[]] => [spec, path]),
  ...(suite.suites ?? []).flatMap((inner) => specsOf(inner, [...path, inner.title])),
];

const PLAYWRIGHT_OUTCOMES: Record<Spec['tests'][number]['status'], Played['outcome']> = {
  expected: 'passed',
  unexpected: 'failed',
  flaky: 'failed',
  skipped: 'skipped',
};

/** A test that did not run after a failed hook or test counts as failed, because a skip would hide its failure. */
const outcomeOf = ({ status, expectedStatus }: Spec['tests'][number]): Played['outcome'] =>
  status === 'skipped' && expectedStatus !== 'skipped' ? 'failed' : PLAYWRIGHT_OUTCOMES[status];

/** Counts of the events of a fault that broke a promise. `e2e/faults/support/verdict.ts` explains each of them. */
const BROKEN = ['lost', 'twice', 'wrong', 'undead'] as const;

/** A fault leaves its verdict as an annotation. */
const hasBroken = ({ annotations, results }: Spec['tests'][number]): boolean =>
  [...annotations, ...results.flatMap(({ annotations = [] }) => annotations)]
    .filter(({ type }) => type === 'verdict')
    .some(({ description = '{}' }) => {
      const verdict = JSON.parse(description) as Partial<Record<(typeof BROKEN)[number], number>>;
      return BROKEN.some((name) => (verdict[name] ?? 0) > 0);
    });

export const readPlaywright = ({ suites, errors = [] }: PlaywrightReport): Played[] => [
  ...suites
    // Where a helper calls `test`, the place of a spec is the helper. The outermost suite has the file to replay.
    .flatMap((suite) => specsOf(suite).map(([spec, path]) => [suite.file, spec, path] as const))
    .flatMap(([file, spec, path]) =>
      spec.tests.map((test): Played => {
        const title = [...path, spec.title].join(' ');
        return {
          name: [test.projectName, file, title].filter(Boolean).join(' › '),
          file,
          title,
          ...(test.projectName && { project: test.projectName }),
          outcome: outcomeOf(test),
          isPromise: spec.tags.includes(PROMISE) || hasBroken(test),
          ...causeOf(test.results.flatMap(({ errors = [] }) => errors).map(({ message }) => message)),
        };
      }),
    ),
  ...errors.map(({ message = '' }) => failOutside(`outside of every test: ${firstLine(message)}`)),
];

/** Undefined if the part ended before it wrote its report, or while it wrote it. */
export const readReport = (path: string, root: string): Played[] | undefined => {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8')) as VitestReport | PlaywrightReport;
    return 'testResults' in report ? readVitest(report, root) : readPlaywright(report);
  } catch {
    return undefined;
  }
};
