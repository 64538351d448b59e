import { defineConfig } from '@playwright/test';
import { findChromium } from '../support/chromium.ts';
import { engineSelection, isAll, selection } from '../support/tags.ts';
import type { EngineName } from './engines/engine.ts';
import { findFirefox } from './engines/firefox.ts';
import { hasWebKit } from './engines/webkit.ts';
import type { WorkerFixtures } from './support/fault.ts';

const isThere: Record<EngineName, boolean> = {
  chromium: findChromium() !== undefined,
  firefox: findFirefox() !== undefined,
  webkit: hasWebKit(),
};
/** One project for each engine that is installed. */
export const projects = (['chromium', 'firefox', 'webkit'] as const)
  .filter((engine) => isThere[engine])
  .map((engine) => ({ name: engine, use: { engine }, ...(engine === 'chromium' ? selection : engineSelection) }));
const inChromium = projects.filter(({ name }) => name === 'chromium');

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
  // Without `TEST_ALL`, Firefox and WebKit play their faults with e2e/engines, so that each of them starts once.
  projects: isAll || !inChromium[0] ? projects : inChromium,
});
