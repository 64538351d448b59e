import type { PlaywrightTestConfig } from '@playwright/test';
import faults, { projects } from '../faults/playwright.config.ts';
import type { WorkerFixtures } from '../faults/support/fault.ts';
import { isAll } from '../support/tags.ts';

// Without `TEST_ALL`, all other tests run in Chromium. It runs these tests, too, if no other engine was found.
const others = projects.filter(({ name }) => name !== 'chromium');

/** What depends on the engine: page views, clicks and plugins in all three engines. Without `TEST_ALL`, also the faults that depend on it. */
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
