import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { build, mutate } from '../../sim/mutants/build.ts';
import { createHunt } from '../../sim/mutants/hunt.ts';
import type { Mutant } from '../../sim/mutants/mutant.ts';
import { mutants } from '../../sim/mutants/mutants.ts';
import { sharedMutants } from '../../sim/relay/mutants.ts';
import { createPlan } from '../../sim/walk/createPlan.ts';
import { runPlan } from '../../sim/walk/run.ts';

let folder: string;
let plain: Scripts;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clew-mutants-test-'));
  plain = await loadScripts(await build(join(folder, 'plain')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timelineOf = async (scripts: Scripts, seed: number) => {
  const lines: string[] = [];
  await runPlan(scripts, createPlan(seed), (line) => lines.push(line));
  return lines;
};
const huntFor = async (mutant: Mutant, seeds: number) => {
  const mutated = await build(join(folder, mutant.name.replaceAll(/\W/g, '-')), mutant, join(folder, 'plain'));
  return createHunt(plain, 25)(await loadScripts(mutated), seeds);
};

describe('the build of a mutant', () => {
  it.each(process.env.TEST_ALL ? [17, 1, 2, 3] : [17])(
    'without a mutant gives the same timeline as dist: seed %i',
    async (seed) => {
      expect(await timelineOf(plain, seed)).toEqual(await timelineOf(await loadScripts(), seed));
    },
  );

  const all = new Set([...mutants, ...sharedMutants.map(([mutant]) => mutant)]);
  it.each([...all].map((mutant) => [mutant.name, mutant] as const))('finds its text in src: %s', (_, mutant) => {
    const text = readFileSync(join(import.meta.dirname, '../../src', mutant.file), 'utf8');
    expect(mutate(text, mutant)).not.toBe(text);
  });

  it.each([
    ['never', 'const a = 1;', '0 times'],
    ['twice', 'let b; let b;', '2 times'],
  ])('throws if the text occurs %s', (_, text, count) => {
    expect(() => mutate(text, { name: 'x', file: 'y.ts', find: 'let b;', replace: '' })).toThrow(count);
  });
});

describe('the hunt', () => {
  it('has at least 25 mutants with unique names', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(25);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  it('finds a mutant', async () => {
    const mutant = mutants.find(({ name }) => name === 'counts delivered events twice') as Mutant;
    expect(await huntFor(mutant, 10)).toMatchObject({ invariant: 'tracked = delivered + queued + dropped' });
  });

  it('finds nothing if only times differ', { tags: 'long' }, async () => {
    const control = {
      name: 'control',
      file: 'api/options.ts',
      find: '    flushInterval: 3000,',
      replace: '    flushInterval: 3050,',
    };
    expect(await huntFor(control, 10)).not.toHaveProperty('invariant');
  });
});
