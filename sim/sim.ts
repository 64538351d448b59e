// `npm run sim -- --seeds 3000` runs that many walks.
// `npm run sim -- --seed 17` runs one walk, shrinks it if it breaks an invariant, and prints its timeline.
import { readArguments } from '../test/support/arguments.ts';
import { loadScripts } from './bundle.ts';
import { summarise } from './summary.ts';
import { createPlan, pickTheme } from './walk/createPlan.ts';
import { isKnown, knownBreaks } from './walk/knownBreaks.ts';
import type { Plan } from './walk/plan.ts';
import { rateFaults } from './walk/rates.ts';
import { runPlan } from './walk/run.ts';
import { shrink } from './walk/shrink.ts';
import { themes } from './walk/themes/themes.ts';
import { legendOf } from './walk/timeline.ts';
import { walkAll } from './walkAll.ts';
import type { WorkerReport } from './worker.ts';

/** Number of walks between two lines of progress. */
const PROGRESS = 5000;

const USAGE = `npm run sim -- [--seeds COUNT] [--from SEED] [--steps COUNT] [--theme NAME]
npm run sim -- --seed SEED [--steps COUNT] [--whole]
  --seeds  number of walks (1000)
  --from   seed of the first walk (1)
  --steps  steps of each walk (25)
  --theme  walks only seeds of this theme: ${Object.keys(themes).join(', ')}
  --seed   runs only this walk, shrinks it if it breaks an invariant, and prints its timeline
  --whole  does not shrink the walk`;

const { given, count, fail } = readArguments(USAGE, {
  seeds: { type: 'string' },
  from: { type: 'string' },
  steps: { type: 'string', default: '25' },
  theme: { type: 'string' },
  seed: { type: 'string' },
  whole: { type: 'boolean', default: false },
});

if (given.seed !== undefined && (given.seeds ?? given.from ?? given.theme) !== undefined)
  fail('--seed: expected none of --seeds, --from and --theme beside it');
if (given.theme !== undefined && !Object.keys(themes).includes(`${given.theme}`))
  fail(`--theme: expected ${Object.keys(themes).join(', ')}, not ${given.theme}`);
if (given.whole && given.seed === undefined) fail('--whole: expected --seed beside it');
const seeds = given.seeds === undefined ? 1000 : count('seeds');
const from = given.from === undefined ? 1 : count('from');

/** The first seeds of the theme, or of all themes. */
const chooseSeeds = (): readonly number[] => {
  const chosen: number[] = [];
  for (let seed = from; chosen.length < seeds; seed++)
    if (given.theme === undefined || pickTheme(seed) === given.theme) chosen.push(seed);
  return chosen;
};

const showWalk = async (plan: Plan): Promise<boolean> => {
  const scripts = await loadScripts();
  const found = (await runPlan(scripts, plan)).broken;
  // The reader looks for an invariant whose break no known break explains.
  const sought = found.find((broken) => !isKnown(plan, broken)) ?? found[0];
  const isShrunk = sought !== undefined && !given.whole;
  const breaks = async (smaller: Plan) =>
    (await runPlan(scripts, smaller)).broken.some(({ invariant }) => invariant === sought?.invariant);
  const shown = isShrunk ? await shrink(plan, breaks) : plan;
  const lines: string[] = [];
  const { broken } = await runPlan(scripts, shown, (line) => lines.push(line));
  console.log(`${legendOf(shown)}\n${lines.join('\n')}`);
  for (const { invariant, detail } of broken) console.log(`\nbroken: ${invariant}\n  ${detail}`);
  if (isShrunk) console.log(`\n${shown.steps.length} of ${plan.steps.length} steps: ${JSON.stringify(shown)}`);
  return !broken[0];
};

/** Returns the known breaks that no longer break. Either clew is fixed, or the simulator no longer finds the fault. */
const checkKnown = async (): Promise<string[]> => {
  const scripts = await loadScripts();
  const missing: string[] = [];
  for (const { name, invariant, plan } of knownBreaks) {
    const { broken } = await runPlan(scripts, plan);
    if (!broken.some((found) => found.invariant === invariant)) missing.push(name);
  }
  return missing;
};

/** Prints progress and findings at once, because a long run may be interrupted. */
const tell = ({ findings }: WorkerReport, done: number): void => {
  for (const finding of findings)
    if (!isKnown(createPlan(finding.seed, count('steps')), finding))
      console.error(`seed ${finding.seed}: ${finding.invariant}`);
  if (done % PROGRESS === 0) console.error(`${done} of ${seeds} walks`);
};

const walk = async (): Promise<boolean> => {
  const missing = await checkKnown();
  for (const name of missing) console.log(`no longer seen, remove it from sim/walk/knownBreaks.ts: ${name}`);
  const begun = performance.now();
  const { findings, tasks } = await walkAll(chooseSeeds(), count('steps'), undefined, tell);
  const seconds = (performance.now() - begun) / 1000;
  const unknown = findings.filter((finding) => !isKnown(createPlan(finding.seed, count('steps')), finding));
  console.log(summarise(findings, unknown));
  console.log(
    `${seeds} walks, ${tasks} tasks, ${seconds.toFixed(0)} s, ${(seeds / seconds).toFixed(0)} walks/s; ` +
      `${knownBreaks.length} known breaks, ${new Set(unknown.map(({ seed }) => seed)).size} walks broke something else`,
  );
  // The rates are those of all themes together.
  const faults =
    given.theme === undefined
      ? rateFaults(
          findings.map(({ invariant }) => invariant),
          seeds,
        )
      : [];
  for (const fault of faults) console.log(fault);
  return !unknown[0] && !missing[0] && !faults[0];
};

const isFine = given.seed === undefined ? await walk() : await showWalk(createPlan(count('seed'), count('steps')));
process.exitCode = isFine ? 0 : 1;
