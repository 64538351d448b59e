// npm run sim -- --seeds 1000, or --seed 17 with a timeline.
import { parseArgs } from 'node:util';
import { loadScripts } from './bundle.ts';
import { createPlan } from './walk/plan.ts';
import { runPlan } from './walk/run.ts';
import { shrink } from './walk/shrink.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    steps: { type: 'string', default: '25' },
  },
});
const scripts = await loadScripts();
const steps = Number(values.steps);
if (values.seed !== undefined) {
  const plan = createPlan(Number(values.seed), steps);
  const { broken } = await runPlan(scripts, plan);
  const [first] = broken;
  const shown = first
    ? await shrink(plan, async (smaller) =>
        (await runPlan(scripts, smaller)).broken.some(({ invariant }) => invariant === first.invariant),
      )
    : plan;
  const lines: string[] = [];
  await runPlan(scripts, shown, (line) => lines.push(line));
  console.log(lines.join('\n'));
  console.log(JSON.stringify(shown.steps));
} else {
  const begun = performance.now();
  const counts = new Map<string, number[]>();
  let tasks = 0;
  for (let seed = Number(values.from); seed < Number(values.from) + Number(values.seeds); seed++) {
    const outcome = await runPlan(scripts, createPlan(seed, steps));
    tasks += outcome.tasks;
    for (const { invariant } of outcome.broken) counts.set(invariant, [...(counts.get(invariant) ?? []), seed]);
  }
  const seconds = (performance.now() - begun) / 1000;
  for (const [invariant, seeds] of counts) console.log(`${invariant}: ${seeds.length} seeds, ${seeds.slice(0, 8)}`);
  console.log(`${values.seeds} walks, ${tasks} tasks, ${seconds.toFixed(1)} s`);
}
