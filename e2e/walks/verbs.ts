import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, Tab } from '../faults/engines/engine.ts';
import type { Handler } from '../faults/support/exchange.ts';
import { answer, halfBody, resetAfterRequest, resetAfterStoring, resetMidRequest } from '../faults/support/faults.ts';
import type { Stage } from '../faults/support/stage.ts';
import type { Verb } from './walk.ts';

declare global {
  interface Window {
    /** The numbers that this page has tracked, and that its memory may have. */
    walked?: number[];
    isOld?: boolean;
  }
}

interface WalkTab {
  readonly tab: Tab;
  /** Paths, the current one last. */
  readonly history: string[];
  /** Whether the tab shows the browser's own error page, because there was no connection. */
  isBroken: boolean;
  /** Paths of the pages that were in the back/forward cache when the site's data were cleared. */
  readonly forgotten: Set<string>;
  /** Whether such a page has returned. The page drops all later events, because cleared data look like a refusal of consent. */
  isRefused: boolean;
}

/** The state of a walk. */
export interface World {
  readonly stage: Stage;
  /** None before the first page, and after a kill or a quit. */
  browser: Engine | undefined;
  tabs: WalkTab[];
  isOffline: boolean;
  /** How many pages there have been. Each has a path of its own. */
  pages: number;
  tracked: number[];
  /** Numbers that only the memory of pages has had since the site's data were cleared. */
  exposed: Set<number>;
}

export const createWorld = (stage: Stage): World => ({
  stage,
  browser: undefined,
  tabs: [],
  isOffline: false,
  pages: 0,
  tracked: [],
  exposed: new Set(),
});

const MOST_TABS = 5;
const ONE_BURST = 200;
const NOBODY = 'nobody there';

const choose = <T>(from: readonly T[], pick: number): T | undefined => from[Math.floor(pick * from.length)];
const usable = ({ tabs }: World): WalkTab[] => tabs.filter(({ isBroken }) => !isBroken);
const newPath = (world: World) => `/page/${++world.pages}`;
const show = (numbers: number[]) => (numbers[1] === undefined ? `${numbers[0]}` : `${numbers[0]}–${numbers.at(-1)}`);

/** Waits until the page at this path, or the browser's error page, has loaded. Returns whether it is the page. */
const isReached = async (tab: Tab, path: string): Promise<boolean> => {
  for (;;) {
    const look = () => [location.protocol, location.pathname, window.isOld ? '' : document.readyState];
    // Between two pages, `evaluate` fails.
    const [protocol, there, state] = await tab.evaluate(look).catch(() => []);
    if (protocol === 'chrome-error:') return false;
    if (there === path && state === 'complete') return true;
    await pause(20);
  }
};

const openTab = async (world: World): Promise<WalkTab> => {
  world.browser ??= await world.stage.openOwn();
  const path = newPath(world);
  const tab = await world.stage.visit({ browser: world.browser, path, wait: 'load' });
  const opened = { tab, history: [path], isBroken: false, forgotten: new Set<string>(), isRefused: false };
  world.tabs.push(opened);
  return opened;
};

/** One of the tabs with a page in it. If there is none and the network works, a tab is opened. */
const anyTab = async (world: World, pick: number): Promise<WalkTab | undefined> =>
  choose(usable(world), pick) ?? (world.isOffline ? undefined : openTab(world));

const nameOf = ({ history }: WalkTab) => history.at(-1);
const inTab =
  (act: (tab: WalkTab, world: World, pick: number) => Promise<string>) => async (world: World, pick: number) => {
    const tab = await anyTab(world, pick);
    return tab ? `${nameOf(tab)}: ${await act(tab, world, (pick * 97) % 1)}` : NOBODY;
  };

type Numbers = { run: string; from: number; count: number };

/** Tracks in one task. With `path`, it leaves for that page in the same task. */
const trackHere = ({ run, from, count, path }: Numbers & { path?: string }) => {
  window.walked ??= [];
  for (let n = from; n < from + count; n++) {
    window.walked.push(n);
    window.clew('track', 'ledger', { run, n });
  }
  if (path) location.href = path;
};

