import type { PlaywrightTestConfig } from '@playwright/test';
import faults, { projects } from '../faults/playwright.config.ts';
import type { WorkerFixtures } from '../faults/support/fault.ts';

/** Checks the facts about browsers that the simulator assumes, with one browser of each engine. */
const facts: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...faults,
  projects: projects.map(({ name, use }) => ({ name, use, workers: 1 })),
  testDir: '.',
  outputDir: '../../test-results/facts',
  reporter: [['list'], ['json', { outputFile: '../../test-results/facts.json' }]],
};

export default facts;
