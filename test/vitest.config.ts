import { configDefaults, defineConfig } from 'vitest/config';
import { PROMISE } from './run/report.ts';
import { CompleteReporter } from './support/reporter.ts';
import { LongestFirst } from './support/sequencer.ts';

/** `TEST_ALL=1` adds the long tests: load, many rounds, and examples that run in processes of their own. */
const { TEST_ALL } = process.env;
const exclude = [...configDefaults.exclude, ...(TEST_ALL ? [] : ['**/*.long.test.ts'])];

/**
 * Tests of what runs in Node. Their files take turns in one worker, which loads TypeScript, Postgres and the sources once.
 * The others stand in for a page's globals, and each of their files has a worker of its own.
 */
const NODE = [
  '{broker,collector,docs,inspector,mounts,relay,run,sim}/**/*.test.ts',
  '{hashes,package,relay,service,service-defaults,wire}.test.ts',
];

export default defineConfig({
  test: {
    dir: 'test',
    globalSetup: 'test/support/setup.ts',
    tags: [{ name: PROMISE, description: 'A failure counts even if the test passes in a replay: test/run/report.ts' }],
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // A busy machine stretches what a test waits for. These limits end only what hangs.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters: ['default', new CompleteReporter({ outputFile: 'test-results/unit.json' })],
    projects: [
      {
        extends: true,
        test: { name: 'node', include: NODE, exclude, isolate: false, setupFiles: 'test/support/restore.ts' },
      },
      { extends: true, test: { name: 'page', exclude: [...exclude, ...NODE], pool: 'threads' } },
    ],
  },
});
