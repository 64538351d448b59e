import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { arrivalsChart, daysOf } from './arrivals.ts';
import { chart } from './chart.ts';
import { EVENTS, WAYS } from './durability.ts';
import { markdown, measuredIn, numberText, type Results } from './report.ts';
import { summary } from './summary.ts';

const ROOT = join(import.meta.dirname, '../..');
const FIGURES = 'bench/results/peers.json';
const PAGE = 'docs/benchmarks.md';
/** The part of the page that `publish` replaces. The part stands between comments, because formatters keep comments. */
const PLACE = /(<!-- bench:peers -->\n).*?(<!-- \/bench:peers -->)/s;

export const readResults = async (): Promise<Results> => JSON.parse(await readFile(join(ROOT, FIGURES), 'utf8'));

const withResults = (page: string, results: Results): string => {
  if (!PLACE.test(page)) throw new Error(`${PAGE}: expected <!-- bench:peers --> and <!-- /bench:peers -->`);
  return page.replace(PLACE, (_, begin, end) => `${begin}\n${summary(results)}\n\n${end}`);
};

/** All files that show these results, by their path from the root. */
export const filesOf = async (results: Results): Promise<Record<string, string>> => {
  const { date, browser, machine, runs, load, rows } = results;
  const [before, after] = load.map((value) => numberText(value, 1));
  const facts = [
    `${measuredIn(runs)}, ${date}, Chromium ${browser}, ${machine}`,
    `Load of the machine: ${before} before, ${after} after`,
    '`npm run bench:peers` writes this file',
  ];
  return {
    'bench/results/peers.md': markdown(results, facts),
    'bench/results/peers.svg': chart(rows, `${measuredIn(runs)}, ${date}, Chromium ${browser}. Less is better.`),
    'bench/results/arrivals.svg': arrivalsChart(
      rows,
      `${WAYS.length} departures × ${EVENTS} events, each once, ${daysOf(rows).join(' and ')}`,
    ),
    [PAGE]: withResults(await readFile(join(ROOT, PAGE), 'utf8'), results),
  };
};

/** Writes the figures, and all files that show them. */
export const publish = async (results: Results): Promise<void> => {
  await writeFile(join(ROOT, FIGURES), `${JSON.stringify(results, undefined, 2)}\n`);
  for (const [path, text] of Object.entries(await filesOf(results))) await writeFile(join(ROOT, path), text);
};
