// npm test, and with --all npm run test:all: runs each part, replays failed tests twice, and prints times and totals.
import { partsOf } from './run/parts.ts';
import { playPart, type Result } from './run/play.ts';

const unknown = process.argv.slice(2).filter((argument) => argument !== '--all');
if (unknown[0]) {
  console.error(`expected no argument or --all, got ${unknown[0]}\nusage: npm test, or npm run test:all`);
  process.exit(2);
}
const isAll = process.argv.includes('--all');
// vitest.config.ts and the Playwright configurations leave the long tests out unless it is set.
if (isAll) process.env.TEST_ALL = '1';

const results: Result[] = [];
for (const part of partsOf(isAll)) {
  const result = playPart(part);
  results.push(result);
  if (part.isNeeded && result.verdict.failed[0]) break;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const rows = results.map(({ part, seconds, verdict: { passed, failed, unstable, skipped } }) => {
  const counts = part.report
    ? `${passed} passed, ${failed.length} failed, ${unstable.length} unstable, ${skipped} skipped`
    : '';
  return `${part.name.padEnd(10)}${`${seconds.toFixed(0)} s`.padStart(6)}  ${counts}`.trimEnd();
});
const counted = results.filter(({ part }) => !part.isInstallation).map(({ seconds }) => seconds);
const failed = results.flatMap(({ verdict }) => verdict.failed);
const unstable = results.flatMap(({ verdict }) => verdict.unstable);
console.log(
  [
    '',
    ...rows,
    `${'total'.padEnd(10)}${`${sum(counted).toFixed(0)} s`.padStart(6)}  without install`,
    ...failed.map((name) => `failed: ${name}`),
    ...unstable.map((name) => `unstable, failed once and passed 2 replays: ${name}`),
    `${sum(results.map(({ verdict }) => verdict.passed)) + unstable.length} passed, ${failed.length} failed`,
  ].join('\n'),
);
process.exit(failed[0] ? 1 : 0);
