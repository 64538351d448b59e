import type { PlaywrightTestConfig } from '@playwright/test';
import faults from '../faults/playwright.config.ts';
import type { WorkerFixtures } from '../faults/support/fault.ts';
import { isAll } from '../support/tags.ts';

const projects = faults.projects ?? [];
// All other tests run in Chromium. Without `TEST_ALL`, it runs these tests only if no other engine was found.
const others = projects.filter(({ name }) => name !== 'chromium');

/** Page views and clicks in all three engines, with the drivers of the faults. */
const engines: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...faults,
  projects: isAll || !others[0] ? projects : others,
  testDir: '.',
  globalSetup: '../support/setup.ts',
  outputDir: '../../test-results/engines',
  reporter: [['list'], ['json', { outputFile: '../../test-results/engines.json' }]],
};

export default engines;
