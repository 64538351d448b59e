import { extname } from 'node:path';
import { pages, read } from '../docs/markdown.ts';
import { formFiles } from './forms.ts';
import { faultsOf, formFaultsOf, titleFaultsOf } from './rules.ts';
import { testFiles } from './titles.ts';

/**
 * `npm run check:words`: how the pages, the forms for issues and the titles of tests are written. `npm run check:words -- docs/relay.md` reads that
 * file only.
 */
const chosen = process.argv.slice(2);
const faults = (chosen.length ? chosen : [...pages, ...formFiles, ...testFiles]).flatMap((path) => {
  const check = { '.ts': titleFaultsOf, '.yml': formFaultsOf }[extname(path)] ?? faultsOf;
  return check(read(path)).map(({ line, found, expected }) => `${path}:${line}: ${found}; expected ${expected}`);
});
for (const fault of faults) console.error(fault);
if (faults.length) {
  console.error(`${faults.length} faults in the words of the documentation, the forms and the titles of tests`);
  process.exitCode = 1;
}
