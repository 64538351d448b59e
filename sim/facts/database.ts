import type { Fact, FactTab } from './fact.ts';
import { hold, open, read, readSoon, release } from './inPage.ts';

const writeInPagehide = (commits: boolean) =>
  addEventListener('pagehide', () => {
    const { database } = window as unknown as { database: IDBDatabase };
    const transaction = database.transaction('rows', 'readwrite');
    transaction.objectStore('rows').put('written', 'key');
    if (commits) transaction.commit();
  });

const readInNextPage = async (tab: FactTab, id: string) => {
  await tab.navigate();
  await tab.evaluate(open, id);
  return tab.evaluate(read, 'key');
};

export const databaseFacts: readonly Fact[] = [
  {
    // On a busy machine Chromium loses up to one in six of these transactions.
    name: 'a transaction ended by commit() in pagehide mostly lasts when the page navigates: at least one of five does',
    async play(browser, id) {
      for (let attempt = 1; attempt <= 5; attempt++) {
        const tab = await browser.open();
        await tab.evaluate(open, `${id} ${attempt}`);
        await tab.evaluate(writeInPagehide, true);
        if ((await readInNextPage(tab, `${id} ${attempt}`)) === 'written') return true;
      }
      return false;
    },
    outcome: true,
    // WebKit completes no such transaction if the page navigates at once.
    differences: { webkit: false },
  },
  {
    name: 'a transaction that is left to commit itself in pagehide is aborted when the page navigates',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate(open, id);
      await tab.evaluate(writeInPagehide, false);
      await tab.navigate();
      await tab.evaluate(open, id);
      return tab.evaluate(readSoon, 'key');
    },
    outcome: null,
    // WebKit keeps the transaction open, which blocks the database for all pages.
    differences: { webkit: 'no answer' },
  },
  {
    name: 'transactions of two tabs run one after the other',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await second.evaluate(open, id);
      await first.evaluate(hold, 'key');
      const reading = second.evaluate(read, 'key');
      await first.evaluate(release);
      return reading;
    },
    outcome: 'ended',
  },
  {
    name: 'a committed transaction that waits behind one of another tab is aborted when its page navigates',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await second.evaluate(open, id);
      await first.evaluate(hold, 'held');
      await second.evaluate(writeInPagehide, true);
      await second.navigate();
      await first.evaluate(release);
      return first.evaluate(read, 'key');
    },
    outcome: null,
    // Firefox completes the waiting transaction once the other transaction has ended.
    differences: { firefox: 'written' },
  },
  {
    name: 'a transaction takes requests in promise callbacks of its events, and none in a later task',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate(open, id);
      return tab.evaluate(async () => {
        const { database } = window as unknown as { database: IDBDatabase };
        const rows = database.transaction('rows', 'readwrite').objectStore('rows');
        const settled = (request: IDBRequest) =>
          new Promise<unknown>((resolve) => {
            request.onsuccess = () => resolve(request.result ?? null);
          });
        await settled(rows.put('a', 'key'));
        await Promise.resolve();
        const seen = await settled(rows.get('key'));
        await new Promise((resolve) => setTimeout(resolve, 100));
        try {
          rows.get('key');
          return [seen, 'no error'];
        } catch (error) {
          return [seen, (error as Error).name];
        }
      });
    },
    outcome: ['a', 'TransactionInactiveError'],
  },
  {
    name: 'abort() undoes what the transaction has written',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate(open, id);
      const seen = await tab.evaluate(
        () =>
          new Promise<unknown>((resolve) => {
            const { database } = window as unknown as { database: IDBDatabase };
            const transaction = database.transaction('rows', 'readwrite');
            transaction.onabort = () => resolve('aborted');
            transaction.oncomplete = () => resolve('complete');
            transaction.objectStore('rows').put('a', 'key').onsuccess = () => transaction.abort();
          }),
      );
      return [seen, await tab.evaluate(read, 'key')];
    },
    outcome: ['aborted', null],
  },
  {
    name: 'keys are in order: numbers, texts, lists; a list of one part is before those that begin with it',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate(open, id);
      return tab.evaluate(
        () =>
          new Promise<unknown>((resolve) => {
            const { database } = window as unknown as { database: IDBDatabase };
            const rows = database.transaction('rows', 'readwrite').objectStore('rows');
            for (const key of [['s', 10, 1], 'b', ['s'], ['s', 9, 2], 7, ['s', 9, 1, 'x'], 'a', ['t']])
              rows.put(1, key);
            rows.getAllKeys().onsuccess = ({ target }) => {
              const all = (target as IDBRequest).result as unknown;
              rows.getAllKeys(IDBKeyRange.bound(['s'], ['s', []], true), 2).onsuccess = (event) =>
                resolve([all, (event.target as IDBRequest).result]);
            };
          }),
      );
    },
    outcome: [
      [7, 'a', 'b', ['s'], ['s', 9, 1, 'x'], ['s', 9, 2], ['s', 10, 1], ['t']],
      [
        ['s', 9, 1, 'x'],
        ['s', 9, 2],
      ],
    ],
  },
  {
    name: 'deleting a database dispatches versionchange in other tabs, and waits until they have closed it',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await second.evaluate(open, id);
      await first.evaluate(() => {
        const { database } = window as unknown as { database: IDBDatabase };
        Object.assign(window, { changes: 0 });
        database.onversionchange = () => {
          Object.assign(window, { changes: (window as unknown as { changes: number }).changes + 1 });
          setTimeout(() => database.close(), 50);
        };
      });
      const deleted = await second.evaluate((name) => {
        const { database } = window as unknown as { database: IDBDatabase };
        database.close();
        return new Promise<string>((resolve) => {
          indexedDB.deleteDatabase(name).onsuccess = () => resolve('deleted');
        });
      }, id);
      return [deleted, await first.evaluate(() => (window as unknown as { changes: number }).changes)];
    },
    outcome: ['deleted', 1],
  },
];
