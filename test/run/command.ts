import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { hasGroup, killAll, treeOf } from '../../e2e/faults/engines/processes.ts';

/** `late` passed its time limit, and `stopped` got a signal meant for the whole run. */
export type Ending = 'passed' | 'failed' | 'late' | 'stopped';

export interface Limits {
  readonly cwd: string;
  /** Time limit of the command, in ms. */
  readonly limit: number;
  /** Aborted by a signal to the run, with the signal's name as the reason. */
  readonly stop: AbortSignal;
  /** The file descriptor that its output goes to. Default: the output of the run. */
  readonly output?: number;
  /** Once it is aborted, a command with the least priority gets the usual one. */
  readonly urge?: AbortSignal | undefined;
}

/** How long (ms) a command may take to close its browsers and servers before it is killed. */
const GRACE = 10_000;

/** Signals a command's group, and then kills its remaining processes. */
const endGroup = async (leader: number, signal: NodeJS.Signals): Promise<void> => {
  // Some browsers run in process groups of their own. Once their parent has ended, their ids cannot be found.
  const before = treeOf(leader);
  try {
    process.kill(-leader, signal);
  } catch {}
  for (const until = Date.now() + GRACE; hasGroup(leader) && Date.now() < until; ) await pause(50);
  await killAll(new Set([...before, ...treeOf(leader)]));
};

/** Gives a command's group the usual priority. Only root may raise a priority. */
const raise = (leader: number): void => {
  try {
    writeFileSync(`/proc/${leader}/autogroup`, '0');
  } catch {}
  spawnSync('renice', ['-n', '0', '-g', `${leader}`], { stdio: 'ignore' });
};

/** Runs a command in a process group of its own, so that a signal or the time limit ends all that it has started. */
export const execute = async (
  [name = '', ...args]: readonly string[],
  { cwd, limit, stop, output, urge }: Limits,
): Promise<Ending> => {
  if (stop.aborted) return 'stopped';
  if (limit <= 0) return 'late';
  const child = spawn(name, args, {
    stdio: ['inherit', output ?? 'inherit', output ?? 'inherit'],
    cwd,
    detached: true,
  });
  const settled = new AbortController();
  urge?.addEventListener('abort', () => child.pid && raise(child.pid), { signal: settled.signal });
  const ended = once(child, 'exit').then(
    ([status]): Ending => (status === 0 ? 'passed' : 'failed'),
    (error: Error): Ending => {
      console.error(error.message);
      return 'failed';
    },
  );
  const late = pause(limit, 'late' as const, { signal: settled.signal });
  const stopped = once(stop, 'abort', { signal: settled.signal }).then(() => 'stopped' as const);
  const ending = await Promise.race([ended, late, stopped]);
  settled.abort();
  await Promise.allSettled([late, stopped]);
  if (child.pid && (ending === 'late' || ending === 'stopped'))
    await endGroup(child.pid, ending === 'late' ? 'SIGTERM' : stop.reason);
  return ending;
};
