import { type Fact, onlyChromium } from './fact.ts';
import { hold, open, read, release, request, stored } from './inPage.ts';

const cannot = onlyChromium('its driver cannot crash a page');

/** The transactions, storage and requests of a page whose process crashes. */
export const crashedFacts: readonly Fact[] = [
  {
    name: 'a page that crashes runs no pagehide, and leaves what it has written into localStorage and cookies',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      const name = id.replace(/ /g, '-');
      await first.evaluate((key) => {
        localStorage[key] = 'written';
        // biome-ignore lint/suspicious/noDocumentCookie: clew uses it, too
        document.cookie = `${key}=1; Max-Age=60`;
        addEventListener('pagehide', () => {
          localStorage[key] = 'hidden';
        });
      }, name);
      await first.crash();
      const hasCookie = (key: string) => document.cookie.includes(`${key}=1`);
      return [await second.evaluate(stored, name), await second.evaluate(hasCookie, name)];
    },
    outcome: ['written', true],
    cannot,
  },
  {
    name: 'the open transaction of a page that crashes is aborted, and the next one runs',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await second.evaluate(open, id);
      await first.evaluate(hold, 'key');
      const reading = second.evaluate(read, 'key');
      await first.crash();
      return reading;
    },
    outcome: null,
    cannot,
  },
  {
    name: 'a committed transaction that waits behind one of another tab is aborted when its page crashes',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await second.evaluate(open, id);
      await first.evaluate(hold, 'held');
      await second.evaluate(() => {
        const { database } = window as unknown as { database: IDBDatabase };
        const transaction = database.transaction('rows', 'readwrite');
        transaction.objectStore('rows').put('written', 'key');
        transaction.commit();
      });
      await second.crash();
      await first.evaluate(release);
      return first.evaluate(read, 'key');
    },
    outcome: null,
    cannot,
  },
  {
    name: 'a request ends as its page crashes, unless it is kept alive',
    async play({ open, holder }, id) {
      const tab = await open();
      const paths = ['plain', 'kept'].map((kind) => `${encodeURIComponent(id)}/${kind}`);
      for (const [at, path] of paths.entries()) await tab.evaluate(request, [holder.address + path, path, at > 0]);
      await Promise.all(paths.map(holder.arrived));
      await tab.crash();
      const [plain = '', kept = ''] = paths;
      return [await holder.isGivenUp(plain), holder.isAwaited(kept)];
    },
    outcome: [true, true],
    cannot,
  },
];
