import { defineConfig } from '@playwright/test';
import { DISABLED_FEATURES, findChromium } from './support/chromium.ts';
import { selection } from './support/tags.ts';

const executablePath = findChromium();

export default defineConfig({
  ...selection,
  testDir: '.',
  globalSetup: './support/setup.ts',
  // These folders have configurations of their own.
  testIgnore: ['engines/**', 'facts/**', 'faults/**', 'walks/**'],
  outputDir: '../test-results/e2e',
  timeout: 90_000,
  // No test is about time: a busy machine may take long, and a test that passes does not wait.
  expect: { timeout: 30_000 },
  workers: 2,
  retries: 0,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: '../test-results/e2e.json' }]],
  use: {
    launchOptions: {
      ...(executablePath && { executablePath }),
      // Playwright starts Chromium with the back/forward cache off.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      args: [
        '--no-sandbox',
        DISABLED_FEATURES,
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // All domains of the tests lead to this machine. A separate configuration would need another worker and its demo.
        '--host-resolver-rules=MAP *.example 127.0.0.1',
      ],
    },
  },
});
