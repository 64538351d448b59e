import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import { DISABLED_FEATURES, findChromium } from './chromium.ts';

/** A separate Chromium, with a profile that outlives it and a process group that can be killed. */
export interface OwnBrowser {
  readonly context: BrowserContext;
  isAlive(): boolean;
  newPage(): Promise<Page>;
  setOffline(isOffline: boolean): Promise<void>;
  /** SIGKILL to the browser and all of its processes. */
  kill(): Promise<void>;
  /** Ends the browser as a user who quits it. */
  quit(): Promise<void>;
}

const ARGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-extensions',
  '--disable-default-apps',
  '--disable-component-extensions-with-background-pages',
  DISABLED_FEATURES,
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
];

/** The port that the browser has chosen, which it writes into its profile. */
const readPort = async (profile: string): Promise<string> => {
  for (;;) {
    const [port, path] = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')).split('\n');
    if (port && path) return port;
    await pause(20);
  }
};

/** @param flags added to the command line */
export const openBrowser = async (profile: string, flags: readonly string[] = []): Promise<OwnBrowser> => {
  await rm(join(profile, 'DevToolsActivePort'), { force: true });
  const child: ChildProcess = spawn(
    findChromium() ?? 'chromium',
    [...ARGS, ...flags, `--user-data-dir=${profile}`, 'about:blank'],
    {
      detached: true,
      stdio: 'ignore',
    },
  );
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const browser: Browser = await chromium.connectOverCDP(`http://127.0.0.1:${await readPort(profile)}`, {
    // Without Playwright's defaults, a tab behind another one is really hidden.
    noDefaults: true,
  });
  const context = browser.contexts()[0];
  if (!context) throw new Error('the browser has no context');
  return {
    context,
    isAlive,
    newPage: () => context.newPage(),
    setOffline: (isOffline) => context.setOffline(isOffline),
    async kill() {
      if (isAlive() && child.pid) process.kill(-child.pid, 'SIGKILL');
      await gone;
    },
    async quit() {
      if (!isAlive()) return;
      // `Browser.close` gives the pages no `pagehide`, unlike a user who closes the window.
      await Promise.all(context.pages().map((page) => page.close()));
      const session = await browser.newBrowserCDPSession();
      session.send('Browser.close').catch(() => {});
      await gone;
    },
  };
};

/** Crashes the page's process. */
export const crash = async (page: Page): Promise<void> => {
  const crashed = page.waitForEvent('crash');
  const session = await page.context().newCDPSession(page);
  // A crashed process does not answer.
  session.send('Page.crash').catch(() => {});
  await crashed;
};

export const withProfile = async <T>(work: (profile: string) => Promise<T>): Promise<T> => {
  const profile = await mkdtemp(join(tmpdir(), 'clew-bench-'));
  try {
    return await work(profile);
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
};
