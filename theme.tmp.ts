// seeds of one theme
import { loadScripts } from './sim/bundle.ts';
import { createPlan } from './sim/walk/createPlan.ts';
import { runPlan } from './sim/walk/run.ts';
import { isKnown } from './sim/walk/defects.ts';
const [theme, from, count] = process.argv.slice(2);
const scripts = await loadScripts();
const found: Record<string, string[]> = {};
let n = 0;
for (let seed = Number(from); n < Number(count); seed++) {
  const plan = createPlan(seed);
  if (plan.theme !== theme) continue;
  n++;
  const { broken } = await runPlan(scripts, plan);
  for (const { invariant, detail } of broken) (found[(isKnown(plan, invariant) ? 'known ' : 'NEW ') + invariant] ??= []).push(`${seed}: ${detail}`);
}
for (const [k, v] of Object.entries(found)) console.log(v.length, k, k.startsWith('NEW') ? v.slice(0, 6) : '');
console.log(n, 'walks');
process.exit();
