import { configDefaults, defineConfig } from 'vitest/config';
import { PROMISE } from './run/report.ts';
import { CompleteReporter } from './support/reporter.ts';
import { LongestFirst } from './support/sequencer.ts';

/**
 * `TEST_ALL=1` adds the long tests: load, many rounds, and examples that run in processes of their own. Each of them is in a file
 * of its own (`*.long.test.ts`), or has the tag `long`. `REPEATS=100` plays each test so many times.
 */
const { TEST_ALL, REPEATS } = process.env;
const exclude = [...configDefaults.exclude, ...(TEST_ALL ? [] : ['**/*.long.test.ts'])];

/**
 * The files of these tests take turns in two workers, which load TypeScript, Postgres and the sources once. A module that
 * several of them import registers its hooks in a function: it is evaluated for the first file only.
 */
const SHARED = [
  '{broker,catalogue,collector,courier,docs,mounts,outbox,pictures,recorder,relay,run,sim,testing}/**/*.test.ts',
  'inspector/**/!(hear).test.ts',
  'page/**/!(firstTouch|views).test.ts',
  '{hashes,package,relay,service,service-defaults,wire}.test.ts',
];

/** These files share workers, too, and open the pages of tracker/page.ts and plugins/page.ts. */
const PAGES = [
  '{api,plugins,tracker,visitor}/**/*.test.ts',
  'inspector/**/hear.test.ts',
  'page/**/{firstTouch,views}.test.ts',
  '{consent,index,snippet,testing,uuid}.test.ts',
];

export default defineConfig({
  test: {
    dir: 'test',
    globalSetup: 'test/support/setup.ts',
    tags: [
      { name: PROMISE, description: 'A failure counts even if the test passes in a replay: test/run/report.ts' },
      { name: 'long', description: 'Left out unless TEST_ALL is set', skip: !TEST_ALL },
    ],
    // A forgotten `it.only` would leave the file's other tests out, and the run would pass.
    allowOnly: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // A busy machine slows tests down. These limits end only a test that hangs.
    testTimeout: 240_000 * Number(REPEATS ?? 1),
    hookTimeout: 240_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    ...(REPEATS && { runner: 'test/support/repeats.ts' }),
    reporters: ['default', new CompleteReporter({ outputFile: 'test-results/unit.json' })],
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: SHARED, exclude, isolate: false, setupFiles: 'test/support/restore.ts' },
      },
      {
        extends: true,
        test: { name: 'pages', include: PAGES, exclude, isolate: false, setupFiles: 'test/support/tidyPages.ts' },
      },
      // These tests keep something in globals or modules, so each file has its own.
      { extends: true, test: { name: 'isolated', exclude: [...exclude, ...SHARED, ...PAGES], pool: 'threads' } },
    ],
  },
});
