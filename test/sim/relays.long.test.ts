// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { loadRelay } from '../../sim/bundle.ts';
import { sweep } from '../../sim/relay/sweep.ts';
import type { Program } from '../../sim/world/program.ts';

let relay: Program;
beforeAll(async () => {
  relay = await loadRelay();
});

it.each([1, 3, 4, 5, 10])(
  'each relay and Redis can be killed at each moment of seed %i',
  async (seed) => {
    for await (const { broken, kill } of sweep(relay, seed, true))
      expect(broken, JSON.stringify({ seed, kill })).toEqual([]);
  },
  600_000,
);
