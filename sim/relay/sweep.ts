import type { Program } from '../world/program.ts';
import { type Kill, type Outcome, playRelays, TARGETS } from './scenario.ts';

/** A run, with the seed and the kill that play it again. */
export interface Played extends Outcome {
  readonly seed: number;
  readonly kill: Kill | undefined;
}

/**
 * Plays a seed without a kill, and then with a kill at each moment.
 *
 * @param isWhole whether to kill each target at each moment. Default: false, the targets take turns
 */
export async function* sweep(program: Program, seed: number, isWhole = false): AsyncGenerator<Played> {
  const undisturbed = await playRelays(program, seed);
  yield { ...undisturbed, seed, kill: undefined };
  for (let at = 1; at <= undisturbed.moments; at++)
    for (const [number, target] of TARGETS.entries())
      if (isWhole || at % TARGETS.length === number) {
        const kill = { target, at };
        yield { ...(await playRelays(program, seed, kill)), seed, kill };
      }
}

/** The first run of these seeds that breaks an invariant, or undefined. */
export const firstBroken = async (program: Program, seeds: readonly number[]): Promise<Played | undefined> => {
  for (const seed of seeds) for await (const played of sweep(program, seed)) if (played.broken[0]) return played;
  return undefined;
};
