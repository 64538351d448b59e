import { expect, it } from 'vitest';
import { createPlan } from '../../sim/walk/createPlan.ts';
import type { Plan } from '../../sim/walk/plan.ts';
import { shrink } from '../../sim/walk/shrink.ts';

const verbsOf = ({ steps }: Plan) => steps.map(({ action }) => action.verb);

it('keeps only the steps that a failure needs', async () => {
  const plan = createPlan(1, 40);
  const needed = [plan.steps[3], plan.steps[22]];
  const shrunk = await shrink(plan, async ({ steps }) =>
    needed.every((step) => steps.some(({ action }) => action === step?.action)),
  );
  expect(shrunk.steps.map(({ action }) => action)).toEqual(needed.map((step) => step?.action));
  expect(shrunk.steps.every(({ wait }) => 'tasks' in wait && wait.tasks === 0)).toBe(true);
});

it('returns the plan itself if no step can be removed', async () => {
  const plan = createPlan(2, 6);
  const { length } = plan.steps;
  expect(verbsOf(await shrink(plan, async ({ steps }) => steps.length === length))).toEqual(verbsOf(plan));
});

it('makes the same plan from the same seed', () => {
  expect(createPlan(5)).toEqual(createPlan(5));
  expect(createPlan(5)).not.toEqual(createPlan(6));
});
