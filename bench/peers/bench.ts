/** `npm run bench:peers`: clew beside its peers in one run, in turns; RUNS=1 for a short one, ONLY=PostHog,clew prints some and writes no file. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { openBrowser, withProfile } from '../../e2e/support/ownBrowser.ts';
import { bundle, shipped } from './bundle.ts';
import { chart } from './chart.ts';
import { measureDurability } from './durability.ts';
import { type Measured, measure, measureStart } from './measure.ts';
import { markdown, numberText, type Row } from './report.ts';
import { type Subject, subjects } from './subjects.ts';

const RUNS = Number(process.env.RUNS ?? 3);
const ONLY = process.env.ONLY?.split(',');
const ROOT = join(import.meta.dirname, '../..');

const versionOf = async ({ of }: Subject): Promise<string> => {
  if (!of) return '';
  const { version } = JSON.parse(await readFile(join(ROOT, 'node_modules', of, 'package.json'), 'utf8'));
  return `${of} ${version}`;
};

const browserVersion = () =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const version = browser.context.browser()?.version() ?? '';
    await browser.kill();
    return version;
  });

const failures = new Set<string>();
const loadText = () => numberText(loadavg()[0] ?? 0, 1);
const before = loadText();
const empty = { code: (await bundle('empty')).code, isTag: false };
const chosen = subjects.filter(({ file, name }) => file === 'bare' || !ONLY || ONLY.some((one) => name.includes(one)));
const rows = await Promise.all(
  chosen.map(async (subject) => {
    const { code, bytes } = await (subject.file ? bundle(subject.file) : shipped());
    const runs: Partial<Measured>[] = [];
    const script = { code, isTag: !subject.file };
    return { subject, version: await versionOf(subject), size: bytes, runs, survivals: {}, script };
  }),
);

for (let run = 0; run < RUNS; run++) {
  const idle = await measureStart(empty);
  for (const { subject, script, runs } of rows) {
    const measured = await measure(script, (error) => failures.add(`${subject.name}: ${(error as Error).message}`));
    for (const name of ['start', 'slowStart'] as const) {
      if (measured[name] !== undefined) measured[name] -= idle[name];
    }
    runs.push(measured);
    console.error(`run ${run + 1} of ${RUNS}, ${subject.name}: ${JSON.stringify(measured)}`);
  }
}

for (const row of rows) {
  const told = (error: unknown) => failures.add(`${row.subject.name}: ${(error as Error).message}`);
  row.survivals = await measureDurability(row.script, told);
  console.error(`${row.subject.name}: ${JSON.stringify(row.survivals)}`);
}

const date = new Date().toISOString().slice(0, 10);
const browser = await browserVersion();
const facts = [
  `${date}, Chromium ${browser}, ${cpus().length} × ${cpus()[0]?.model.trim()}, runs in turns: ${RUNS}; load of the machine: ${before} before, ${loadText()} after`,
  '`npm run bench:peers` makes this file anew',
];
const text = markdown(rows satisfies Row[], facts, [...failures]);
if (!ONLY) {
  const caption = `Medians, ${date}, Chromium ${browser}, runs: ${RUNS}. Less is better.`;
  const results = join(ROOT, 'bench/results');
  await writeFile(join(results, 'peers.md'), text);
  await writeFile(join(results, 'peers.svg'), chart(rows, caption));
}
console.log(text);
