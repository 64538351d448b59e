import type { PlaywrightTestConfig } from '@playwright/test';
import faults, { projects } from '../faults/playwright.config.ts';
import type { WorkerFixtures } from '../faults/support/fault.ts';
import { isAll } from '../support/tags.ts';

// Without `TEST_ALL`, Chromium runs all other tests, and these ones only if no other engine was found.
const others = projects.filter(({ name }) => name !== 'chromium');

/** Page views, clicks and plugins in all three engines. Without `TEST_ALL`, the faults that depend on the engine are here, too. */
const engines: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...faults,
  ...(isAll || !others[0]
    ? { projects, testDir: '.' }
    : { projects: others, testDir: '..', testMatch: ['engines/*.spec.ts', 'faults/*.spec.ts'] }),
  globalSetup: '../support/setup.ts',
  outputDir: '../../test-results/engines',
  reporter: [['list'], ['json', { outputFile: '../../test-results/engines.json' }]],
};

export default engines;
