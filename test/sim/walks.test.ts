// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { createPlan, type Plan } from '../../sim/walk/plan.ts';
import { runPlan } from '../../sim/walk/run.ts';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

const timelineOf = async (plan: Plan) => {
  const lines: string[] = [];
  await runPlan(scripts, plan, (line) => lines.push(line));
  return lines;
};

it.each([1, 2, 3, 17])('seed %i gives the same timeline each time', async (seed) => {
  const timeline = await timelineOf(createPlan(seed));
  expect(timeline.length).toBeGreaterThan(20);
  expect(await timelineOf(createPlan(seed))).toEqual(timeline);
});

it('another seed gives another timeline for the same steps', async () => {
  const plan = createPlan(1);
  expect(await timelineOf({ ...plan, seed: 2 })).not.toEqual(await timelineOf(plan));
});
