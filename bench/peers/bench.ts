/**
 * `npm run bench:peers`: measures clew and its peers in turns. `RUNS=1` makes a short run. `ONLY=PostHog,clew` prints the figures
 * of these subjects and writes no file. `PART=speed` or `PART=durability` measures one half, and keeps the earlier figures of
 * the other half. Arrivals are counts, so `PART=durability ONLY=clew` also writes those of clew beside the earlier ones of its peers.
 */
import { readFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { openBrowser, withProfile } from '../../e2e/support/ownBrowser.ts';
import { bundle, shipped } from './bundle.ts';
import { measureDurability } from './durability.ts';
import { type Measured, measure, measureStart, STARTS } from './measure.ts';
import type { Results } from './report.ts';
import { publish, readResults } from './results.ts';
import { type Subject, subjects } from './subjects.ts';

const RUNS = Number(process.env.RUNS ?? 3);
const ONLY = process.env.ONLY?.split(',');
const { PART } = process.env;
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

const today = new Date().toISOString().slice(0, 10);
const failures = new Set<string>();
const loadNow = () => loadavg()[0] ?? 0;
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
const before = loadNow();
const empty = { code: (await bundle('empty')).code, isTag: false };
const chosen = subjects.filter(({ file, name }) => file === 'bare' || !ONLY || ONLY.some((one) => name.includes(one)));
const rows = await Promise.all(
  chosen.map(async (subject) => {
    const { code, bytes } = await (subject.file ? bundle(subject.file) : shipped());
    const runs: Partial<Measured>[] = [];
    const script = { code, isTag: !subject.file };
    return { subject, version: await versionOf(subject), size: bytes, runs, survivals: {}, playedOn: today, script };
  }),
);

for (let run = 0; run < RUNS && PART !== 'durability'; run++) {
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

for (const row of PART === 'speed' ? [] : rows) {
  const told = (error: unknown) => failures.add(`${row.subject.name}: ${(error as Error).message}`);
  row.survivals = await measureDurability(row.script, told);
  console.error(`${row.subject.name}: ${JSON.stringify(row.survivals)}`);
}

const browser = await browserVersion();
const earlier = PART ? await readResults().catch(() => undefined) : undefined;
const now = rows.map(({ script: _, ...row }) => {
  const known = earlier?.rows.find(({ subject }) => subject.name === row.subject.name);
  if (PART === 'speed') return { ...row, survivals: known?.survivals ?? {}, playedOn: known?.playedOn ?? today };
  return PART === 'durability' ? { ...row, runs: known?.runs ?? [] } : row;
});
const isMerged = PART === 'durability' && !!ONLY && !!earlier;
const measured = isMerged
  ? earlier.rows.map((row) => now.find(({ subject }) => subject.name === row.subject.name) ?? row)
  : now;
const kept = isMerged ? earlier.failures : [];
/** Those of the run that has measured the times. */
const date = (PART === 'durability' && earlier?.date) || today;
const load = (PART === 'durability' && earlier?.load) || ([before, loadNow()] as const);
const runs = Math.max(...measured.map((row) => row.runs.length));
const starts = (PART === 'durability' && earlier?.starts) || STARTS;
const results: Results = {
  date,
  browser,
  machine,
  runs,
  starts,
  load,
  rows: measured,
  failures: [...kept, ...failures],
};
if (ONLY && !isMerged) console.log(JSON.stringify(results, undefined, 2));
else await publish(results);
