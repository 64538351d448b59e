import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { build } from './build.ts';
import type { Mutant } from './mutant.ts';
import type { HuntOrder, HuntReport } from './worker.ts';

const ask = async (worker: ChildProcess, order: HuntOrder): Promise<HuntReport> => {
  const ended = new AbortController();
  const { signal } = ended;
  worker.send(order);
  const answer = once(worker, 'message', { signal });
  const exit = once(worker, 'exit', { signal });
  const fail = exit.then(([code]) => Promise.reject(new Error(`a worker ended with ${code}`)));
  fail.catch(() => {});
  const [report] = (await Promise.race([answer, fail])) as [HuntReport];
  ended.abort();
  return report;
};

/**
 * Builds and walks mutants, in as many processes as there are processors.
 *
 * @param folder an empty one, for the builds
 * @param onFound called for each mutant when its hunt is over
 */
export const huntAll = async (
  mutants: readonly Mutant[],
  folder: string,
  { seeds, steps }: { seeds: number; steps: number },
  onFound: (mutant: Mutant, report: HuntReport) => void,
): Promise<void> => {
  const plain = await build(join(folder, 'plain'));
  const waiting = [...mutants.entries()];
  const work = async () => {
    const worker = fork(join(import.meta.dirname, 'worker.ts'), { execArgv: ['--import', 'tsx'] });
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, mutant] = next;
      const built = await build(join(folder, `${index}`), mutant, plain);
      onFound(mutant, await ask(worker, { folder: built, plain, seeds, steps }));
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), mutants.length, 8) }, work));
};
