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
 * Without this switch, each window loads two hidden pages for the suggestions of the address bar. The hidden pages use more CPU
 * than the page under test. The browser also requests services that no test needs. A second switch of this name would replace the
 * first one, so all features are here.
 */
export const DISABLED_FEATURES = `--disable-features=${[
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'HttpsUpgrades',
  'Translate',
  'OptimizationHints',
  'MediaRouter',
  // This feature starts a process for a page that may come next, for each context and navigation.
  'SpareRendererForSitePerProcess',
].join(',')}`;
