import { defineConfig } from '@playwright/test';
import { findChromium } from '../support/chromium.ts';
import { engineSelection, selection } from '../support/tags.ts';
import type { EngineName } from './engines/engine.ts';
import { findFirefox } from './engines/firefox.ts';
import { hasWebKit } from './engines/webkit.ts';
import type { WorkerFixtures } from './support/fault.ts';

const isThere: Record<EngineName, boolean> = {
  chromium: findChromium() !== undefined,
  firefox: findFirefox() !== undefined,
  webkit: hasWebKit(),
};
export default defineConfig<object, WorkerFixtures>({
  testDir: '.',
  globalSetup: '../support/setup.ts',
  outputDir: '../../test-results/faults',
  timeout: 120_000,
  // No test is about time: a busy machine may take long, and a test that passes does not wait.
  expect: { timeout: 30_000 },
  workers: 3,
  retries: 0,
  forbidOnly: true,
  reporter: [['./support/table-reporter.ts'], ['json', { outputFile: '../../test-results/faults.json' }]],
  projects: (['chromium', 'firefox', 'webkit'] as const)
    .filter((engine) => isThere[engine])
    .map((engine) => ({ name: engine, use: { engine }, ...(engine === 'chromium' ? selection : engineSelection) })),
});
