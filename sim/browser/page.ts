import type { Program } from '../world/program.ts';
import { createLane, type Lane, type Owner, type Task } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import { createAborting } from './abort.ts';
import type { Browser } from './browser.ts';
import { createClockwork } from './clockwork.ts';
import { clone } from './clone.ts';
import { createCookies } from './cookies.ts';
import { createEvents, type Events } from './events.ts';
import { createFetching, type Fetching, ORIGIN } from './fetching.ts';
import { createIndexedDb } from './indexedDb.ts';
import { keyRanges } from './keys.ts';
import { createPacking } from './packing.ts';
import { createStorage } from './storage.ts';
import { TabStorage } from './tabStorage.ts';

/** `clew` in a page: the stub until the bundle has loaded, then the tracker. */
export type Clew = (method: string, ...args: unknown[]) => unknown;

/**
 * The storage that the browser refuses to a page. `database`: `open` fails, as in private windows of older browsers.
 * `all`: every use of storage throws, as in sandboxed frames.
 * https://html.spec.whatwg.org/multipage/webstorage.html#dom-localstorage
 */
export type Refusal = 'nothing' | 'database' | 'all';

const HOST = 'shop.example';

const REFUSED = { isRefused: true, most: 0 };

export interface PageOptions {
  /** `data-` attributes of the script tag, in camel case. */
  readonly dataset: Readonly<Record<string, string>>;
  readonly sessionStorage: Map<string, string>;
  readonly isPrerendering?: boolean;
}

/** The key of an entry without its ids. */
const shortOf = (key: string): string => key.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => id.slice(0, 4));

/** One document, with globals of its own: those that clew uses. */
export interface Page extends Owner {
  state: Owner['state'];
  readonly held: Task[];
  /** Events of the database are dispatched in order. */
  readonly databaseLane: Lane;
  readonly window: Events & Record<string, unknown>;
  readonly document: Events & { hidden: boolean; prerendering: boolean };
  readonly fetching: Fetching;
  readonly channels: Set<Channel>;
  /** localStorage as the page sees it. */
  readonly storage: Map<string, string>;
  readonly refusal: Refusal;
  /** Whether the page is suspended in its tab, not in the back/forward cache. */
  isFrozen: boolean;
  /** Whether it is suspended there by a long task of its own: then messages wait, too. */
  isStalled: boolean;
  /** Virtual time (ms) when its first transaction completed. */
  storedAt: number | undefined;
  /** Number of Web Locks that the page holds. The page leaves the back/forward cache when another page asks for a lock. */
  locks: number;
  /**
   * Another page waits for the database: the browser drops this page from the back/forward cache, or thaws it. The other page has to wait
   * for the end of a long task.
   */
  evict(): void;
  /** Runs code of the page. An exception breaks the invariant "no exception reaches the page". */
  guard(run: () => void): void;
  /** Runs the program in the page. Returns what the program returns. */
  run(program: Program): unknown;
  clew(): Clew | undefined;
}

export interface Channel {
  readonly name: string;
  readonly lane: Lane;
  receive(data: unknown): void;
}

