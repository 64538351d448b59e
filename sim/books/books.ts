// `npx tsx sim/books/books.ts --seeds 1000 --delete` compares the relay's books with the truth in that many walks.
import { readArguments } from '../../test/support/arguments.ts';
import { loadScripts } from '../bundle.ts';
import { faultIn, runBooks, seedsFrom } from './run.ts';

const { given, count } = readArguments(
  `npx tsx sim/books/books.ts [--seeds COUNT] [--from SEED] [--delete] [--seed SEED]
  --seeds   number of walks (100)
  --from    seed of the first walk (1)
  --delete  deletes rows behind the tracker's back
  --seed    runs only this walk, and prints its timeline`,
  {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    delete: { type: 'boolean', default: false },
  },
);

const scripts = await loadScripts();
const isDeleting = given.delete === true;
const seeds = given.seed === undefined ? seedsFrom(count('from'), count('seeds')) : [count('seed')];
let [tracked, missing, losing, wrong] = [0, 0, 0, 0];
for (const [at, seed] of seeds.entries()) {
  const outcome = await runBooks(scripts, seed, isDeleting, given.seed === undefined ? undefined : console.log);
  const fault = faultIn(outcome);
  tracked += outcome.tracked;
  missing += outcome.missing.length;
  losing += Number(outcome.lost.length > 0);
  wrong += Number(!!fault);
  if (fault) console.log(`seed ${seed}: ${fault}`);
  if ((at + 1) % 500 === 0) console.error(`${at + 1} walks, ${wrong} wrong`);
}
console.log(
  `${seeds.length} walks, ${tracked} events tracked, ${missing} missing in ${losing} walks with a loss; ${wrong} walks have wrong books`,
);
process.exitCode = wrong ? 1 : 0;
