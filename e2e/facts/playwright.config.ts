import type { PlaywrightTestConfig } from '@playwright/test';
import faults from '../faults/playwright.config.ts';
import type { WorkerFixtures } from '../faults/support/fault.ts';

/**
 * What the simulator assumes of browsers, in Chromium and Firefox, one browser each. WebKit is not played: its driver loses
 * tabs that a fact leaves open.
 */
const facts: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...faults,
  projects: (faults.projects ?? [])
    .filter(({ name }) => name !== 'webkit')
    .map(({ name = '', use = {} }) => ({ name, use, workers: 1 })),
  testDir: '.',
  outputDir: '../../test-results/facts',
  reporter: [['list'], ['json', { outputFile: '../../test-results/facts.json' }]],
};

export default facts;
