/** `npm run bench`: sizes, the cost of a call as a ratio to the bare minimum, and how many events survive each departure. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { startDemo } from '../e2e/support/demo.ts';
import { measureBurst } from './burst.ts';
import { measureDurability } from './durability.ts';
import { measureBlocking, measureStored, measureTabs } from './growth.ts';

const NAMES = { clew: "clew('track', …)", floor: 'array push and JSON.stringify' };
const RUNS = Number(process.env.RUNS ?? 3);

const size = async (file: string) =>
  brotliCompressSync(await readFile(join(import.meta.dirname, '../dist', file))).length;

const demo = await startDemo();
try {
  console.log(`\n| file | bytes, brotli |\n|---|---|`);
  for (const file of ['clew.js', 'stub.js']) console.log(`| ${file} | ${await size(file)} |`);

  for (const slowdown of [1, 4]) {
    const rows = await measureBurst(demo, 9, slowdown);
    const floor = rows.find(({ subject }) => subject === 'floor')?.time ?? Number.NaN;
    console.log(
      `\n| 10,000 calls in one task, ${slowdown} × slower, 9 pages each | ms, median | × | tasks of more than 50 ms |`,
    );
    console.log('|---|---|---|---|');
    for (const { subject, time, long } of rows) {
      const cells = [time.toFixed(1), (time / floor).toFixed(2), long.map((ms) => ms.toFixed()).join(', ') || 'none'];
      console.log(`| ${NAMES[subject]} | ${cells.join(' | ')} |`);
    }
  }

  console.log(
    `\n| a visitor comes back with | µs of CPU an event | KB of heap at the end | requests |\n|---|---|---|---|`,
  );
  for (const count of [1_000, 10_000, 100_000]) {
    const { microseconds, heap, requests } = await measureStored(count);
    const cells = [microseconds.toFixed(), (heap / 1e3).toFixed(), requests];
    console.log(`| ${count.toLocaleString('en')} stored rows | ${cells.join(' | ')} |`);
  }
  const [idle, loaded] = await measureBlocking(10_000);
  console.log(
    `\nLoading with 10,000 stored rows blocks the page for ${loaded?.toFixed()} ms at most, with none for ${idle?.toFixed()} ms.`,
  );

  console.log(`\n| 100 events in each of | µs of CPU an event, all tabs together | requests |\n|---|---|---|`);
  for (const count of [1, 10, 50]) {
    const { microseconds, requests } = await measureTabs(count);
    console.log(`| ${count} tabs | ${microseconds.toFixed()} | ${requests} |`);
  }

  console.log(`\n| of 200 events, ${RUNS} runs each | arrived | stored twice |\n|---|---|---|`);
  for await (const { way, arrived, twice } of measureDurability(demo, RUNS)) {
    console.log(`| ${way} | ${arrived.join(' · ')} | ${twice.join(' · ')} |`);
  }
} finally {
  await demo.stop();
}
