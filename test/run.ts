// npm test, and with --all npm run test:all: runs each part, replays failed tests twice, and prints times and totals.
import { listSkipped } from './run/missing.ts';
import { partsOf } from './run/parts.ts';
import { playAll } from './run/playAll.ts';

const unknown = process.argv.slice(2).filter((argument) => argument !== '--all');
if (unknown[0]) {
  console.error(`expected no argument or --all, got ${unknown[0]}\nusage: npm test, or npm run test:all`);
  process.exit(2);
}
const isAll = process.argv.includes('--all');
// vitest.config.ts and the Playwright configurations leave the long tests out unless it is set.
if (isAll) process.env.TEST_ALL = '1';

process.exit(await playAll(partsOf(isAll), listSkipped));
