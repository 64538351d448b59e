import type { PlaywrightTestConfig } from '@playwright/test';
import faults from '../faults/playwright.config.ts';
import type { WorkerFixtures } from '../faults/support/fault.ts';

/** What the page does, in all three engines: with the drivers of the faults. */
const engines: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...faults,
  testDir: '.',
  outputDir: '../../test-results/engines',
  reporter: [['list'], ['json', { outputFile: '../../test-results/engines.json' }]],
};

export default engines;
