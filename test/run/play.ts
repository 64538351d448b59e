import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './parts.ts';
import { type Played, readReport } from './report.ts';
import { judge, MOST_REPLAYED, REPLAYS, replayed, type Verdict } from './verdict.ts';

export interface Result {
  readonly part: Part;
  /** Time of the part with its replays, in s. */
  readonly seconds: number;
  readonly verdict: Verdict;
}

const ROOT = join(import.meta.dirname, '../..');

const execute = ([command = '', ...args]: readonly string[]): boolean => {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', cwd: ROOT });
  if (error) console.error(error.message);
  return status === 0;
};

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Plays one test and nothing else. */
const filters = (part: Part, { file, title, project }: Played): string[] =>
  part.tool === 'vitest'
    ? [file, ...(title ? ['-t', `^${escaped(title)}$`] : [])]
    : [file, '-g', ` ${escaped(title)}( @|$)`, ...(project ? [`--project=${project}`] : [])];

const replay = (part: Part, test: Played, report: string): Played['outcome'][] =>
  Array.from({ length: REPLAYS }, (_, index) => {
    console.log(`\nReplay ${index + 1} of ${REPLAYS}: ${test.name}`);
    rmSync(report, { force: true });
    const isPassed = execute([...part.command, ...filters(part, test)]);
    const played = readReport(report, ROOT)?.find(({ name }) => name === test.name);
    // The command also fails with a hook, with an error outside of the test, and with another test of the same name.
    return played && (isPassed || played.outcome !== 'passed') ? played.outcome : 'failed';
  });

/** A command that plays no tests, or whose report is missing, passes or fails as a whole. */
const judgeCommand = (name: string, isPassed: boolean, reason = 'the command failed'): Verdict => ({
  passed: 0,
  failed: isPassed ? [] : [`${name}: ${reason}`],
  unstable: [],
  skipped: 0,
});

const judgeTests = (part: Part, report: string, isPassed: boolean): Verdict => {
  const tests = readReport(report, ROOT);
  const failures = tests?.filter(({ outcome }) => outcome === 'failed') ?? [];
  // An error outside of every test: the report has no failure, or there is none at all.
  if (!tests || (!isPassed && !failures[0])) return judgeCommand(part.name, false);
  if (tests.every(({ outcome }) => outcome === 'skipped')) return judgeCommand(part.name, false, 'no test ran');
  const excusable = replayed(tests);
  if (!excusable[0] && failures.length > MOST_REPLAYED)
    console.log(`\n${failures.length} tests failed: none is replayed.`);
  const replays = new Map(excusable.map((test) => [test, replay(part, test, report)]));
  return judge(tests, replays);
};

/** Runs a part, and replays what failed in it. */
export const playPart = (part: Part): Result => {
  const begun = performance.now();
  const report = part.report && join(ROOT, 'test-results', part.report);
  if (report) rmSync(report, { force: true });
  console.log(`\n── ${part.name} ──`);
  const isPassed = execute(part.command);
  const verdict = report ? judgeTests(part, report, isPassed) : judgeCommand(part.name, isPassed);
  return { part, seconds: (performance.now() - begun) / 1000, verdict };
};
