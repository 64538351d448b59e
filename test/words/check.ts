import { pages, read } from '../docs/markdown.ts';
import { faultsOf } from './rules.ts';

/** `npm run check:words`: how the pages are written. `npm run check:words -- docs/relay.md` reads that page only. */
const chosen = process.argv.slice(2);
const faults = (chosen.length ? chosen : pages).flatMap((page) =>
  faultsOf(read(page)).map(({ line, found, expected }) => `${page}:${line}: ${found}; expected ${expected}`),
);
for (const fault of faults) console.error(fault);
if (faults.length) {
  console.error(`${faults.length} faults in the words of the documentation`);
  process.exitCode = 1;
}
