import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crash, openBrowser } from '../../support/ownBrowser.ts';
import type { Engine, Privacy, Tab } from './engine.ts';
import { createTab } from './playwrightTab.ts';

/** The setting "block all cookies": IndexedDB fails to open and localStorage throws. */
const BLOCKED = { profile: { default_content_setting_values: { cookies: 2 } } };

/** The Chromium of the other end-to-end tests: a process of ours, with the back/forward cache as users have it. */
export const openChromium = async (profile: string, privacy?: Privacy): Promise<Engine> => {
  if (privacy === 'blocked') {
    await mkdir(join(profile, 'Default'), { recursive: true });
    await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(BLOCKED));
  }
  const browser = await openBrowser(profile);
  const incognito = privacy === 'private' ? await browser.context.browser()?.newContext() : undefined;
  const context = incognito ?? browser.context;
  const cdp = ({ page }: Tab) => {
    if (!page) throw new Error('a tab of another browser');
    return context.newCDPSession(page);
  };

  return {
    name: 'chromium',
    isAlive: browser.isAlive,
    async newTab() {
      const page = await context.newPage();
      return { ...createTab(page), crash: () => crash(page) };
    },
    async closeTabs() {
      // The first tab stays, because the browser quits without a tab.
      await Promise.all(
        browser.context
          .pages()
          .slice(1)
          .map((page) => page.close()),
      );
    },
    setOffline: browser.setOffline,
    cdp,
    kill: browser.kill,
    quit: browser.quit,
  };
};
