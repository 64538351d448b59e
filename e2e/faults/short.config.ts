import type { PlaywrightTestConfig } from '@playwright/test';
import config from './playwright.config.ts';
import type { WorkerFixtures } from './support/fault.ts';

/** What every change is tried with: all faults in Chromium; in the others those that tell engines apart, in a few minutes. */
const TELLING = /\b(7|17|19|21|24|28|31|32|36|40) [a-z0-9"]/;

const short: PlaywrightTestConfig<object, WorkerFixtures> = {
  ...config,
  projects: (config.projects ?? []).map((project) =>
    project.name === 'chromium' ? project : { ...project, grep: TELLING },
  ),
};

export default short;
