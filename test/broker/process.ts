import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process that a test has started, by its id. */
export interface Running {
  /** What it said when it was ready: the first group of the pattern. */
  ready: string;
  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end; answers with the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** Resolves when the process has said, on its standard output, what the pattern says. */
export const hear = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        said += chunk;
        const found = pattern.exec(said);
        if (found) resolve(found[1] ?? '');
      });
    }
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`ended before it was ready:\n${said}`)));
  });

/** Starts a command and waits until it is ready. It does not outlive the test's own process. */
export const start = async (
  command: string,
  args: string[],
  pattern: RegExp,
  env: Record<string, string> = {},
): Promise<Running> => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const ready = await hear(child, pattern);
  return {
    ready,
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      }
      return child.exitCode ?? child.signalCode;
    },
  };
};
