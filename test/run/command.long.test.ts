import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { execute } from './command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'clew-command-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const HOUR = 3_600_000;
const isAlive = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z';
  } catch {
    return false;
  }
};

let commands = 0;
/** A shell that starts a process of its group and, as Playwright starts a browser, one in a group of its own. */
const startAll = (limit: number) => {
  const file = join(folder, `${++commands}.txt`);
  const program = `
    const { spawn } = require('node:child_process');
    const started = [false, true].map((detached) => spawn('sleep', ['600'], { detached, stdio: 'ignore' }));
    require('node:fs').writeFileSync(${JSON.stringify(file)}, [process.pid, ...started.map(({ pid }) => pid)].join(' '));`;
  const stop = new AbortController();
  const ending = execute(['sh', '-c', `node -e "$0"; exit 0`, program], { cwd: folder, limit, stop: stop.signal });
  const pids = async () => {
    await expect.poll(() => readFileSync(file, 'utf8').split(' ')).toHaveLength(3);
    return readFileSync(file, 'utf8').split(' ').map(Number);
  };
  return { stop, ending, pids };
};

it.runIf(process.platform === 'linux')('ends all that a command has started when a signal stops the run', async () => {
  const { stop, ending, pids } = startAll(HOUR);
  const started = await pids();
  expect(started.map(isAlive)).toEqual([true, true, true]);
  stop.abort('SIGTERM');
  expect(await ending).toBe('stopped');
  expect(started.map(isAlive)).toEqual([false, false, false]);
});

it.runIf(process.platform === 'linux')('ends all that a command has started when its time is up', async () => {
  const { ending, pids } = startAll(5_000);
  const started = await pids();
  expect(await ending).toBe('late');
  expect(started.map(isAlive)).toEqual([false, false, false]);
});

it('passes the signal itself on', async () => {
  const file = join(folder, 'signal.txt');
  const program = `
    process.on('SIGINT', () => { fs.writeFileSync(${JSON.stringify(file)}, 'SIGINT'); process.exit(0); });
    fs.writeFileSync(${JSON.stringify(file)}, 'ready');
    setInterval(() => {}, 1000);`;
  const stop = new AbortController();
  const ending = execute(['node', '-e', program], { cwd: folder, limit: HOUR, stop: stop.signal });
  await expect.poll(() => readFileSync(file, 'utf8')).toBe('ready');
  stop.abort('SIGINT');
  expect(await ending).toBe('stopped');
  expect(readFileSync(file, 'utf8')).toBe('SIGINT');
});

it('starts nothing once the run is stopped, or the time is up', async () => {
  const stopped = AbortSignal.abort('SIGTERM');
  const running = new AbortController().signal;
  expect(await execute(['node', '-e', ''], { cwd: folder, limit: HOUR, stop: stopped })).toBe('stopped');
  expect(await execute(['node', '-e', ''], { cwd: folder, limit: 0, stop: running })).toBe('late');
});
