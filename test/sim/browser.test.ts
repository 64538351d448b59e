import { describe, expect, it } from 'vitest';
import { createBrowser, MODERN } from '../../sim/browser/browser.ts';
import type { Page } from '../../sim/browser/page.ts';
import { createNetwork } from '../../sim/server/network.ts';
import { createWorld } from '../../sim/world/world.ts';

const start = (seed = 1) => {
  const world = createWorld(seed);
  const received: string[] = [];
  const network = createNetwork(world, {
    '/': ({ body }, answer) => {
      received.push(String(body));
      answer({ status: 201, headers: {}, text: '' });
    },
  });
  const browser = createBrowser(world, network, MODERN);
  const open = () => browser.open({ dataset: {}, sessionStorage: new Map() });
  const run = async (ms = 10_000) => {
    const end = world.scheduler.now() + ms;
    while (await world.scheduler.step(end));
    world.scheduler.skipTo(end);
  };
  return { world, browser, open, run, received };
};

interface Globals {
  indexedDB: IDBFactory;
  localStorage: Record<string, string>;
  navigator: Navigator;
  addEventListener: typeof addEventListener;
  fetch: typeof fetch;
}
const globalsOf = (page: Page) => page.window as unknown as Globals;

const openDatabase = (page: Page): Promise<IDBDatabase> =>
  new Promise((resolve) => {
    const request = globalsOf(page).indexedDB.open('db');
    request.onupgradeneeded = () => request.result.createObjectStore('db');
    request.onsuccess = () => resolve(request.result);
  });

/** Writes a row, and leaves the transaction to commit itself unless `commits`. */
const write = (database: IDBDatabase, key: string, commits = false): IDBTransaction => {
  const transaction = database.transaction('db', 'readwrite');
  transaction.objectStore('db').put('value', key);
  if (commits) transaction.commit();
  return transaction;
};

describe('IndexedDB', () => {
  const opened = async () => {
    const stage = start();
    const page = stage.open();
    let database: IDBDatabase | undefined;
    openDatabase(page).then((db) => {
      database = db;
    });
    await stage.run();
    return { ...stage, page, database: database as unknown as IDBDatabase };
  };

  it('completes a transaction that commits itself', async () => {
    const { database, browser, run } = await opened();
    let isComplete = false;
    write(database, 'a').oncomplete = () => {
      isComplete = true;
    };
    expect(browser.disk.rows()?.get('a')).toBeUndefined();
    await run();
    expect(isComplete).toBe(true);
    expect(browser.disk.rows()?.get('a')).toBe('value');
  });

  it.each([
    [true, 'value'],
    [false, undefined],
  ])('keeps what a page writes in pagehide if it calls commit(): %s', async (commits, value) => {
    const { database, browser, page, run } = await opened();
    globalsOf(page).addEventListener('pagehide', () => void write(database, 'a', commits));
    browser.leave(page, false);
    await run();
    expect(browser.disk.rows()?.get('a')).toBe(value);
  });

  it('aborts a committed transaction that waits behind another one when its page unloads', async () => {
    const { database, browser, page, open, run } = await opened();
    const other = open();
    let theirs: IDBDatabase | undefined;
    openDatabase(other).then((db) => {
      theirs = db;
    });
    await run();
    const holding = (theirs as unknown as IDBDatabase).transaction('db', 'readwrite').objectStore('db');
    const hold = () => {
      holding.count().onsuccess = hold;
    };
    hold();
    await run(20);
    write(database, 'a', true);
    browser.leave(page, false);
    await run(20);
    browser.crash(other);
    await run();
    expect(browser.disk.rows()?.get('a')).toBeUndefined();
  });

  it('aborts a transaction over quota when it commits', async () => {
    const { database, browser, run } = await opened();
    browser.disk.isFull = true;
    let name: string | undefined;
    const transaction = write(database, 'a');
    transaction.onabort = () => {
      name = transaction.error?.name;
    };
    await run();
    expect(name).toBe('QuotaExceededError');
    expect(browser.disk.rows()?.get('a')).toBeUndefined();
  });
});

describe('localStorage', () => {
  it('survives a crash, and a SIGKILL some seconds after the write', async () => {
    const { browser, open, run } = start();
    const page = open();
    globalsOf(page).localStorage.old = '1';
    await run();
    globalsOf(page).localStorage.young = '2';
    browser.crash(page);
    expect({ ...globalsOf(open()).localStorage }).toEqual({ old: '1', young: '2' });
    browser.kill();
    expect({ ...globalsOf(open()).localStorage }).toEqual({ old: '1' });
  });
});

describe('a page that unloads', () => {
  it('still sends beacons, up to 64 KiB together', async () => {
    const { browser, open, run, received } = start();
    const page = open();
    const taken: boolean[] = [];
    globalsOf(page).addEventListener('pagehide', () => {
      for (const letter of ['a', 'b']) taken.push(globalsOf(page).navigator.sendBeacon('/', letter.repeat(40_000)));
    });
    browser.leave(page, false);
    await run();
    expect(taken).toEqual([true, false]);
    expect(received.map((body) => body[0])).toEqual(['a']);
  });

  it('runs none of its timers', async () => {
    const { browser, open, run } = start();
    const page = open();
    let isRun = false;
    (page.window.setTimeout as typeof setTimeout)(() => {
      isRun = true;
    }, 5);
    browser.leave(page, false);
    await run();
    expect(isRun).toBe(false);
  });

  it('continues in its previous state after its return from the back/forward cache', async () => {
    const { browser, open, run } = start();
    const page = open();
    let isRun = false;
    (page.window.setTimeout as typeof setTimeout)(() => {
      isRun = true;
    }, 5);
    browser.leave(page, true);
    await run();
    expect(isRun).toBe(false);
    browser.restore(page);
    await run();
    expect(isRun).toBe(true);
  });
});
