import { existsSync } from 'node:fs';
import { chromium } from '@playwright/test';

/** @returns {string | undefined} path of the Chromium that the tests drive: `CHROMIUM`, Playwright's own, or the system's */
export const findChromium = () =>
  [
    process.env.CHROMIUM,
    chromium.executablePath(),
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ]
    .filter(Boolean)
    .find((path) => existsSync(path));
