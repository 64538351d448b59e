// `npm run sim:mutants` builds each mutant of clew and counts the seeds until a walk breaks an invariant.
// `fixed` in place of a number means that only a walk of sim/walk/fixed.ts breaks one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { huntAll } from './mutants/huntAll.ts';
import { mutants } from './mutants/mutants.ts';

const USAGE = `npm run sim:mutants -- [--only TEXT] [--skip COUNT] [--seeds COUNT] [--steps COUNT]
  --only   runs only mutants whose name contains TEXT
  --skip   leaves out the first COUNT of those: a run in parts
  --seeds  maximum of walks for each mutant (2000)
  --steps  steps of each walk (25)`;

const fail = (message: string): never => {
  console.error(`${message}\n${USAGE}`);
  process.exit(2);
};

const readArgs = () => {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', default: '' },
        skip: { type: 'string', default: '0' },
        seeds: { type: 'string', default: '2000' },
        steps: { type: 'string', default: '25' },
      },
    }).values;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
};
const given = readArgs();
const count = (name: 'seeds' | 'steps' | 'skip', least = 1): number => {
  const value = Number(given[name]);
  if (Number.isSafeInteger(value) && value >= least) return value;
  return fail(`--${name}: expected ${least}, ${least + 1}, …, not ${given[name]}`);
};

const named = mutants.filter(({ name }) => name.includes(given.only));
if (!named[0]) fail(`--only: no mutant's name contains "${given.only}"`);
const chosen = named.slice(count('skip', 0));
if (!chosen[0]) fail(`--skip: expected less than ${named.length}, not ${given.skip}`);

const folder = mkdtempSync(join(tmpdir(), 'clew-mutants-'));
const missed: string[] = [];
let walks = 0;
const begun = performance.now();
try {
  const limits = { seeds: count('seeds'), steps: count('steps') };
  console.log('seeds  walks/s  mutant → invariant');
  await huntAll(chosen, folder, limits, ({ name }, report) => {
    walks += report.walks;
    if (!report.invariant) missed.push(name);
    const pace = (report.walks / report.seconds).toFixed(0);
    const seeds = report.fixed ? 'fixed' : report.invariant ? `${report.seeds}` : '–';
    console.log(`${seeds.padStart(5)}  ${pace.padStart(7)}  ${name} → ${report.invariant ?? 'NOT FOUND'}`);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const seconds = (performance.now() - begun) / 1000;
console.log(
  `${chosen.length - missed.length} of ${chosen.length} mutants found, ${walks} walks, ${seconds.toFixed(0)} s, ` +
    `${(walks / seconds).toFixed(0)} walks/s`,
);
process.exit(missed[0] ? 1 : 0);
