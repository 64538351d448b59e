import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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
/** Plays a part whose command writes the reports of the first round, then of its replays. */
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
    fs.writeFileSync(${JSON.stringify(report)}, text);
    process.exit(exit);`;
  const results = join(import.meta.dirname, '../../test-results');
  return playPart({ name, command: ['node', '-e', program, '--'], report: relative(results, report), tool: 'vitest' })
    .verdict;
};

const failing: Round = { tests: [['a', 'failed']], exit: 1 };
const passing: Round = { tests: [['a', 'passed']], exit: 0 };

it('lists a test that passes both replays as unstable', () => {
  expect(play(failing, passing, passing)).toMatchObject({ failed: [], unstable: ['a.test.ts › a'] });
});

it.each<[string, Round]>([
  ['whose command fails', { ...passing, exit: 1 }],
  ['without a report of the test', { tests: [], exit: 0 }],
])('does not count a replay %s', (_, replay) => {
  expect(play(failing, passing, replay)).toMatchObject({ failed: ['a.test.ts › a'], unstable: [] });
});

it('fails a part whose report breaks off', () => {
  expect(play('{"testRes').failed).toEqual([`part${parts}: the command failed`]);
});

it.each<[string, Round]>([
  ['skips all its tests', { tests: [['a', 'pending']], exit: 0 }],
  ['has no tests', { tests: [], exit: 0 }],
])('fails a part that %s', (_, round) => {
  expect(play(round).failed).toEqual([`part${parts}: no test ran`]);
});

it('fails a part whose command does not exist', () => {
  expect(playPart({ name: 'none', command: ['no-such-command'] }).verdict.failed).toEqual(['none: the command failed']);
});