const next = (world: World, { isRefused }: WalkTab, count: number): [numbers: Numbers, all: number[]] => {
  const numbers = world.stage.next(count);
  const all = Array.from({ length: count }, (_, index) => numbers.from + index);
  world.tracked.push(...all);
  if (isRefused) world.stage.unsure(all);
  return [numbers, all];
};

const track = (most: number) =>
  inTab(async (walked, world, pick) => {
    const [numbers, all] = next(world, walked, most > 1 ? most : 1 + Math.floor(pick * 5));
    await walked.tab.evaluate(trackHere, numbers);
    return show(all);
  });

const arrive = async (walked: WalkTab, path: string, what: string) => {
  walked.isBroken = !(await isReached(walked.tab, path));
  walked.isRefused = false;
  return walked.isBroken ? `${what}, no connection` : what;
};

const memoryOf = (tabs: WalkTab[]): Promise<number[][]> =>
  Promise.all(tabs.map(({ tab }) => tab.evaluate(() => window.walked ?? [])));
const missing = async ({ stage, tracked }: World): Promise<number[]> => {
  const arrived = new Set((await stage.arrived()).map(({ payload }) => (payload as { n: number }).n));
  return tracked.filter((n) => !arrived.has(n));
};

/** These pages end without `pagehide`, so events that only their memory has may be lost. */
const forgetMemory = async (world: World, tabs: WalkTab[]) => {
  if (!world.exposed.size) return;
  const memory = new Set((await memoryOf(tabs.filter(({ isBroken }) => !isBroken))).flat());
  world.stage.unsure((await missing(world)).filter((n) => world.exposed.has(n) && memory.has(n)));
};

/** Waits until every page's database, if there is one, is open and has the events that were tracked meanwhile. */
const awaitDatabases = ({ tabs, stage }: World) =>
  Promise.all(
    tabs.map(async ({ tab }) => {
      await tab.evaluate(async () => void (await window.clew?.('correlationValue'))).catch(() => {});
      // A read waits for the writes before it.
      await stage.stored(tab).catch(() => {});
    }),
  );

const endBrowser = (how: 'kill' | 'quit') => async (world: World) => {
  const { browser } = world;
  if (!browser) return NOBODY;
  if (how === 'kill') {
    // Only committed rows of the database survive a SIGKILL (docs/delivery.md, Limits).
    await Promise.race([awaitDatabases(world), pause(5000)]);
    await forgetMemory(world, world.tabs);
  }
  world.browser = undefined;
  world.tabs = [];
  await browser[how]();
  return 'gone';
};

const setFault =
  (choices: Handler[]) =>
  async ({ stage }: World, pick: number) => {
    const index = Math.floor(pick * choices.length);
    stage.site.fault = choices[index];
    return `kind ${index + 1}`;
  };

/** Delays the answer by `ms` ms. Then the request is forwarded, or its connection breaks. */
const hangFor =
  (ms: number, end: 'forward' | 'reset'): Handler =>
  async ({ forward, response }) => {
    await pause(ms);
    if (end === 'forward') await forward();
    else response.socket?.resetAndDestroy();
  };

