import type { Network } from '../server/network.ts';
import type { World } from '../world/world.ts';
import { clone } from './clone.ts';
import type { Cookies } from './cookies.ts';
import { createDisk, type Disk } from './disk.ts';
import { type Channel, createPage, type Page, type PageOptions, type Refusal } from './page.ts';
import { createSaving } from './saving.ts';

/** Time (ms) from a write into localStorage until it is on the disk. A SIGKILL loses younger writes. */
const STORAGE_DELAY = 5000;
/** The same for a cookie: https://source.chromium.org/chromium/chromium/src/+/main:net/extras/sqlite/sqlite_persistent_cookie_store.cc */
const COOKIE_DELAY = 30_000;

/** Most characters that localStorage stores. */
export const MOST_STORED = 5_000_000;

/** How long (ms) Chromium keeps a page in the back/forward cache: https://web.dev/articles/bfcache */
const CACHE_TIME = 600_000;

/** A value that a page has written into localStorage or the database. */
export interface Write {
  readonly at: number;
  readonly page: string;
  readonly value: unknown;
}

/** A request of a page that has no answer yet. */
export interface UnderWay {
  readonly page: Page;
  /** Whether the request outlives its page, as a beacon does. */
  readonly isKept: boolean;
  /** Ends the connection of a page that is gone. The request may still arrive. */
  cut(): void;
}

/** One browser with one profile and one origin. */
export interface Browser {
  readonly disk: Disk;
  readonly network: Network;
  readonly localStorage: Map<string, string>;
  readonly cookies: Cookies;
  /** The copies of localStorage that its pages see, with `hasLag`. */
  readonly tabs: Set<Map<string, string>>;
  /** The number of writes into localStorage so far. */
  storageWrites: number;
  readonly storageLimits: { isRefused: boolean; most: number };
  /** The storage that the browser refuses to each page that loads from now on. */
  refusal: Refusal;
  isOnline: boolean;
  readonly hasLocks: boolean;
  readonly hasChannel: boolean;
  readonly hasFetchLater: boolean;
  readonly hasGpc: boolean;
  readonly hasThrottling?: boolean;
  readonly hasLag?: boolean;
  readonly hasSlowGzip?: boolean;
  readonly pages: Set<Page>;
  /** Requests of all pages, including pages that are gone. */
  readonly underWay: Set<UnderWay>;
  /** The writes of all pages, in order. */
  readonly writes: Write[];
  open(options: PageOptions): Page;
  broadcast(from: Channel, data: unknown): void;
  /** The visitor navigates or closes the page. The page is suspended or gone before the scheduler runs any other task. */
  leave(page: Page, isCached: boolean): void;
  /** The page comes back from the back/forward cache. */
  restore(page: Page): void;
  evict(page: Page): void;
  /** The browser suspends a hidden page in its tab, unless the page has a Web Lock or uses the database. */
  freeze(page: Page): boolean;
  /** The page is busy with a long task, until it is thawed. */
  stall(page: Page): boolean;
  /** A frozen page runs again. */
  thaw(page: Page): void;
  /** The visitor navigates to a prerendered page. */
  activate(page: Page): void;
  crash(page: Page): void;
  /** localStorage has changed. */
  saveSoon(): void;
  /** A cookie has changed. */
  saveCookiesSoon(): void;
  /** SIGKILL of all processes. Returns the keys of localStorage that come back, because their deletion was not on the disk. */
  kill(): string[];
  setOnline(isOnline: boolean): void;
  show(page: Page, isVisible: boolean): void;
}

export interface Features {
  readonly hasLocks: boolean;
  readonly hasChannel: boolean;
  readonly hasFetchLater: boolean;
  readonly hasGpc: boolean;
  /** Timers of hidden pages run once a second. */
  readonly hasThrottling?: boolean;
  /** A tab sees what other tabs write into localStorage a moment later. */
  readonly hasLag?: boolean;
  /** Compression of a body takes a task of its own. */
  readonly hasSlowGzip?: boolean;
}

export const MODERN: Features = { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false };

