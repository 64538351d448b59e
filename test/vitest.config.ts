import { configDefaults, defineConfig } from 'vitest/config';
import { PROMISE } from './run/report.ts';
import { CompleteReporter } from './support/reporter.ts';

/** `TEST_ALL=1` adds the long tests: load, many rounds, and examples that run in processes of their own. */
const { TEST_ALL } = process.env;

export default defineConfig({
  test: {
    dir: 'test',
    exclude: [...configDefaults.exclude, ...(TEST_ALL ? [] : ['**/*.long.test.ts'])],
    globalSetup: 'test/support/setup.ts',
    tags: [{ name: PROMISE, description: 'A failure counts even if the test passes in a replay: test/run/report.ts' }],
    maxWorkers: 2,
    // A busy machine stretches what a test waits for. These limits end only what hangs.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    reporters: ['default', new CompleteReporter({ outputFile: 'test-results/unit.json' })],
  },
});
