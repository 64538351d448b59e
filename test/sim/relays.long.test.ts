// @module-tag promise
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadRelay } from '../../sim/bundle.ts';
import { buildRelay } from '../../sim/mutants/build.ts';
import { sharedMutants } from '../../sim/relay/mutants.ts';
import { firstBroken, sweep } from '../../sim/relay/sweep.ts';
import type { Program } from '../../sim/world/program.ts';

let relay: Program;
let folder: string;
beforeAll(async () => {
  relay = await loadRelay();
  folder = mkdtempSync(join(tmpdir(), 'clew-relays-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([1, 3, 4, 5, 10])(
  'each relay and Redis can be killed at each moment of seed %i',
  async (seed) => {
    for await (const { broken, kill } of sweep(relay, seed, true))
      expect(broken, JSON.stringify({ seed, kill })).toEqual([]);
  },
  600_000,
);

it.each(sharedMutants.map(([mutant, invariant]) => [mutant.name, mutant, invariant] as const))(
  'finds: %s',
  async (name, mutant, invariant) => {
    const program = await loadRelay(await buildRelay(join(folder, name.replaceAll(/\W/g, '-')), mutant));
    const found = await firstBroken(program, [4, 12, 1, 2]);
    expect(found?.broken.map((each) => each.invariant)).toContain(invariant);
  },
);
