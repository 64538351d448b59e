import { createBrowser, MODERN } from '../browser/browser.ts';
import type { Page } from '../browser/page.ts';
import { createNetwork } from '../server/network.ts';
import { createProgram } from '../world/program.ts';
import { createWorld } from '../world/world.ts';
import type { FactBrowser, FactTab, Holder } from './fact.ts';

/** How long (virtual ms) a call in a page may take. */
const PATIENCE = 60_000;
const HELD = '/held/';
/** Time (virtual ms) after which every request has arrived. */
const TRAVEL = 1000;

/** The simulated browser behind the interface of real ones. Virtual time passes while a call waits for its promise. */
export const createSimulatedBrowser = (seed: number): FactBrowser => {
  const world = createWorld(seed);
  const network = createNetwork(world, {
    '/blank': (_request, answer) => answer({ status: 200, headers: {}, text: '' }),
    [HELD]: () => {},
  });
  const browser = createBrowser(world, network, MODERN);

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

  const createTab = (): FactTab => {
    const open = () => browser.open({ dataset: {}, sessionStorage: new Map() });
    let page: Page = open();
    return {
      async evaluate<R, A>(fn: (arg: A) => R | Promise<R>, arg?: A): Promise<R> {
        const evaluate = page.run(createProgram(`return (${fn})`, 'fact.js')) as (arg: unknown) => unknown;
        const result = await settle(evaluate(structuredClone(arg)));
        return (result === undefined ? undefined : JSON.parse(JSON.stringify(result))) as R;
      },
      async navigate() {
        browser.leave(page, false);
        await world.scheduler.step(world.scheduler.now());
        page = open();
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
    isGivenUp: async (path) => network.requests.some(({ request, end }) => request.url === HELD + path && end),
  };
  return { holder, open: async () => createTab() };
};
