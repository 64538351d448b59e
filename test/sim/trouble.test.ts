import { describe, expect, it } from 'vitest';
import { createBrowser, MODERN } from '../../sim/browser/browser.ts';
import type { Page } from '../../sim/browser/page.ts';
import { createNetwork } from '../../sim/server/network.ts';
import { createWorld } from '../../sim/world/world.ts';

const start = () => {
  const world = createWorld(1);
  const browser = createBrowser(world, createNetwork(world, {}), { ...MODERN, hasThrottling: true });
  const open = (isPrerendering = false) => browser.open({ dataset: {}, sessionStorage: new Map(), isPrerendering });
  const run = async (ms = 10_000) => {
    const end = world.scheduler.now() + ms;
    while (await world.scheduler.step(end));
    world.scheduler.skipTo(end);
  };
  return { world, browser, open, run };
};

interface Globals {
  indexedDB: IDBFactory;
  localStorage: Record<string, string>;
  setTimeout: (run: () => void, delay: number) => number;
  Date: DateConstructor;
}
const globalsOf = (page: Page) => page.window as unknown as Globals;

/** Opens the database and notes its events. */
const openDatabase = (page: Page) => {
  const seen: string[] = [];
  const request = globalsOf(page).indexedDB.open('db');
  request.onupgradeneeded = () => request.result.createObjectStore('db');
  request.onerror = () => seen.push('error');
  request.onsuccess = () => {
    seen.push('open');
    request.result.onclose = () => seen.push('closed');
    Object.assign(page, { database: request.result });
  };
  return seen;
};

/** Notes events of the document. */
const listen = (page: Page, ...types: string[]) => {
  const seen: string[] = [];
  for (const type of types) page.document.addEventListener(type, () => seen.push(type));
  return seen;
};

describe('storage', () => {
  it('answers an open that hangs after the set time', async () => {
    const { browser, open, run } = start();
    browser.disk.hangsUntil = 5000;
    const seen = openDatabase(open());
    await run(4900);
    expect(seen).toEqual([]);
    await run(500);
    expect(seen).toEqual(['open']);
  });

  it('never answers an open that hangs for ever', async () => {
    const { browser, open, run } = start();
    browser.disk.hangsUntil = Number.POSITIVE_INFINITY;
    const seen = openDatabase(open());
    await run(600_000);
    expect(seen).toEqual([]);
  });

  it('closes connections and keeps the rows', async () => {
    const { browser, open, run } = start();
    const page = open();
    const seen = openDatabase(page);
    await run();
    const { database } = page as unknown as { database: IDBDatabase };
    database.transaction('db', 'readwrite').objectStore('db').put('value', 'key');
    await run();
    browser.disk.disconnectAll();
    await run();
    expect(seen).toEqual(['open', 'closed']);
    expect(() => database.transaction('db', 'readwrite')).toThrow('connection is closed');
    expect(browser.disk.rows()?.get('key')).toBe('value');
  });

  it("refuses one page's requests until it unloads, and no other page's", async () => {
    const { browser, open, run } = start();
    browser.refusal = 'all';
    const refused = open();
    browser.refusal = 'database';
    const half = open();
    browser.refusal = 'nothing';
    const free = open();
    expect(() => globalsOf(refused).indexedDB.open('db')).toThrow('refused');
    expect(() => globalsOf(refused).localStorage.key).toThrow('refused');
    const seen = [half, free].map(openDatabase);
    await run();
    expect(seen).toEqual([['error'], ['open']]);
    globalsOf(half).localStorage.key = 'value';
    expect(globalsOf(free).localStorage.key).toBe('value');
  });

  it('counts nothing as stored that a full disk will undo', async () => {
    const { browser, open, run } = start();
    const page = open();
    openDatabase(page);
    await run();
    browser.disk.isFull = true;
    const { database } = page as unknown as { database: IDBDatabase };
    const transaction = database.transaction('db', 'readwrite');
    transaction.objectStore('db').put('value', 'key');
    transaction.commit();
    while (browser.disk.rows()?.get('key') === undefined) await run(0.1);
    expect(browser.disk.committed()).toEqual([]);
  });

  it('sets the clock of the pages and not of the servers', () => {
    const { world, open } = start();
    const page = open();
    const before = globalsOf(page).Date.now();
    world.skew = -86_400_000;
    expect(globalsOf(page).Date.now()).toBe(before - 86_400_000);
    expect(world.serverClock()).toBe(before);
  });
});

describe('a page in the background', () => {
  it('runs its timers at whole seconds while it is hidden', async () => {
    const { world, browser, open, run } = start();
    const page = open();
    const times: number[] = [];
    const wait = (delay: number) => globalsOf(page).setTimeout(() => times.push(world.scheduler.now()), delay);
    wait(100);
    await run(250);
    browser.show(page, false);
    wait(100);
    wait(300);
    wait(1000);
    await run(3000);
    expect(times).toEqual([100, 1000, 1000, 2000]);
  });

  it('stops while it is frozen, and continues when the visitor is back', async () => {
    const { browser, open, run } = start();
    const page = open();
    const seen = listen(page, 'freeze', 'resume');
    globalsOf(page).setTimeout(() => seen.push('timer'), 500);
    browser.show(page, false);
    expect(browser.freeze(page)).toBe(true);
    await run();
    expect(seen).toEqual(['freeze']);
    browser.thaw(page);
    await run();
    expect(seen).toEqual(['freeze', 'resume', 'timer']);
  });

  it('is not frozen while it is visible or opens its database', async () => {
    const { browser, open, run } = start();
    const page = open();
    expect(browser.freeze(page)).toBe(false);
    browser.show(page, false);
    openDatabase(page);
    expect(browser.freeze(page)).toBe(false);
    await run();
    expect(browser.freeze(page)).toBe(true);
  });

  it('is hidden and prerendering until the visitor opens it', () => {
    const { browser, open } = start();
    const page = open(true);
    const seen = listen(page, 'prerenderingchange', 'visibilitychange');
    expect([page.document.hidden, page.document.prerendering]).toEqual([true, true]);
    browser.activate(page);
    expect([page.document.hidden, page.document.prerendering]).toEqual([false, false]);
    expect(seen).toEqual(['visibilitychange', 'prerenderingchange']);
  });

  it('breaks an invariant if it writes while it is prerendered', () => {
    const { world, open } = start();
    globalsOf(open(true)).localStorage.key = 'value';
    expect(world.broken.map(({ detail }) => detail)).toEqual(['page1: localStorage']);
  });
});
