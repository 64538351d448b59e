import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import type { Stage } from './support/stage.ts';
import { attemptsOf, countAttempts, deliveredTo, stir } from './support/witness.ts';

/** Tracks and leaves for another site in the same task. Resolves once the tab is there. */
const leave = async (stage: Stage, tab: Tab) => {
  const numbers = { ...stage.next(5), url: `${stage.demo.address}/blank` };
  // The page may be gone before `evaluate` returns.
  await tab
    .evaluate(({ run, from, count, url }) => {
      for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
      location.href = url;
    }, numbers)
    .catch(() => {});
  await stage.reached(tab, '/blank');
};

fault(19, 'connection refused while navigator.onLine is true, also at the moment of leaving', async (stage) => {
  const tab = await stage.visit();
  await countAttempts(tab);
  await stage.site.refuse();
  await stage.track(tab, 5);
  await expect.poll(async () => (await attemptsOf(tab)).failed).toBeGreaterThan(0);
  expect(await tab.evaluate(() => navigator.onLine)).toBe(true);
  await leave(stage, tab);
  expect(stage.site.requests).toEqual([]);
});

fault(
  19,
  'connection refused during unload only, after a success',
  async (stage) => {
    const tab = await stage.visit();
    await stage.track(tab, 5);
    await expect.poll(() => deliveredTo(tab)).toBe(5);
    await stage.site.refuse();
    await leave(stage, tab);
    // This request is refused, so the handover before it was refused, too.
    const isRefused = (url: string) =>
      fetch(url, { mode: 'no-cors' }).then(
        () => false,
        () => true,
      );
    expect(await tab.evaluate(isRefused, stage.site.origin)).toBe(true);
    expect(stage.site.requests.length).toBe(1);
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

/** No resolver is asked for this name, because its label is too long. https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4 */
const NOWHERE = `http://${'clew'.repeat(16)}.invalid`;

fault(
  19,
  'name not resolved while navigator.onLine is true, also at the moment of leaving',
  async (stage) => {
    const query = `data-base-url=${NOWHERE}/clew`;
    const tab = await stage.visit({ query });
    await countAttempts(tab);
    await stage.track(tab, 5);
    await expect.poll(async () => (await attemptsOf(tab)).failed).toBeGreaterThan(0);
    expect(await tab.evaluate(() => navigator.onLine)).toBe(true);
    await leave(stage, tab);
    await stage.visit({ tab, path: '/blank', wait: 'load' });
    expect(await stage.stored(tab)).toBe(10);
    expect(stage.site.requests).toEqual([]);
    // This name cannot start to resolve. Instead, the page sends its requests to its own origin from now on.
    await stage.visit({ tab, query });
    await tab.evaluate((nowhere) => {
      const { fetch } = window;
      window.fetch = (url, init) => fetch(String(url).replace(nowhere, ''), init);
    }, NOWHERE);
    await stir(tab);
    await expect.poll(() => stage.arrived()).toHaveLength(10);
    await expect.poll(() => stage.stored(tab)).toBe(0);
  },
  { isLong: true },
);
