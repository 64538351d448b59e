import { defineConfig } from '@playwright/test';
import { findChromium } from './support/chromium.ts';

const executablePath = findChromium();

export default defineConfig({
  testDir: '.',
  // They have configurations of their own.
  testIgnore: ['engines/**', 'faults/**', 'walks/**'],
  outputDir: '../test-results/e2e',
  timeout: 60_000,
  expect: { timeout: 15_000 },
  workers: 2,
  retries: 0,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: '../test-results/e2e.json' }]],
  use: {
    launchOptions: {
      ...(executablePath && { executablePath }),
      // Playwright starts Chromium with the back/forward cache off.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
});
