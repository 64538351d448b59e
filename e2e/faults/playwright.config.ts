import { defineConfig } from '@playwright/test';
import { findChromium } from '../support/chromium.ts';
import type { EngineName } from './engines/engine.ts';
import { findFirefox } from './engines/firefox.ts';
import { hasWebKit } from './engines/webkit.ts';
import type { WorkerFixtures } from './support/fault.ts';

/** Chromium is a must; the others where they can be had. */
const isThere: Record<EngineName, boolean> = {
  chromium: true,
  firefox: findFirefox() !== undefined,
  webkit: hasWebKit(),
};
if (!findChromium()) throw new Error('no Chromium found: npm run test:faults installs one');

export default defineConfig<object, WorkerFixtures>({
  testDir: '.',
  outputDir: '../../test-results/faults',
  timeout: 120_000,
  expect: { timeout: 15_000 },
  workers: 3,
  retries: 0,
  forbidOnly: true,
  reporter: [['./support/table-reporter.ts'], ['json', { outputFile: '../../test-results/faults.json' }]],
  projects: (['chromium', 'firefox', 'webkit'] as const)
    .filter((engine) => isThere[engine])
    .map((engine) => ({ name: engine, use: { engine } })),
});
