import { expect, it } from 'vitest';
import { createBrowser } from '../../sim/browser/browser.ts';
import { loadScripts } from '../../sim/bundle.ts';
import { createNetwork } from '../../sim/server/network.ts';
import { createWorld } from '../../sim/world/world.ts';

/** The names of all properties in these values. */
const namesIn = (values: readonly unknown[]): string[] => {
  const names = new Set<string>();
  JSON.stringify(values, (name, value) => {
    // Lists have numbers, and the visitor's keys have the name of the service.
    if (!/^\d*$|^\//.test(name)) names.add(name);
    return value;
  });
  return [...names].toSorted();
};

it('clew.js stores its data under the names that the sources give them', async () => {
  const { tag } = await loadScripts();
  const world = createWorld(1);
  const browser = createBrowser(world, createNetwork(world, {}));
  const page = browser.open({ dataset: { baseUrl: '/clew' }, sessionStorage: new Map(), isPrerendering: false });
  page.run(tag);
  page.clew()?.('identify', 'customer-1', undefined, { signature: 'proof' });
  page.clew()?.('track', 'signup');
  const inLocalStorage = () => namesIn([...browser.localStorage.values()].map((text) => JSON.parse(text)));
  const hint = ['keys', 'pages', 'thread', 'turn'];
  while (!inLocalStorage().includes('texts')) await world.scheduler.step(1e6);
  expect(inLocalStorage()).toEqual([...hint, 'at', 'isLeft', 'texts', 'visitor'].toSorted());

  const end = world.scheduler.now() + 60_000;
  while (await world.scheduler.step(end));
  const link = ['asked', 'by', 'fails', 'okAt', 'refused', 'until'];
  expect(namesIn(browser.disk.committed())).toEqual([...hint, ...link, 'epochs', 'since', 'taken'].toSorted());
});
