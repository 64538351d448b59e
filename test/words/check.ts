import { extname } from 'node:path';
import { pages, read } from '../docs/markdown.ts';
import { sourceFiles } from './comments.ts';
import { formFiles } from './forms.ts';
import { commentFaultsOf, type Fault, faultsOf, formFaultsOf, titleFaultsOf } from './rules.ts';
import { isTestFile } from './titles.ts';

const checks: Readonly<Record<string, (text: string, path: string) => Fault[]>> = {
  '.md': faultsOf,
  '.yml': formFaultsOf,
};

const sourceFaultsOf = (source: string, path: string): Fault[] =>
  [...commentFaultsOf(source, path), ...(isTestFile(path) ? titleFaultsOf(source) : [])].toSorted(
    (a, b) => a.line - b.line,
  );

/**
 * `npm run check:words`: checks the words of the pages, of the forms for issues, of comments and of the titles of tests. With
 * paths, it checks only these files.
 */
const chosen = process.argv.slice(2);
const faults = (chosen.length ? chosen : [...pages, ...formFiles, ...sourceFiles]).flatMap((path) => {
  const check = checks[extname(path)] ?? sourceFaultsOf;
  return check(read(path), path).map(({ line, found, expected }) => `${path}:${line}: ${found}; expected ${expected}`);
});
for (const fault of faults) console.error(fault);
if (faults.length) {
  console.error(
    `${faults.length} faults in the words of the documentation, the forms, the comments and the titles of tests`,
  );
  process.exitCode = 1;
}
