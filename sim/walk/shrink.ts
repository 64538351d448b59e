import type { Plan, Step } from './plan.ts';

/** Whether a plan still breaks the invariant that the first plan broke. */
export type Fails = (plan: Plan) => Promise<boolean>;

/** Every list without `size` steps in a row. The first list lacks the last steps. */
const withoutRuns = (steps: readonly Step[], size: number): Step[][] => {
  const candidates: Step[][] = [];
  for (let from = steps.length - size; from >= 0; from -= size) {
    candidates.push([...steps.slice(0, from), ...steps.slice(from + size)]);
  }
  return candidates;
};

/** Simpler forms of one step. */
const simpler = ({ wait, action }: Step): Step[] => [
  ...('tasks' in wait && wait.tasks === 0 ? [] : [{ wait: { tasks: 0 }, action }]),
  ...(action.verb === 'track' && action.count > 1 ? [{ wait, action: { ...action, count: 1 } }] : []),
];

/** Leaves out steps, larger runs first, and simplifies the rest, as long as the plan still fails. */
export const shrink = async (plan: Plan, fails: Fails): Promise<Plan> => {
  let best = plan;
  const tryEach = async (candidates: readonly (readonly Step[])[]): Promise<boolean> => {
    for (const steps of candidates) {
      if (!(await fails({ ...best, steps }))) continue;
      best = { ...best, steps };
      return true;
    }
    return false;
  };
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; ) {
    if (!(await tryEach(withoutRuns(best.steps, size)))) size = size > 1 ? Math.ceil(size / 2) : 0;
  }
  const variants = () =>
    best.steps.flatMap((step, index) => simpler(step).map((other) => best.steps.with(index, other)));
  while (await tryEach(variants()));
  return best;
};
