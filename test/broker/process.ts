import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process that a test has started, by its id. */
export interface Running {
  /** The first group of the pattern that matched its output when it was ready. */
  ready: string;
  /** Sends a signal that does not end it. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. Resolves to the exit code, or to the signal that ended the process. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** Resolves to the pattern's first group once the output of the process matches. */
export const outputOf = (child: ChildProcess, pattern: RegExp): Promise<string> =>
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

/** Starts a command and waits until it is ready. The command does not outlive the test's own process. */
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
  const ready = await outputOf(child, pattern);
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
