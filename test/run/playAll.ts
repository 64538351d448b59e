import { constants } from 'node:os';
import type { Part } from './parts.ts';
import { playPart, type Result } from './play.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** One line for each test, with its cause below it. */
const listOf = (results: readonly Result[], which: 'failed' | 'unstable', label: string): string[] =>
  results.flatMap(({ verdict }) =>
    verdict[which].flatMap((name) => [
      `${label}: ${name}`,
      ...(verdict.causes[name]?.split('\n') ?? []).map((line) => `    ${line}`),
    ]),
  );

const summaryOf = (results: readonly Result[], total: number, skipped: readonly string[]): string[] => {
  const rows = results.map(({ part, seconds, verdict: { passed, failed, unstable, skipped } }) => {
    const counts = part.report
      ? `${passed} passed, ${failed.length} failed, ${unstable.length} unstable, ${skipped} skipped`
      : '';
    return `${part.name.padEnd(10)}${`${seconds.toFixed(0)} s`.padStart(6)}  ${counts}`.trimEnd();
  });
  return [
    '',
    ...rows,
    `${'total'.padEnd(10)}${`${total.toFixed(0)} s`.padStart(6)}  without install`,
    ...skipped.map((reason) => `skipped: ${reason}`),
    ...listOf(results, 'failed', 'failed'),
    ...listOf(results, 'unstable', 'unstable, failed once and passed 2 replays'),
  ];
};

/** The last line: the counts, unless a signal has ended the run. */
const lastLineOf = (results: readonly Result[], signal: string | undefined): string => {
  if (signal) return `stopped by ${signal}: the run is incomplete`;
  const count = (name: 'failed' | 'unstable') => sum(results.map(({ verdict }) => verdict[name].length));
  return `${sum(results.map(({ verdict }) => verdict.passed)) + count('unstable')} passed, ${count('failed')} failed`;
};

/** Plays each part after the one before it, or beside it. Without a part that the others need, they are not played. */
const playInTurn = async (parts: readonly Part[], stop: AbortSignal): Promise<Result[]> => {
  const playing: Promise<Result>[] = [];
  const urge = new AbortController();
  for (const part of parts) {
    const result = playPart(part, stop, urge.signal);
    playing.push(result);
    if (part.isBeside) continue;
    const { verdict } = await result;
    if (stop.aborted || (part.isNeeded && verdict.failed[0])) break;
  }
  urge.abort();
  return Promise.all(playing);
};

/**
 * Plays the parts, prints times and totals, and resolves to the exit code. A signal ends the part with
 * all that it has started, and then the run.
 *
 * @param listSkipped lists the tests that the run leaves out, once the parts have installed what they can
 */
export const playAll = async (parts: readonly Part[], listSkipped: () => readonly string[]): Promise<number> => {
  const stop = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => stop.abort(signal));
  const begun = performance.now();
  const results = await playInTurn(parts, stop.signal);
  const installation = sum(results.map(({ part, seconds }) => (part.isInstallation ? seconds : 0)));
  const total = (performance.now() - begun) / 1000 - installation;
  const signal: (typeof SIGNALS)[number] | undefined = stop.signal.reason;
  console.log([...summaryOf(results, total, listSkipped()), lastLineOf(results, signal)].join('\n'));
  if (signal) return 128 + constants.signals[signal];
  return results.some(({ verdict }) => verdict.failed[0]) ? 1 : 0;
};
