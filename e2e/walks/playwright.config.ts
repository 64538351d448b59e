import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: '.',
  globalSetup: '../support/setup.ts',
  outputDir: '../../test-results/walks',
  timeout: 180_000,
  workers: 2,
  fullyParallel: true,
  retries: 0,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: '../../test-results/walks.json' }]],
});
