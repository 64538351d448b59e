import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chart } from './chart.ts';
import { markdown, numberText, type Results } from './report.ts';
import { readmeTable } from './summary.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'bench/results');
const README = join(ROOT, 'README.md');
/** Where the README has its part; formatters keep comments. */
const PLACE = /(<!-- bench:peers -->\n).*?(<!-- \/bench:peers -->)/s;

export const readResults = async (): Promise<Results> => JSON.parse(await readFile(join(FOLDER, 'peers.json'), 'utf8'));

/** The README with these results in their place. */
export const withResults = (readme: string, results: Results): string => {
  if (!PLACE.test(readme)) throw new Error('README.md: expected <!-- bench:peers --> and <!-- /bench:peers -->');
  return readme.replace(PLACE, (_, begin, end) => `${begin}\n${readmeTable(results)}\n\n${end}`);
};

/** Writes the figures, and all that shows them. */
export const publish = async (results: Results): Promise<void> => {
  const { date, browser, machine, runs, load, rows, failures } = results;
  const [before, after] = load.map((value) => numberText(value, 1));
  const facts = [
    `${date}, Chromium ${browser}, ${machine}, runs in turns: ${runs}; load of the machine: ${before} before, ${after} after`,
    '`npm run bench:peers` makes this file anew',
  ];
  await writeFile(join(FOLDER, 'peers.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  await writeFile(join(FOLDER, 'peers.md'), markdown(rows, facts, failures));
  await writeFile(
    join(FOLDER, 'peers.svg'),
    chart(rows, `Medians, ${date}, Chromium ${browser}, runs: ${runs}. Less is better.`),
  );
  await writeFile(README, withResults(await readFile(README, 'utf8'), results));
};