/** The action of each verb, which resolves to a line about the result. */
export const verbs: Record<Verb, (world: World, pick: number) => Promise<string>> = {
  track: track(1),
  burst: track(ONE_BURST),
  identify: inTab(async ({ tab }, _world, pick) => {
    const person = `person-${Math.floor(pick * 3)}`;
    await tab.evaluate((key) => void window.clew('identify', key), person);
    return person;
  }),
  reset: inTab(async ({ tab }) => {
    await tab.evaluate(() => void window.clew('reset'));
    return 'logged out';
  }),
  navigate: async (world, pick) => {
    const walked = choose(world.tabs, pick) ?? (await anyTab(world, pick));
    if (!walked) return NOBODY;
    const path = newPath(world);
    const from = nameOf(walked);
    walked.history.push(path);
    if (walked.isBroken) {
      await walked.tab.goto(world.stage.site.origin + path).catch(() => {});
      return arrive(walked, path, `${from} → ${path}`);
    }
    const [numbers, all] = next(world, walked, 2);
    // The page may be gone before `evaluate` returns.
    await walked.tab.evaluate(trackHere, { ...numbers, path }).catch(() => {});
    return arrive(walked, path, `${show(all)}, ${from} → ${path}`);
  },
  back: async (world, pick) => {
    const walked = choose(
      world.tabs.filter(({ history }) => history[1]),
      pick,
    );
    if (!walked) return 'nowhere to go back to';
    const from = walked.history.pop();
    const path = nameOf(walked) ?? '';
    await walked.tab.back();
    const said = await arrive(walked, path, `${from} → ${path}`);
    if (walked.isBroken || !walked.forgotten.has(path)) return said;
    const [memory = []] = await memoryOf([walked]);
    // A page with numbers in its memory comes from the cache, because a new page has none.
    walked.isRefused = memory.length > 0;
    world.stage.unsure((await missing(world)).filter((n) => memory.includes(n)));
    return `${said}, with nothing left of the visitor`;
  },
  reload: inTab(async (walked) => {
    const leave = () => {
      window.isOld = true;
      location.reload();
    };
    await walked.tab.evaluate(leave).catch(() => {});
    return arrive(walked, nameOf(walked) ?? '', 'again');
  }),
  'new tab': async (world) => {
    if (world.isOffline || world.tabs.length >= MOST_TABS) return 'none';
    return `${nameOf(await openTab(world))}`;
  },
  'close tab': async (world, pick) => {
    const walked = choose(world.tabs, pick);
    if (!walked) return NOBODY;
    world.tabs = world.tabs.filter((other) => other !== walked);
    await walked.tab.close();
    return `${nameOf(walked)}`;
  },
  crash: inTab(async (walked, world) => {
    await forgetMemory(world, [walked]);
    world.tabs = world.tabs.filter((other) => other !== walked);
    await walked.tab.crash?.();
    await walked.tab.close();
    return 'crashed';
  }),
  kill: endBrowser('kill'),
  quit: endBrowser('quit'),
  offline: async (world) => {
    world.isOffline = true;
    await world.browser?.setOffline?.(true);
    await world.stage.site.refuse();
    return '';
  },
  online: async (world) => {
    world.isOffline = false;
    await world.stage.site.accept();
    await world.browser?.setOffline?.(false);
    return '';
  },
  'answer 500': setFault([answer(500)]),
  'answer 429': setFault([answer(429, { headers: { 'Retry-After': '1' } })]),
  hang: setFault([hangFor(500, 'forward'), hangFor(1500, 'forward'), hangFor(500, 'reset'), hangFor(1500, 'reset')]),
  'reset connection': setFault([
    resetAfterRequest(),
    resetAfterStoring(),
    resetMidRequest(),
    halfBody({ isStored: true }),
  ]),
  'fault off': async ({ stage }) => {
    stage.site.fault = undefined;
    return '';
  },
  'clear site data': async (world, pick) => {
    const walked = await anyTab(world, pick);
    if (!walked) return NOBODY;
    const session = await world.browser?.cdp?.(walked.tab);
    await session?.send('Storage.clearDataForOrigin', { origin: world.stage.site.origin, storageTypes: 'all' });
    for (const { history, forgotten } of world.tabs) for (const path of history.slice(0, -1)) forgotten.add(path);
    const memory = new Set((await memoryOf(usable(world))).flat());
    const left = await missing(world);
    const gone = left.filter((n) => !memory.has(n));
    // Numbers in no page's memory are gone now. Numbers in the memory of an open page have to arrive.
    world.stage.unsure(gone);
    for (const n of left) if (memory.has(n)) world.exposed.add(n);
    return `${left.length} had not arrived, ${gone.length} of them are in no page's memory`;
  },
};
