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
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ].find((path): path is string => path !== undefined && existsSync(path));
