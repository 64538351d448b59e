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

/**
 * Without these, each window loads two hidden pages of the browser's own interface (the address bar's suggestions), which take more of the processor than
 * the page under test, and the browser asks for services that no test needs. A second switch of this name would replace the first:
 * all features stand here.
 */
export const DISABLED_FEATURES = `--disable-features=${[
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'HttpsUpgrades',
  'Translate',
  'OptimizationHints',
  'MediaRouter',
].join(',')}`;
