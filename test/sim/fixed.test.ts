// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { fixed } from '../../sim/walk/fixed.ts';
import { runPlan } from '../../sim/walk/run.ts';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

it.each(fixed.map(({ name, plan }) => [name, plan] as const))('%s', async (_name, plan) => {
  expect((await runPlan(scripts, plan)).broken).toEqual([]);
});
