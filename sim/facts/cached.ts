import type { Fact } from './fact.ts';
import {
  hold,
  isMarked,
  listen,
  mark,
  open,
  post,
  postAgain,
  read,
  readSoon,
  received,
  request,
  stored,
  storedLater,
} from './inPage.ts';

const holdLock = (name: string) =>
  new Promise<void>((resolve) => {
    navigator.locks.request(name, () => {
      resolve();
      return new Promise(() => {});
    });
  });

const askForLock = (name: string) => navigator.locks.request(name, () => 'granted');

/** The back/forward cache: the parts of a page that it keeps, and when it drops the page. */
export const cachedFacts: readonly Fact[] = [
  {
    name: 'a page is hidden after its pagehide, and visible before its pageshow from the back/forward cache',
    async play(browser) {
      const tab = await browser.open();
      await tab.evaluate(() => {
        const seen: string[] = [];
        document.addEventListener('visibilitychange', () => void seen.push(document.hidden ? 'hidden' : 'visible'));
        for (const type of ['pagehide', 'pageshow'] as const)
          addEventListener(type, ({ persisted }) => void seen.push(`${type} ${persisted}`));
        Object.assign(window, { seen });
      });
      await tab.leave();
      await tab.back();
      return tab.evaluate(
        () =>
          new Promise<unknown>((resolve) => {
            const look = () => {
              const { seen = [] } = window as unknown as { seen?: string[] };
              if (seen.some((text) => text.startsWith('pageshow'))) resolve(seen);
              else setTimeout(look, 20);
            };
            look();
          }),
      );
    },
    outcome: ['pagehide true', 'hidden', 'visible', 'pageshow true'],
  },
  {
    name: 'a timer of a page in the back/forward cache waits until the page is back',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate((key) => {
        addEventListener('pagehide', () =>
          setTimeout(() => {
            localStorage[key] = 'run';
          }, 50),
        );
      }, id);
      await tab.leave();
      const seen = await tab.evaluate(storedLater, id);
      await tab.back();
      return [seen, await tab.evaluate(stored, id)];
    },
    outcome: [null, 'run'],
  },
  {
    name: 'a page that comes back from the cache sees what others have written into localStorage and cookies meanwhile',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      const name = id.replace(/ /g, '-');
      await first.evaluate(mark);
      await first.leave();
      await second.evaluate((key) => {
        localStorage[key] = 'written';
        // biome-ignore lint/suspicious/noDocumentCookie: clew uses it, too
        document.cookie = `${key}=1; Max-Age=60`;
      }, name);
      await first.back();
      const hasCookie = (key: string) => document.cookie.includes(`${key}=1`);
      return [
        await first.evaluate(stored, name),
        await first.evaluate(hasCookie, name),
        await first.evaluate(isMarked),
      ];
    },
    outcome: ['written', true, true],
  },
  {
    name: 'an open database keeps no page out of the cache, and its connection works when the page is back',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await second.evaluate(open, id);
      await first.leave();
      const seen = [await second.evaluate(read, 'key')];
      await first.back();
      seen.push(await first.evaluate(read, 'key'));
      return seen;
    },
    outcome: [null, null],
  },
  {
    name: 'a page in the cache with an open transaction is dropped when another page needs the database',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await first.evaluate(mark);
      await second.evaluate(open, id);
      await first.evaluate(hold, 'key');
      await first.leave();
      const seen = await second.evaluate(readSoon, 'key');
      await first.back();
      return [seen, await first.evaluate(isMarked)];
    },
    outcome: [null, false],
    // Firefox aborts the transaction. WebKit keeps it open, which blocks the database for all pages.
    differences: { firefox: [null, true], webkit: ['no answer', true] },
  },
  {
    name: 'a page in the cache with an open database is dropped when another page deletes the database',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(open, id);
      await first.evaluate(mark);
      await first.leave();
      const deleted = await second.evaluate(
        (name) =>
          new Promise<string>((resolve) => {
            indexedDB.deleteDatabase(name).onsuccess = () => resolve('deleted');
          }),
        id,
      );
      await first.back();
      return [deleted, await first.evaluate(isMarked)];
    },
    outcome: ['deleted', false],
    // WebKit closes the connection, and keeps the page.
    differences: { webkit: ['deleted', true] },
  },
  {
    name: 'a page that holds a Web Lock stays in the cache until another page asks for the lock',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      await first.evaluate(holdLock, id);
      await first.evaluate(mark);
      await first.leave();
      await first.back();
      const wasKept = await first.evaluate(isMarked);
      await first.leave();
      const asked = await second.evaluate(askForLock, id);
      await first.back();
      return [wasKept, asked, await first.evaluate(isMarked)];
    },
    outcome: [true, 'granted', false],
    // Firefox caches no page that holds a lock. WebKit releases the lock, and keeps the page.
    differences: { firefox: [false, 'granted', false], webkit: [true, 'granted', true] },
  },
  {
    name: 'a message to an open BroadcastChannel drops its page from the cache',
    async play(browser, id) {
      const [first, second, third] = [await browser.open(), await browser.open(), await browser.open()];
      for (const tab of [first, second, third]) await tab.evaluate(listen, id);
      await first.evaluate(mark);
      await first.leave();
      await second.evaluate(post, 'meanwhile');
      await third.evaluate(received, 1);
      await first.back();
      return first.evaluate(isMarked);
    },
    outcome: false,
    // WebKit keeps the page, which misses the message.
    differences: { webkit: true },
  },
  {
    name: 'a page that closes its BroadcastChannel in pagehide stays in the cache, and misses the messages',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      for (const tab of [first, second]) await tab.evaluate(listen, id);
      await first.evaluate(mark);
      await first.evaluate(() =>
        addEventListener('pagehide', () => (window as unknown as { channel: BroadcastChannel }).channel.close()),
      );
      await first.leave();
      await second.evaluate(post, 'meanwhile');
      await first.back();
      await first.evaluate(listen, id);
      await second.evaluate(postAgain, 'later');
      const [message] = await first.evaluate(received, 1);
      return [await first.evaluate(isMarked), message];
    },
    outcome: [true, 'later'],
  },
  {
    name: 'the answer to a request of a page in the cache waits until the page is back',
    async play({ open, holder }, id) {
      const tab = await open();
      const path = encodeURIComponent(id);
      await tab.evaluate(mark);
      await tab.evaluate(request, [holder.address + path, id, true]);
      await holder.arrived(path);
      await tab.leave();
      holder.answer(path);
      const seen = await tab.evaluate(storedLater, id);
      await tab.back();
      return [seen, await tab.evaluate(isMarked), await tab.evaluate(storedLater, id)];
    },
    outcome: [null, true, '200'],
    // Firefox and WebKit keep the page, which gets no answer.
    differences: { firefox: [null, true, null], webkit: [null, true, null] },
  },
  {
    name: 'a request that is not kept alive goes on while its page is in the cache',
    async play({ open, holder }, id) {
      const tab = await open();
      const path = encodeURIComponent(id);
      await tab.evaluate(mark);
      await tab.evaluate(request, [holder.address + path, id, false]);
      await holder.arrived(path);
      await tab.leave();
      holder.answer(path);
      await tab.back();
      return (await tab.evaluate(isMarked)) && tab.evaluate(stored, id);
    },
    outcome: '200',
    // Firefox caches no page with such a request. WebKit ends the request.
    differences: { firefox: false, webkit: 'failed' },
  },
];
