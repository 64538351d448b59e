import { existsSync } from 'node:fs';
import { firefox } from '@playwright/test';
import type { Engine, Privacy } from './engine.ts';
import { createTab } from './playwrightTab.ts';
import { killTree, ownerOf } from './processes.ts';

/** Without root: `npx playwright install firefox`. */
const own = firefox.executablePath();

/** Path of a Firefox: `FIREFOX`, the system's, as users have it, or Playwright's own. */
export const findFirefox = (): string | undefined =>
  [
    process.env.FIREFOX,
    '/usr/bin/firefox-esr',
    '/usr/bin/firefox',
    '/Applications/Firefox.app/Contents/MacOS/firefox',
    own,
  ].find((path): path is string => path !== undefined && existsSync(path));

const PREFERENCES = {
  // Under automation, every tab counts as visible. With this off, a tab behind another one is really hidden.
  'layout.testing.top-level-always-active': false,
  // After several kills, Firefox would ask whether to start in safe mode.
  'toolkit.startup.max_resumed_crashes': -1,
};

const PRIVACY = {
  private: { 'browser.privatebrowsing.autostart': true },
  // All cookies and site data: IndexedDB fails to open and localStorage throws.
  blocked: { 'network.cookie.cookieBehavior': 2 },
};

export const openFirefox = async (profile: string, privacy?: Privacy): Promise<Engine> => {
  const executablePath = findFirefox() ?? 'firefox';
  const context = await firefox.launchPersistentContext(profile, {
    // Users' Firefox speaks WebDriver BiDi, and Playwright's own a protocol of Playwright's.
    ...(executablePath !== own && { channel: 'moz-firefox' }),
    executablePath,
    headless: true,
    firefoxUserPrefs: { ...PREFERENCES, ...(privacy && PRIVACY[privacy]) },
  });
  const owner = ownerOf(profile);
  let isAlive = true;
  context.once('close', () => {
    isAlive = false;
  });
  const anchor = context.pages()[0] ?? (await context.newPage());

  return {
    name: 'firefox',
    isAlive: () => isAlive,
    async newTab() {
      // Playwright's own new page is a window, and no window hides another.
      const [page] = await Promise.all([
        context.waitForEvent('page'),
        anchor.evaluate(() => void window.open('about:blank', '_blank', 'noopener')),
      ]);
      return createTab(page);
    },
    async closeTabs() {
      await Promise.all(context.pages().map((page) => (page === anchor ? undefined : page.close())));
    },
    setOffline: (isOffline) => context.setOffline(isOffline),
    async kill() {
      isAlive = false;
      if (owner !== undefined) await killTree(owner);
    },
    quit: () => context.close(),
  };
};
