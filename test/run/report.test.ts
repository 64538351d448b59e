import { describe, expect, it } from 'vitest';
import { readPlaywright, readVitest } from './report.ts';

describe('a report of Vitest', () => {
  const reportOf = (
    status: string,
    ...assertionResults: {
      fullName: string;
      status: string;
      tags?: string[];
      failureMessages?: string[];
      meta?: { isRetried?: boolean };
    }[]
  ) => ({
    testResults: [{ name: '/clew/test/a.test.ts', status, assertionResults }],
  });

  it('names each test by file and title', () => {
    const [test] = readVitest(reportOf('passed', { fullName: 'a b', status: 'passed' }), '/clew');
    expect(test).toEqual({
      name: 'test/a.test.ts › a b',
      file: 'test/a.test.ts',
      title: 'a b',
      outcome: 'passed',
      isPromise: false,
    });
  });

  it('counts pending and todo as skipped', () => {
    const tests = readVitest(
      reportOf('passed', { fullName: 'a', status: 'pending' }, { fullName: 'b', status: 'todo' }),
      '/clew',
    );
    expect(tests.map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped']);
  });

  it('counts a test that passed only after a retry as failed', () => {
    const [test] = readVitest(
      reportOf('passed', { fullName: 'a', status: 'passed', meta: { isRetried: true } }),
      '/clew',
    );
    expect(test).toMatchObject({ title: 'a', outcome: 'failed' });
  });

  it('reads the promise tag', () => {
    const [test] = readVitest(reportOf('failed', { fullName: 'a', status: 'failed', tags: ['promise'] }), '/clew');
    expect(test).toMatchObject({ outcome: 'failed', isPromise: true });
  });

  it('has the first lines of an error, without colours', () => {
    const failureMessages = [`\u001b[31mError: late\u001b[39m\n\n${'    at a.test.ts\n'.repeat(100)}`];
    const [test] = readVitest(reportOf('failed', { fullName: 'a', status: 'failed', failureMessages }), '/clew');
    const [first, ...rest] = test?.cause?.split('\n') ?? [];
    expect([first, rest.length]).toEqual(['Error: late', 19]);
  });

  it('counts a file that failed without a failed test as a failure', () => {
    const tests = readVitest(reportOf('failed', { fullName: 'a', status: 'passed' }), '/clew');
    expect(tests.map(({ title, outcome }) => [title, outcome])).toEqual([
      ['a', 'passed'],
      ['', 'failed'],
    ]);
  });
});

describe('a report of Playwright', () => {
  const reportOf = (
    status: 'expected' | 'unexpected' | 'flaky' | 'skipped',
    tags: string[] = [],
    verdict?: object,
  ) => ({
    config: { rootDir: '/clew/e2e' },
    suites: [
      {
        title: 'a.spec.ts',
        file: 'a.spec.ts',
        specs: [],
        suites: [
          {
            title: 'inside',
            file: 'a.spec.ts',
            specs: [
              {
                title: 'does it',
                tags,
                // A helper has called `test`.
                file: 'support/helper.ts',
                tests: [
                  {
                    projectName: 'firefox',
                    status,
                    expectedStatus: status === 'skipped' ? 'skipped' : 'passed',
                    annotations: verdict ? [{ type: 'verdict', description: JSON.stringify(verdict) }] : [],
                    results: [{}] as { errors?: { message?: string }[] }[],
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  });

  it('names each test by project, file and titles', () => {
    expect(readPlaywright(reportOf('expected'))).toEqual([
      {
        name: 'firefox › a.spec.ts › inside does it',
        file: 'a.spec.ts',
        title: 'inside does it',
        project: 'firefox',
        outcome: 'passed',
        isPromise: false,
      },
    ]);
  });

  it('has the errors of a test', () => {
    const report = reportOf('unexpected');
    const [test] = report.suites[0]?.suites[0]?.specs[0]?.tests ?? [];
    if (test) test.results = [{ errors: [{ message: 'Error: late' }, { message: 'Error: lost' }] }];
    expect(readPlaywright(report)).toMatchObject([{ cause: 'Error: late\nError: lost' }]);
  });

  it('counts a flaky test as failed', () => {
    expect(readPlaywright(reportOf('flaky'))).toMatchObject([{ outcome: 'failed' }]);
  });

  it('counts a test that was neither skipped nor run as failed', () => {
    const report = reportOf('skipped');
    const [test] = report.suites[0]?.suites[0]?.specs[0]?.tests ?? [];
    if (test) test.expectedStatus = 'passed';
    expect(readPlaywright(report)).toMatchObject([{ outcome: 'failed', isPromise: false }]);
    expect(readPlaywright(reportOf('skipped'))).toMatchObject([{ outcome: 'skipped' }]);
  });

  it('counts an error outside of every test as a failure', () => {
    const errors = [{ message: '\u001b[31mError: no server\u001b[39m\nstack' }];
    expect(readPlaywright({ ...reportOf('expected'), errors })).toMatchObject([
      { outcome: 'passed' },
      { name: 'outside of every test: Error: no server', outcome: 'failed', isPromise: true },
    ]);
  });

  it.each([
    ['the promise tag', ['promise'], undefined],
    ['a verdict with a lost event', [], { lost: 1, twice: 0 }],
    ['a verdict with an event stored twice', [], { lost: 0, twice: 1 }],
    ['a verdict with an event of another person', [], { lost: 0, wrong: 1 }],
    ['a verdict with an event stored after it was dropped', [], { lost: 0, undead: 1 }],
  ])('reads %s as a broken promise', (_, tags, verdict) => {
    expect(readPlaywright(reportOf('unexpected', tags, verdict))).toMatchObject([{ isPromise: true }]);
  });

  it('reads a verdict without a lost event as no broken promise', () => {
    expect(readPlaywright(reportOf('unexpected', [], { lost: 0, twice: 0 }))).toMatchObject([{ isPromise: false }]);
  });
});
