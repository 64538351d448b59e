import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Part } from './parts.ts';
import { playPart } from './play.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-play-'));
  vi.spyOn(console, 'log').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

interface Round {
  /** The outcomes of tests with these titles. */
  readonly tests: readonly (readonly [title: string, status: string])[];
  readonly exit: number;
}

let parts = 0;
const never = new AbortController().signal;
const verdictOf = async (part: Omit<Part, 'limit'>, limit = 60_000) =>
  (await playPart({ limit, ...part }, never)).verdict;

/** Plays a part whose command writes the reports of the first round, then of its replays: with the file, and alone. */
const play = (...rounds: (Round | string)[]) => {
  const name = `part${++parts}`;
  const report = join(folder, `${name}.json`);
  const made = rounds.map((round) =>
    typeof round === 'string'
      ? { text: round, exit: 0 }
      : {
          text: JSON.stringify({
            testResults: [
              {
                name: 'a.test.ts',
                status: 'passed',
                assertionResults: round.tests.map(([fullName, status]) => ({ fullName, status })),
              },
            ],
          }),
          exit: round.exit,
        },
  );
  const state = join(folder, `${name}.txt`);
  writeFileSync(state, '0');
  const program = `
    const fs = require('node:fs');
    const round = Number(fs.readFileSync(${JSON.stringify(state)}, 'utf8'));
    fs.writeFileSync(${JSON.stringify(state)}, String(round + 1));
    const { text, exit } = ${JSON.stringify(made)}[round];
    fs.appendFileSync(${JSON.stringify(join(folder, 'filters.txt'))}, JSON.stringify(process.argv.slice(1)) + '\\n');
    fs.writeFileSync(${JSON.stringify(report)}, text);
    process.exit(exit);`;
  const results = join(import.meta.dirname, '../../test-results');
  return verdictOf({ name, command: ['node', '-e', program, '--'], report: relative(results, report), tool: 'vitest' });
};

const failing: Round = { tests: [['a', 'failed']], exit: 1 };
const passing: Round = { tests: [['a', 'passed']], exit: 0 };

it('lists a test that passes both replays as unstable', async () => {
  expect(await play(failing, passing, passing)).toMatchObject({ failed: [], unstable: ['a.test.ts › a'] });
});

it('replays the whole file, and then the test alone', async () => {
  rmSync(join(folder, 'filters.txt'), { force: true });
  await play(failing, passing, passing);
  const filters = readFileSync(join(folder, 'filters.txt'), 'utf8').trim().split('\n');
  expect(filters.map((line) => JSON.parse(line))).toEqual([[], ['a.test.ts'], ['a.test.ts', '-t', '^a$']]);
});

it('fails a test that fails whenever its file is played, although it passes alone', async () => {
  expect(await play(failing, failing, passing)).toMatchObject({ failed: ['a.test.ts › a'], unstable: [] });
});

it('replays a file once for all tests that failed in it', async () => {
  const both = (status: string, exit: number): Round => ({
    tests: [
      ['a', status],
      ['b', status],
    ],
    exit,
  });
  const alone: Round = { tests: [['b', 'passed']], exit: 0 };
  expect(await play(both('failed', 1), both('passed', 0), passing, alone)).toMatchObject({
    failed: [],
    unstable: ['a.test.ts › a', 'a.test.ts › b'],
  });
});

it.each<[string, Round]>([
  ['whose command fails', { ...passing, exit: 1 }],
  ['without a report of the test', { tests: [], exit: 0 }],
])('does not count a replay %s', async (_, replay) => {
  expect(await play(failing, replay, passing)).toMatchObject({ failed: ['a.test.ts › a'], unstable: [] });
  expect(await play(failing, passing, replay)).toMatchObject({ failed: ['a.test.ts › a'], unstable: [] });
});

it('fails a part whose report breaks off', async () => {
  expect((await play('{"testRes')).failed).toEqual([`part${parts}: the command failed`]);
});

it.each<[string, Round]>([
  ['skips all its tests', { tests: [['a', 'pending']], exit: 0 }],
  ['has no tests', { tests: [], exit: 0 }],
])('fails a part that %s', async (_, round) => {
  expect((await play(round)).failed).toEqual([`part${parts}: no test ran`]);
});

it('fails a part whose command does not exist', async () => {
  const { failed } = await verdictOf({ name: 'none', command: ['no-such-command'] });
  expect(failed).toEqual(['none: the command failed']);
});

it('fails a part that takes longer than its limit, and prints a line about it', async () => {
  const { failed } = await verdictOf({ name: 'slow', command: ['sleep', '600'] }, 300);
  expect(failed).toEqual(['slow: took longer than 0.005 min, and was ended']);
  expect(vi.mocked(console.error).mock.lastCall).toEqual(['\nslow took longer than 0.005 min, and was ended.']);
});
