import { existsSync } from 'node:fs';
import { chromium } from '@playwright/test';

/** Path of the Chromium that the tests drive: `CHROMIUM`, Playwright's own, or the system's. */
export const findChromium = (): string | undefined =>
  [
    process.env.CHROMIUM,
    chromium.executablePath(),
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path): path is string => path !== undefined && existsSync(path));