export const createPage = (world: World, browser: Browser, name: string, options: PageOptions): Page => {
  const { scheduler } = world;
  const guard = (run: () => void) => {
    try {
      run();
    } catch (error) {
      world.break('no exception reaches the page', `${name}: ${(error as Error)?.stack ?? error}`);
    }
  };
  const document = Object.assign(createEvents(guard), {
    hidden: options.isPrerendering ?? false,
    prerendering: options.isPrerendering ?? false,
    currentScript: { dataset: { ...options.dataset } },
    // The stub asks whether the script tag has one of these attributes.
    querySelector: (selector: string) => {
      const isRequired = selector.includes('[data-consent*=required i]') && options.dataset.consent === 'required';
      return isRequired || (selector.includes('[data-respect-gpc]') && 'respectGpc' in options.dataset) ? {} : null;
    },
    title: name,
    referrer: '',
    readyState: 'complete',
  });
  const page: Page = {
    name,
    state: 'running',
    held: [],
    databaseLane: createLane(),
    window: {} as Page['window'],
    document,
    fetching: undefined as unknown as Fetching,
    channels: new Set(),
    storage: browser.hasLag ? new TabStorage(world, browser) : browser.localStorage,
    refusal: browser.refusal,
    storedAt: undefined,
    locks: 0,
    isFrozen: false,
    isStalled: false,
    evict() {
      if (!page.isFrozen) browser.evict(page);
      else if (!page.isStalled) browser.thaw(page);
    },
    guard,
    run: (program) => program(globals),
    clew: () => page.window.clew as Clew | undefined,
  };
  const clockwork = createClockwork(world, page, guard, world.clock, () => !!browser.hasThrottling && document.hidden);
  Object.assign(page, { fetching: createFetching(world, browser, page) });

  class BroadcastChannel implements Channel {
    onmessage: ((event: { data: unknown }) => void) | null = null;
    readonly lane = createLane();
    constructor(readonly name: string) {
      page.channels.add(this);
    }
    postMessage(data: unknown) {
      browser.broadcast(this, clone(data));
    }
    receive(data: unknown) {
      const label = `${name} message`;
      const deliver = () => {
        if (!page.channels.has(this)) return;
        if (page.isStalled) scheduler.after(0, label, deliver, { owner: page, lane: this.lane });
        else if (page.state === 'suspended' && !page.isFrozen) browser.evict(page);
        else guard(() => this.onmessage?.({ data }));
      };
      // The task has no owner, because a message reaches a frozen page at once, and ends a page in the back/forward cache.
      scheduler.after(world.random.between(0, 5), label, deliver, { lane: this.lane });
    }
    close() {
      page.channels.delete(this);
    }
  }

  const locks = {
    async request(_name: string, run: () => unknown) {
      for (const other of browser.pages) if (other.locks && !other.isFrozen) browser.evict(other);
      page.locks++;
      try {
        return await run();
      } finally {
        page.locks--;
      }
    },
  };

  const onWrite = (value: unknown) => void browser.writes.push({ at: scheduler.now(), page: name, value });
  /** A page must not write while it is prerendering. */
  const onStored = (key: string, before: string | undefined, written: string | undefined) => {
    const what = written === undefined ? 'deletes from' : 'writes into';
    if (before !== written) world.log(name, () => `${what} localStorage: ${shortOf(key)}`);
    if (written !== undefined && document.prerendering)
      world.break('a prerendered page sends and stores nothing', `${name}: localStorage`);
    if (written !== undefined) onWrite(written);
    browser.saveSoon();
  };
  Object.defineProperty(
    document,
    'cookie',
    createCookies(browser.cookies, {
      host: HOST,
      refusal: page.refusal,
      onStored(text) {
        if (document.prerendering) world.break('a prerendered page sends and stores nothing', `${name}: a cookie`);
        onWrite(text);
        browser.saveCookiesSoon();
      },
      onDeleted: browser.saveCookiesSoon,
    }),
  );
  const limits = page.refusal === 'all' ? REFUSED : browser.storageLimits;
  const sandbox = {
    ...createEvents(guard),
    ...clockwork,
    ...createAborting((delay, run) => void clockwork.setTimeout(run, delay)),
    document,
    navigator: {
      get onLine() {
        return browser.isOnline;
      },
      sendBeacon: page.fetching.sendBeacon,
      ...(browser.hasLocks && { locks }),
      ...(browser.hasGpc && { globalPrivacyControl: true }),
      userAgent: 'simulated',
    },
    location: {
      href: `${ORIGIN}/`,
      hostname: HOST,
      pathname: '/',
      origin: ORIGIN,
    },
    localStorage: createStorage(page.storage, limits, onStored),
    sessionStorage: createStorage(options.sessionStorage, limits),
    indexedDB: createIndexedDb(world, browser.disk, page, onWrite),
    IDBKeyRange: keyRanges,
    ...(browser.hasChannel && { BroadcastChannel }),
    fetch: page.fetching.fetch,
    ...(browser.hasFetchLater && { fetchLater: page.fetching.fetchLater }),
    Response: createPacking(world, page, browser.hasSlowGzip),
    CompressionStream: class {},
    TextEncoder,
    TextDecoder,
    URL,
    DOMException,
    structuredClone: clone,
    queueMicrotask: (run: () => void) => queueMicrotask(() => guard(run)),
    reportError: (error: unknown) => world.log(name, () => `listener threw ${error}`),
    console: { error: () => {}, log: () => {}, warn: () => {}, debug: () => {}, info: () => {} },
  };
  const { window } = page;
  Object.assign(window, sandbox, { window, self: window, globalThis: window });
  const globals = { ...window };
  return page;
};

/** Whether the tracker runs in the page, and not only the stub. */
export const isLoaded = (page: Page): boolean => {
  const clew = page.clew();
  return !!clew && !('q' in clew);
};
