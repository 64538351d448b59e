import { constants } from 'node:os';
import type { Part } from './parts.ts';
import { playPart, type Result } from './play.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

const summaryOf = (results: readonly Result[], skipped: readonly string[]): string[] => {
  const rows = results.map(({ part, seconds, verdict: { passed, failed, unstable, skipped } }) => {
    const counts = part.report
      ? `${passed} passed, ${failed.length} failed, ${unstable.length} unstable, ${skipped} skipped`
      : '';
    return `${part.name.padEnd(10)}${`${seconds.toFixed(0)} s`.padStart(6)}  ${counts}`.trimEnd();
  });
  const counted = results.filter(({ part }) => !part.isInstallation).map(({ seconds }) => seconds);
  return [
    '',
    ...rows,
    `${'total'.padEnd(10)}${`${sum(counted).toFixed(0)} s`.padStart(6)}  without install`,
    ...skipped.map((reason) => `skipped: ${reason}`),
    ...results.flatMap(({ verdict }) => verdict.failed).map((name) => `failed: ${name}`),
    ...results
      .flatMap(({ verdict }) => verdict.unstable)
      .map((name) => `unstable, failed once and passed 2 replays: ${name}`),
  ];
};

/** The last line: the counts, unless a signal has ended the run. */
const lastLineOf = (results: readonly Result[], signal: string | undefined): string => {
  if (signal) return `stopped by ${signal}: the run is incomplete`;
  const count = (name: 'failed' | 'unstable') => sum(results.map(({ verdict }) => verdict[name].length));
  return `${sum(results.map(({ verdict }) => verdict.passed)) + count('unstable')} passed, ${count('failed')} failed`;
};

/**
 * Plays the parts one after the other, prints times and totals, and resolves to the exit code. A signal ends the part with
 * all that it has started, and then the run.
 *
 * @param listSkipped lists the tests that the run leaves out. It is called once the parts have installed what they can
 */
export const playAll = async (parts: readonly Part[], listSkipped: () => readonly string[]): Promise<number> => {
  const stop = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => stop.abort(signal));
  const results: Result[] = [];
  for (const part of parts) {
    const result = await playPart(part, stop.signal);
    results.push(result);
    if (stop.signal.aborted || (part.isNeeded && result.verdict.failed[0])) break;
  }
  const signal: (typeof SIGNALS)[number] | undefined = stop.signal.reason;
  console.log([...summaryOf(results, listSkipped()), lastLineOf(results, signal)].join('\n'));
  if (signal) return 128 + constants.signals[signal];
  return results.some(({ verdict }) => verdict.failed[0]) ? 1 : 0;
};
