import { pages, read } from '../docs/markdown.ts';
import { faultsOf, titleFaultsOf } from './rules.ts';
import { testFiles } from './titles.ts';

/**
 * `npm run check:words`: how the pages and the titles of tests are written. `npm run check:words -- docs/relay.md` reads that
 * file only.
 */
const chosen = process.argv.slice(2);
const faults = (chosen.length ? chosen : [...pages, ...testFiles]).flatMap((path) => {
  const check = path.endsWith('.ts') ? titleFaultsOf : faultsOf;
  return check(read(path)).map(({ line, found, expected }) => `${path}:${line}: ${found}; expected ${expected}`);
});
for (const fault of faults) console.error(fault);
if (faults.length) {
  console.error(`${faults.length} faults in the words of the documentation and the titles of tests`);
  process.exitCode = 1;
}
