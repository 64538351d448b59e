import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { crash, type OwnBrowser, openBrowser, withProfile } from '../../e2e/support/ownBrowser.ts';
import { FLAGS, load, type Script } from './measure.ts';
import { type Server, startServer } from './server.ts';

/** How many events each departure tracks, in one task. */
export const EVENTS = 200;
/** How long (ms) the last event may take to arrive: longer than the first few back-offs of clew and of each peer. */
const PATIENCE = 45_000;

const track = `for (let step = 0; step < ${EVENTS}; step++) window.track('burst', { step, plan: 'pro' })`;

interface Stage {
  readonly page: Page;
  readonly browser: OwnBrowser;
  readonly server: Server;
}

/** Each function ends the page or disturbs its requests, and returns whether the visitor comes back in a new browser. */
const play: Record<string, (stage: Stage, isTag: boolean) => Promise<boolean>> = {
  async 'navigate at once'({ page }, isTag) {
    await Promise.all([page.waitForURL('**/?next'), page.evaluate(`${track}; location.href = '/?next'`)]);
    await page.evaluate(load(isTag));
    return false;
  },
  async 'close at once'({ page }) {
    await page.evaluate(track);
    await page.close({ runBeforeUnload: true });
    return false;
  },
  async 'offline, closed, reopened'({ page, browser, server }) {
    await browser.setOffline(true);
    server.trouble.isDown = true;
    await page.evaluate(track);
    await page.close();
    await browser.quit();
    return true;
  },
  async 'three 500s'({ page, server }) {
    server.trouble.failures = 3;
    await page.evaluate(track);
    return false;
  },
  async 'renderer crash, reopened'({ page, browser }) {
    await page.evaluate(track);
    await crash(page);
    await browser.quit();
    return true;
  },
  async 'SIGKILL after 1 s, reopened'({ page, browser }) {
    await page.evaluate(track);
    await pause(1000);
    await browser.kill();
    return true;
  },
  async 'offline and SIGKILL, reopened'({ page, browser, server }) {
    await browser.setOffline(true);
    server.trouble.isDown = true;
    await page.evaluate(track);
    await pause(1000);
    await browser.kill();
    return true;
  },
};
export const WAYS: readonly string[] = Object.keys(play);

/** How many different events arrived, and how many of these arrived more than once. */
export interface Survival {
  readonly arrived: number;
  readonly twice: number;
}

const visit = async (browser: OwnBrowser, server: Server, isTag: boolean): Promise<Page> => {
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  const { userAgent } = await session.send('Browser.getVersion');
  await session.send('Emulation.setUserAgentOverride', { userAgent: userAgent.replace('Headless', '') });
  await page.goto(server.address);
  await page.evaluate(load(isTag));
  return page;
};

const playOne = ({ code, isTag }: Script, way: string): Promise<Survival> =>
  withProfile(async (profile) => {
    const server = await startServer(code);
    let browser = await openBrowser(profile, FLAGS);
    try {
      const page = await visit(browser, server, isTag);
      if (await play[way]?.({ page, browser, server }, isTag)) {
        server.trouble.isDown = false;
        browser = await openBrowser(profile, FLAGS);
        await visit(browser, server, isTag);
      }
      const { events } = server.uploads;
      for (const end = Date.now() + PATIENCE; events.size < EVENTS && Date.now() < end; ) await pause(100);
      return { arrived: events.size, twice: [...events.values()].filter((times) => times > 1).length };
    } finally {
      await browser.kill();
      server.stop();
    }
  });

/** Plays each departure once. Reports a departure that fails, and leaves it out. */
export const measureDurability = async (script: Script, onError: (error: unknown) => void) => {
  const survivals: Record<string, Survival> = {};
  const left = [...WAYS];
  // Departures run side by side, because most of their time is spent waiting for events that are lost.
  const lane = async () => {
    for (let way = left.shift(); way; way = left.shift()) {
      const survival = await playOne(script, way).catch(onError);
      if (survival) survivals[way] = survival;
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  return survivals;
};
