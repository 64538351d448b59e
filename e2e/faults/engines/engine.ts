import type { CDPSession, Page } from '@playwright/test';
import { openChromium } from './chromium.ts';
import { openFirefox } from './firefox.ts';
import { openWebKit } from './webkit.ts';

export type EngineName = 'chromium' | 'firefox' | 'webkit';

/** A visitor's actions in a tab, in any browser. */
export interface Tab {
  /** Resolves at the page's `load`. */
  goto(url: string): Promise<void>;
  /** Runs `fn` in the page. `fn` closes over nothing, and its argument and result are JSON. */
  evaluate<R, A = undefined>(fn: (arg: A) => R | Promise<R>, arg?: A): Promise<R>;
  /** A real click, trusted by the page. */
  click(selector: string): Promise<void>;
  /** `history.back()`. Waits for nothing, since a page from the back/forward cache has no `load`. */
  back(): Promise<void>;
  /** Closes the tab as a user does, with `pagehide`. */
  close(): Promise<void>;
  /** Brings the tab to the front. The tabs behind it are really hidden. */
  activate(): Promise<void>;
  /** Chromium and Firefox. */
  page?: Page;
  /** Ends the page's process and resolves when it is gone. Chromium only. */
  crash?(): Promise<void>;
}

/** A browser with a profile of its own. */
export interface Engine {
  readonly name: EngineName;
  isAlive(): boolean;
  newTab(): Promise<Tab>;
  /** Closes every tab, those that pages have opened, too. The browser stays. */
  closeTabs(): Promise<void>;
  /** Chromium and Firefox. */
  setOffline?(isOffline: boolean): Promise<void>;
  /** Chromium only. */
  cdp?(tab: Tab): Promise<CDPSession>;
  /** SIGKILL to the browser and all of its processes. Resolves when they are gone. */
  kill(): Promise<void>;
  /** Ends the browser as a user who quits it. */
  quit(): Promise<void>;
}

/** `private` is a private window, whose data end with it. With `blocked`, the user allows no site to store data. */
export type Privacy = 'private' | 'blocked';

const openers = { chromium: openChromium, firefox: openFirefox, webkit: openWebKit };

/** Opens a browser on the folder `profile`, with the data that an earlier browser has stored there. */
export const openEngine = (name: EngineName, profile: string, privacy?: Privacy): Promise<Engine> =>
  openers[name](profile, privacy);
