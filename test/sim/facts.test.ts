import { expect, it } from 'vitest';
import { facts } from '../../sim/facts/facts.ts';
import { createSimulatedBrowser } from '../../sim/facts/simulated.ts';

const SEEDS = 20;

it.each(facts)('in the simulator, $name', async ({ play, outcome }) => {
  for (let seed = 1; seed <= SEEDS; seed++)
    expect(await play(createSimulatedBrowser(seed), `fact ${seed}`)).toEqual(outcome);
});
