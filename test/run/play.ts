import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Ending, execute, type Limits } from './command.ts';
import type { Part } from './parts.ts';
import { type Played, readReport } from './report.ts';
import { judge, MOST_REPLAYED, replayed, type Verdict } from './verdict.ts';

export interface Result {
  readonly part: Part;
  /** Time of the part with its replays, in s. A part that plays beside others takes longer than by itself. */
  readonly seconds: number;
  readonly verdict: Verdict;
}

const ROOT = join(import.meta.dirname, '../..');

/** Runs a command within the remaining time of the part. */
type Run = (command: readonly string[]) => Promise<Ending>;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Plays one file in one project. Vitest's configuration gives each file one project. */
const fileFilters = ({ file, project }: Played): string[] => [file, ...(project ? [`--project=${project}`] : [])];

/** Plays one test and nothing else. */
const testFilters = ({ tool }: Part, test: Played): string[] => {
  const { title } = test;
  if (tool !== 'vitest') return [...fileFilters(test), '-g', ` ${escaped(title)}( @|$)`];
  return [...fileFilters(test), ...(title ? ['-t', `^${escaped(title)}$`] : [])];
};

/** Plays a test again: first with its whole file, for the tests before it may make it fail, and then alone. */
const createReplay = (part: Part, report: string, run: Run) => {
  const play = async (what: string, filters: string[]) => {
    console.log(`\nReplay ${what}`);
    rmSync(report, { force: true });
    const isPassed = (await run([...part.command, ...filters])) === 'passed';
    const tests = readReport(report, ROOT);
    return ({ name }: Played): Played['outcome'] => {
      const played = tests?.find((test) => test.name === name);
      // The command also fails with a hook, with an error outside of the test, and with another test.
      return played && (isPassed || played.outcome !== 'passed') ? played.outcome : 'failed';
    };
  };
  /** One replay of a file serves all tests that failed in it. */
  const files = new Map<string, ReturnType<typeof play>>();
  return async (test: Played): Promise<Played['outcome'][]> => {
    const filters = fileFilters(test);
    const key = filters.join(' ');
    const playedFile = files.get(key) ?? play(`of the file ${key}`, filters);
    files.set(key, playedFile);
    const inFile = (await playedFile)(test);
    if (inFile !== 'passed') return [inFile];
    return [inFile, (await play(`of the test alone: ${test.name}`, testFilters(part, test)))(test)];
  };
};

/** A command that plays no tests, or whose report is missing, passes or fails as a whole. */
const judgeCommand = (name: string, isPassed: boolean, reason = 'the command failed'): Verdict => ({
  passed: 0,
  failed: isPassed ? [] : [`${name}: ${reason}`],
  unstable: [],
  skipped: 0,
  causes: {},
});

const judgeTests = async (part: Part, report: string, isPassed: boolean, run: Run): Promise<Verdict> => {
  const tests = readReport(report, ROOT);
  const failures = tests?.filter(({ outcome }) => outcome === 'failed') ?? [];
  // After an error outside of every test, the report has no failed test, or there is no report.
  if (!tests || (!isPassed && !failures[0])) return judgeCommand(part.name, false);
  if (tests.every(({ outcome }) => outcome === 'skipped')) return judgeCommand(part.name, false, 'no test ran');
  const excusable = replayed(tests);
  if (!excusable[0] && failures.length > MOST_REPLAYED)
    console.log(`\n${failures.length} tests failed: none is replayed.`);
  const replay = createReplay(part, report, run);
  const replays = new Map<Played, Played['outcome'][]>();
  for (const test of excusable) replays.set(test, await replay(test));
  return judge(tests, replays);
};

/** Runs a part, and replays its failed tests. A part that passes its time limit, or is stopped, fails. */
const playNow = async (part: Part, stop: AbortSignal, rest: Pick<Limits, 'output' | 'urge'> = {}): Promise<Result> => {
  const begun = performance.now();
  const elapsed = () => performance.now() - begun;
  const report = part.report && join(ROOT, 'test-results', part.report);
  if (report) rmSync(report, { force: true });
  let last: Ending | undefined;
  const run: Run = async (command) => {
    last = await execute(command, { cwd: ROOT, limit: part.limit - elapsed(), stop, ...rest });
    return last;
  };
  const first = await run(part.command);
  const isPlayed = report && (first === 'passed' || first === 'failed');
  const verdict = isPlayed
    ? await judgeTests(part, report, first === 'passed', run)
    : judgeCommand(part.name, first === 'passed');
  const result = { part, seconds: elapsed() / 1000, verdict };
  // A time limit or a signal may also have ended a replay.
  if (last !== 'late' && last !== 'stopped') return result;
  const reason = last === 'late' ? `took longer than ${part.limit / 60_000} min, and was ended` : 'was stopped';
  console.error(`\n${part.name} ${reason}.`);
  const failed = [...(isPlayed ? verdict.failed : []), `${part.name}: ${reason}`];
  return { ...result, verdict: { ...verdict, failed } };
};

/** The output of a part that plays beside others goes to a file, and is printed as a whole. */
const playBeside = async (part: Part, stop: AbortSignal, urge?: AbortSignal): Promise<Result> => {
  const path = join(ROOT, 'test-results', `${part.name}.log`);
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'w');
  const result = await playNow(part, stop, { output: file, urge });
  closeSync(file);
  console.log(`\n── ${part.name} ──\n${readFileSync(path, 'utf8')}`);
  return result;
};

/** @param urge is aborted once no other part plays beside this one */
export const playPart = (part: Part, stop: AbortSignal, urge?: AbortSignal): Promise<Result> => {
  console.log(`\n── ${part.name}${part.isBeside ? ', beside the next parts' : ''} ──`);
  return part.isBeside ? playBeside(part, stop, urge) : playNow(part, stop);
};
