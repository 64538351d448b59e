import { createBrowser, MODERN } from '../browser/browser.ts';
import type { Page } from '../browser/page.ts';
import { createNetwork } from '../server/network.ts';
import { createProgram } from '../world/program.ts';
import { createWorld } from '../world/world.ts';
import type { FactBrowser, FactTab, Holder } from './fact.ts';

/** How long (virtual ms) a call in a page may take. */
const PATIENCE = 60_000;
const HELD = '/held/';
const EMPTY = { status: 200, headers: {}, text: '' };
/** Time (virtual ms) after which every request has arrived. */
const TRAVEL = 1000;

/** The facts include that a tab sees the writes of other tabs late. */
const FEATURES = { ...MODERN, hasLag: true };

/** The simulated browser behind the interface of real ones. Virtual time passes while a call waits for its promise. */
export const createSimulatedBrowser = (seed: number): FactBrowser => {
  const world = createWorld(seed);
  const held = new Map<string, () => void>();
  const network = createNetwork(world, {
    '/blank': (_request, answer) => answer(EMPTY),
    [HELD]: ({ url }, answer) => void held.set(url, () => answer(EMPTY)),
  });
  const browser = createBrowser(world, network, FEATURES);

  const settle = async (result: unknown): Promise<unknown> => {
    let settled: { value: unknown } | undefined;
    let failed: { cause: unknown } | undefined;
    Promise.resolve(result).then(
      (value) => {
        settled = { value };
      },
      (cause) => {
        failed = { cause };
      },
    );
    const until = world.scheduler.now() + PATIENCE;
    // A promise that the call itself resolves settles without a task of the scheduler.
    await new Promise((resolve) => setImmediate(resolve));
    while (!settled && !failed) {
      if (!(await world.scheduler.step(until))) throw new Error(`nothing has happened for ${PATIENCE} virtual ms`);
    }
    if (failed) throw failed.cause;
    return settled?.value;
  };

  const open = (isPrerendering = false) => browser.open({ dataset: {}, sessionStorage: new Map(), isPrerendering });
  const run = (page: Page, fn: unknown, arg?: unknown): unknown => {
    const evaluate = page.run(createProgram(`return (${fn})`, 'fact.js')) as (arg: unknown) => unknown;
    return evaluate(structuredClone(arg));
  };

  const createTab = (): FactTab => {
    let page = open();
    let left: Page | undefined;
    const hasLeft = async () => {
      while (page.state === 'running') await world.scheduler.step(world.scheduler.now());
    };
    const depart = (isCached: boolean) => {
      browser.leave(page, isCached);
      return hasLeft();
    };
    return {
      async evaluate<R, A>(fn: (arg: A) => R | Promise<R>, arg?: A): Promise<R> {
        const result = await settle(run(page, fn, arg));
        return (result === undefined ? undefined : JSON.parse(JSON.stringify(result))) as R;
      },
      async navigate() {
        await depart(false);
        page = open();
      },
      async leave() {
        await depart(true);
        left = page;
        page = open();
      },
      async back() {
        await depart(false);
        page = left?.state === 'suspended' ? left : open();
        browser.restore(page);
      },
      async crash() {
        browser.crash(page);
      },
      async freeze() {
        browser.show(page, false);
        if (!browser.freeze(page)) throw new Error('the browser does not freeze the page');
        await hasLeft();
      },
      async thaw() {
        browser.thaw(page);
        browser.show(page, true);
      },
    };
  };
  const holder: Holder = {
    address: HELD,
    async arrived() {
      const until = world.scheduler.now() + TRAVEL;
      while (await world.scheduler.step(until));
      world.scheduler.skipTo(until);
    },
    hasArrived: (path) => held.has(HELD + path),
    answer: (path) => held.get(HELD + path)?.(),
    isAwaited: (path) => network.requests.some(({ request, end }) => request.url === HELD + path && !end),
    isGivenUp: async (path) => network.requests.some(({ request, end }) => request.url === HELD + path && end),
  };
  return {
    holder,
    open: async () => createTab(),
    prerender(fn) {
      const page = open(true);
      const result = run(page, fn);
      browser.activate(page);
      return settle(result);
    },
  };
};
