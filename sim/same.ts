// `npx tsx sim/same.ts --before ../before/dist` shows that a change of the source changes nothing that a walk can see.
// `dist` has to be built, and so has that folder of an earlier commit.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readArguments } from '../test/support/arguments.ts';
import { loadScripts, type Scripts } from './bundle.ts';
import { createPlan, pickTheme } from './walk/createPlan.ts';
import { runPlan } from './walk/run.ts';
import { themes } from './walk/themes/themes.ts';

const USAGE = `npx tsx sim/same.ts --before FOLDER [--seeds COUNT] [--from SEED] [--theme NAME]
  --before the dist folder of an earlier commit
  --seeds  number of walks (1000)
  --from   seed of the first walk (1)
  --theme  walks only seeds of this theme: ${Object.keys(themes).join(', ')}`;
const STEPS = 25;

const { given, count, fail } = readArguments(USAGE, {
  before: { type: 'string' },
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  theme: { type: 'string' },
});
const folder = resolve(`${given.before}`);
if (!existsSync(`${folder}/clew.js`))
  fail(`--before: expected a folder with clew.js, not ${given.before ?? 'nothing'}`);
if (given.theme !== undefined && !Object.keys(themes).includes(`${given.theme}`))
  fail(`--theme: expected ${Object.keys(themes).join(', ')}, not ${given.theme}`);

/** The timeline of a walk, and the number of its tasks. */
const linesOf = async (scripts: Scripts, seed: number): Promise<string[]> => {
  const lines: string[] = [];
  const { tasks } = await runPlan(scripts, createPlan(seed, STEPS), (line) => lines.push(line));
  return [...lines, `${tasks} tasks`];
};

const [before, now] = [await loadScripts(folder), await loadScripts()];
let walks = 0;
let others = 0;
for (let seed = count('from'); walks < count('seeds'); seed++) {
  if (given.theme !== undefined && pickTheme(seed) !== given.theme) continue;
  walks++;
  const [old, fresh] = [await linesOf(before, seed), await linesOf(now, seed)];
  const [longer, other] = old.length > fresh.length ? [old, fresh] : [fresh, old];
  const place = longer.findIndex((line, index) => line !== other[index]);
  if (place < 0) continue;
  others++;
  console.log(`seed ${seed}\n  before ${old[place] ?? 'nothing'}\n  now    ${fresh[place] ?? 'nothing'}`);
}
console.log(`${walks} walks, ${others} of them changed`);
process.exitCode = others ? 1 : 0;
