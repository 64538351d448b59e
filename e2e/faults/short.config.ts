import type { PlaywrightTestConfig } from '@playwright/test';
import config from './playwright.config.ts';
import type { WorkerFixtures } from './support/fault.ts';

/** What every change is tried with: all faults in Chromium; in the others those whose outcome depends on the engine. */
const TELLING = /\.ts ([179]|10|12|17|19|21|3[0-6]|39|4[0-24-6]|5[23]) /;

const short: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...config,
  projects: (config.projects ?? []).map((project) =>
    project.name === 'chromium' ? project : { ...project, grep: TELLING },
  ),
};

export default short;
