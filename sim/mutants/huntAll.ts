import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ask, startWorker } from '../workers.ts';
import { build } from './build.ts';
import type { Mutant } from './mutant.ts';
import type { HuntOrder, HuntReport } from './worker.ts';

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
    const worker = startWorker(join(import.meta.dirname, 'worker.ts'));
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, mutant] = next;
      const built = await build(join(folder, `${index}`), mutant, plain);
      onFound(mutant, await ask<HuntOrder, HuntReport>(worker, { folder: built, plain, seeds, steps }));
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), mutants.length, 8) }, work));
};
