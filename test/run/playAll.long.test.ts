import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Part } from './parts.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Plays parts in a process of its own, as `npm test` does. */
const start = (parts: readonly Part[], skipped: readonly string[] = []) => {
  const program = `
    import { playAll } from ${JSON.stringify(join(import.meta.dirname, 'playAll.ts'))};
    process.exit(await playAll(${JSON.stringify(parts)}, () => ${JSON.stringify(skipped)}));`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const printed = text(child.stdout).then((all) => all.trimEnd().split('\n'));
  return { child, printed, exit: once(child, 'exit').then(([status]) => status) };
};
const part = (name: string, program: string, rest: Partial<Part> = {}): Part => ({
  name,
  command: ['node', '-e', program],
  limit: 60_000,
  ...rest,
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('ends with %s, a last line about it, and no further part', async (signal, status) => {
  const { child, printed, exit } = start([
    part('first', `process.kill(process.ppid, '${signal}'); setInterval(() => {}, 1000);`),
    part('second', ''),
  ]);
  expect(await exit).toBe(status);
  const lines = await printed;
  expect(child.signalCode).toBeNull();
  expect(lines.at(-1)).toBe(`stopped by ${signal}: the run is incomplete`);
  expect(lines).toContain('failed: first: was stopped');
  expect(lines.join('\n')).not.toContain('second');
});

it('gets the signal that npm sends to the shell of the script', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-signal-'));
  const run = join(folder, 'run.ts');
  writeFileSync(
    run,
    `process.on('SIGTERM', () => process.exit(7)); console.log('ready'); setTimeout(() => {}, 20_000);`,
  );
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const shell = spawn('sh', ['-c', scripts.test.replace('test/run.ts', run)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(shell.stdout, 'data');
  shell.kill('SIGTERM');
  expect(await once(shell, 'exit')).toEqual([7, null]);
  rmSync(folder, { recursive: true });
});

it('prints the counts last, after what failed and what was skipped', async () => {
  const { printed, exit } = start(
    [part('good', ''), part('bad', 'process.exit(1)')],
    ['all tests in webkit (no driver)'],
  );
  expect(await exit).toBe(1);
  expect((await printed).slice(-3)).toEqual([
    'skipped: all tests in webkit (no driver)',
    'failed: bad: the command failed',
    '0 passed, 1 failed',
  ]);
});

it('prints why a test failed below its name', async () => {
  const report = `cause-${process.pid}.json`;
  const failed = {
    fullName: 'a',
    status: 'failed',
    tags: ['promise'],
    failureMessages: ['Error: late\n    at a.test.ts'],
  };
  const written = JSON.stringify({
    testResults: [{ name: 'a.test.ts', status: 'failed', assertionResults: [failed] }],
  });
  const path = join(ROOT, 'test-results', report);
  const program = `require('fs').writeFileSync(${JSON.stringify(path)}, ${JSON.stringify(written)}); process.exit(1)`;
  const { printed } = start([part('bad', program, { report, tool: 'vitest' })]);
  expect((await printed).slice(-4)).toEqual([
    'failed: a.test.ts › a',
    '    Error: late',
    '        at a.test.ts',
    '0 passed, 1 failed',
  ]);
  rmSync(path);
});

it('exits with 0 when nothing failed', async () => {
  const { printed, exit } = start([part('good', '')]);
  expect(await exit).toBe(0);
  expect((await printed).at(-1)).toBe('0 passed, 0 failed');
});

it('plays nothing after a failed part that the others need', async () => {
  const { printed } = start([part('build', 'process.exit(1)', { isNeeded: true }), part('unit', '')]);
  expect((await printed).join('\n')).not.toContain('unit');
});

describe('a part beside others', () => {
  const beside = { isBeside: true };

  it('plays while they play, and its output comes as a whole after its end', async () => {
    const meeting = join(tmpdir(), `clew-meeting-${process.pid}`);
    // Each of the two ends only once the other one has begun.
    const meet = (own: string, other: string) =>
      `const fs = require('fs'); console.log('${own} begins'); fs.writeFileSync('${meeting}-${own}', '');
       const timer = setInterval(() => {
         if (!fs.existsSync('${meeting}-${other}')) return;
         clearInterval(timer);
         console.log('${own} ends');
       }, 10);`;
    const { printed, exit } = start([
      part('late', meet('late', 'usual'), beside),
      part('usual', meet('usual', 'late')),
    ]);
    expect(await exit).toBe(0);
    const lines = await printed;
    const at = (line: string) => lines.indexOf(line);
    expect(at('late begins')).toBeGreaterThan(at('── late ──'));
    expect(at('late ends')).toBe(at('late begins') + 1);
    expect(lines.filter((line) => /^(late|usual) +\d+ s$/.test(line))).toHaveLength(2);
    for (const name of ['late', 'usual']) rmSync(`${meeting}-${name}`);
  });

  it.runIf(process.getuid?.() === 0)('gets the usual priority once they have ended', async () => {
    const begun = join(tmpdir(), `clew-begun-${process.pid}`);
    const whenUsual = `require('fs').writeFileSync('${begun}', '');
      setInterval(() => require('os').getPriority() === 0 && process.exit(), 10)`;
    const whenBegun = `setInterval(() => require('fs').existsSync('${begun}') && process.exit(), 10)`;
    const late = part('late', '', { ...beside, command: ['nice', '-n', '19', 'node', '-e', whenUsual] });
    const { exit } = start([late, part('usual', whenBegun)]);
    expect(await exit).toBe(0);
    rmSync(begun);
  });

  it('fails the run, whose other parts play to their end', async () => {
    const { printed, exit } = start([part('bad', 'process.exit(1)', beside), part('good', "console.log('played')")]);
    expect(await exit).toBe(1);
    expect(await printed).toEqual(expect.arrayContaining(['played', 'failed: bad: the command failed']));
  });

  it('ends with a signal to the run', async () => {
    const { printed, exit } = start([
      part('endless', 'setInterval(() => {}, 1000)', beside),
      part('last', `process.kill(process.ppid, 'SIGTERM'); setInterval(() => {}, 1000);`),
    ]);
    expect(await exit).toBe(143);
    expect(await printed).toContain('failed: endless: was stopped');
  });
});