export const createBrowser = (world: World, network: Network, features: Features = MODERN): Browser => {
  const { scheduler } = world;
  const disk = createDisk(world);
  let opened = 0;
  const localStorage = new Map<string, string>();
  const cookies: Cookies = new Map();
  const savingStorage = createSaving(world, localStorage, STORAGE_DELAY, 'localStorage');
  const savingCookies = createSaving(world, cookies, COOKIE_DELAY, 'cookies');

  const end = (page: Page, isKilled = false) => {
    page.state = 'gone';
    page.fetching.abort();
    page.held.length = 0;
    page.channels.clear();
    browser.tabs.delete(page.storage);
    browser.pages.delete(page);
    disk.disconnect(page, isKilled);
  };

  const browser: Browser = {
    ...features,
    disk,
    network,
    localStorage,
    cookies,
    tabs: new Set(),
    storageWrites: 0,
    storageLimits: { isRefused: false, most: MOST_STORED },
    refusal: 'nothing',
    isOnline: true,
    pages: new Set(),
    underWay: new Set(),
    writes: [],
    open(options) {
      const page = createPage(world, browser, `page${++opened}`, options);
      browser.pages.add(page);
      return page;
    },
    broadcast(from, data) {
      for (const page of browser.pages) {
        for (const channel of page.channels) {
          if (channel !== from && channel.name === from.name) channel.receive(clone(data));
        }
      }
    },
    leave(page, isCached) {
      if (page.state !== 'running') return;
      world.log(page.name, () => (isCached ? 'leaves into the back/forward cache' : 'leaves'));
      page.window.dispatch('pagehide', { persisted: isCached });
      if (!page.document.hidden) {
        page.document.hidden = true;
        page.document.dispatch('visibilitychange');
        page.window.dispatch('visibilitychange');
      }
      scheduler.next(`${page.name} is gone`, () => {
        page.fetching.sendLater();
        if (!isCached) return end(page);
        page.state = 'suspended';
        scheduler.after(CACHE_TIME, 'cache evicts', () => browser.evict(page));
      });
    },
    restore(page) {
      if (page.state !== 'suspended') return;
      world.log(page.name, () => 'comes back from the back/forward cache');
      page.state = 'running';
      page.isFrozen = false;
      page.document.hidden = false;
      page.document.dispatch('visibilitychange');
      page.window.dispatch('visibilitychange');
      page.window.dispatch('pageshow', { persisted: true });
      scheduler.resume(page);
    },
    freeze(page) {
      if (page.state !== 'running' || !page.document.hidden || page.locks || disk.isUsedBy(page)) return false;
      world.log(page.name, () => 'is frozen');
      page.document.dispatch('freeze');
      scheduler.next(`${page.name} is suspended`, () => {
        if (page.state !== 'running') return;
        page.state = 'suspended';
        page.isFrozen = true;
      });
      return true;
    },
    stall(page) {
      if (page.state !== 'running') return false;
      world.log(page.name, () => 'begins a long task');
      page.state = 'suspended';
      page.isFrozen = true;
      page.isStalled = true;
      return true;
    },
    thaw(page) {
      if (!page.isFrozen || page.state !== 'suspended') return;
      const { isStalled } = page;
      world.log(page.name, () => (isStalled ? 'ends its long task' : 'is thawed'));
      page.isFrozen = false;
      page.isStalled = false;
      page.state = 'running';
      if (!isStalled) page.document.dispatch('resume');
      scheduler.resume(page);
    },
    activate(page) {
      if (page.state !== 'running' || !page.document.prerendering) return;
      world.log(page.name, () => 'is activated');
      browser.show(page, true);
      page.document.prerendering = false;
      page.document.dispatch('prerenderingchange');
    },
    evict(page) {
      if (page.state !== 'suspended') return;
      world.log(page.name, () => 'is dropped from the back/forward cache');
      end(page);
    },
    saveSoon: savingStorage.soon,
    saveCookiesSoon: savingCookies.soon,
    crash(page) {
      if (page.state === 'gone') return;
      world.log(page.name, () => 'crashes');
      page.fetching.sendLater();
      end(page);
    },
    kill() {
      world.log('browser', () => 'SIGKILL');
      for (const page of [...browser.pages]) end(page, true);
      for (const { cut } of browser.underWay) cut();
      browser.underWay.clear();
      savingCookies.undo();
      return savingStorage.undo();
    },
    setOnline(isOnline) {
      if (browser.isOnline === isOnline) return;
      browser.isOnline = isOnline;
      world.log('browser', () => (isOnline ? 'online' : 'offline'));
      for (const page of browser.pages) {
        if (page.state === 'running') page.window.dispatch(isOnline ? 'online' : 'offline');
      }
    },
    show(page, isVisible) {
      if (page.state !== 'running' || page.document.hidden === !isVisible) return;
      page.document.hidden = !isVisible;
      page.document.dispatch('visibilitychange');
      page.window.dispatch('visibilitychange');
    },
  };
  return browser;
};
