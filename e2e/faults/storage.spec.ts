import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    /** Connections that pages have opened. */
    connections: IDBDatabase[];
    /** How many transactions still have to fail. */
    losses: { thrown: number; aborted: number };
    deleteDatabase(): Promise<string>;
  }
}

const deleteByItself = () => {
  window.deleteDatabase = () =>
    new Promise((resolve) => {
      const request = indexedDB.deleteDatabase('clew');
      // A running transaction blocks the deletion for a moment.
      request.onblocked = () => setTimeout(resolve, 5000, 'blocked');
      request.onsuccess = () => resolve('deleted');
    });
};

fault(
  42,
  'database deleted while open, by the site itself, with two tabs',
  async (stage) => {
    stage.site.fault = answer(503);
    const query = before(deleteByItself);
    const tabs = [await stage.visit({ query }), await stage.visit({ query })] as const;
    for (const tab of tabs) await stage.track(tab, 10);
    await expect.poll(() => stage.stored(tabs[0])).toBe(20);
    // The database is deleted twice, the second time right after it was opened again.
    expect(await tabs[0].evaluate(() => window.deleteDatabase())).toBe('deleted');
    for (const tab of tabs) await stage.track(tab, 5);
    // The events that were stored before are stored again.
    await expect.poll(() => stage.stored(tabs[0])).toBe(30);
    expect(await tabs[1].evaluate(() => window.deleteDatabase())).toBe('deleted');
    stage.site.fault = undefined;
    for (const tab of tabs) {
      await tab.evaluate(() => void window.clew('flush'));
      await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(15);
      expect(await tab.evaluate(() => window.told.errors)).toEqual([]);
    }
  },
  { isEngines: true },
);

/** Opens a page with 10 unsent events, and clears the site's data. */
const visitAndClear = async (stage: Stage) => {
  const { site } = stage;
  site.files.set('/cleared', { type: 'text/plain', body: '', headers: { 'Clear-Site-Data': '"storage"' } });
  site.fault = answer(503);
  const tab = await stage.visit();
  await stage.track(tab, 10);
  await expect.poll(() => stage.stored(tab)).toBe(10);
  if (stage.browser.cdp) {
    const session = await stage.browser.cdp(tab);
    await session.send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'all' });
  } else await tab.evaluate(() => fetch('/cleared').then((response) => response.text()));
  return tab;
};

fault(42, 'database deleted while open, by "clear site data"', async (stage) => {
  const tab = await visitAndClear(stage);
  await stage.track(tab, 5);
  await expect.poll(() => stage.stored(tab)).toBe(15);
  stage.site.fault = undefined;
  await tab.evaluate(() => void window.clew('flush'));
  await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(15);
});

fault(
  42,
  'database deleted while open, by "clear site data", and no request succeeds during unload',
  async (stage) => {
    const tab = await visitAndClear(stage);
    await stage.visit({ tab, path: '/page/2' });
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

fault(
  42,
  'database deleted while open, by "clear site data", and a renderer crash after the next event',
  async (stage) => {
    const tab = await visitAndClear(stage);
    await stage.track(tab);
    await expect.poll(() => stage.stored(tab)).toBe(11);
    await tab.crash?.();
  },
  {
    shownBy: ['sim/walk/actions.ts'],
    cannot: { firefox: 'its driver cannot crash a page', webkit: 'its driver cannot crash a page' },
  },
);

/** Lets the test break connections and transactions. */
const loseConnections = () => {
  window.connections = [];
  window.losses = { thrown: 0, aborted: 0 };
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...args) {
    const request = open.apply(this, args);
    request.addEventListener('success', () => window.connections.push(request.result));
    return request;
  };
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...args) {
    const { losses } = window;
    if (losses.thrown-- > 0)
      throw new DOMException(
        'Connection to Indexed Database server lost. Refresh the page to try again',
        'UnknownError',
      );
    const made = transaction.apply(this, args);
    if (losses.aborted-- > 0) {
      made.commit = () => {};
      queueMicrotask(() => made.abort());
    }
    return made;
  };
};

fault(45, '"connection lost" during the visit: closed, refused, aborted', async (stage) => {
  const browser = await stage.openOwn();
  stage.site.fault = answer(503);
  const tab = await stage.visit({ browser, query: before(loseConnections) });
  await stage.track(tab, 10);
  await expect.poll(() => stage.stored(tab)).toBe(10);
  const breaks = [
    () => {
      for (const connection of window.connections) {
        connection.close();
        connection.dispatchEvent(new Event('close'));
      }
    },
    () => {
      window.losses = { thrown: 1, aborted: 0 };
    },
    () => {
      window.losses = { thrown: 0, aborted: 1 };
    },
  ];
  let count = 10;
  for (const lose of breaks) {
    await tab.evaluate(lose);
    await stage.track(tab, 10);
    count += 10;
    await expect.poll(() => stage.stored(tab)).toBe(count);
  }
  // The tracker recovered without an error.
  expect(await tab.evaluate(() => window.told.errors)).toEqual([]);
  // The page then waits after a failure, and has no lease that would have to end first.
  await tab.evaluate(() => window.clew('flush'));
  await browser.kill();
});
