import type { Fact } from './fact.ts';

export const pageFacts: readonly Fact[] = [
  {
    name: 'what pagehide writes into localStorage is there for the next page',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate((key) => {
        addEventListener('pagehide', () => {
          localStorage[key] = 'written';
        });
      }, id);
      await tab.navigate();
      return tab.evaluate((key) => {
        const value = localStorage[key];
        delete localStorage[key];
        return [value, key in localStorage, Object.keys(localStorage).includes(key)];
      }, id);
    },
    outcome: ['written', false, false],
  },
  {
    name: 'a localStorage that is full takes a shorter value in place of a longer one, and no longer one',
    async play(browser, id) {
      const tab = await browser.open();
      return tab.evaluate((key) => {
        const take = (value: string) => {
          try {
            localStorage[key] = value;
            return true;
          } catch {
            return false;
          }
        };
        let full = '';
        for (let more = 2 ** 23; more >= 1; more /= 2) {
          const longer = full + 'x'.repeat(more);
          if (take(longer)) full = longer;
        }
        const taken = [take(`${full}x`), take(full.slice(1)), localStorage[key].length === full.length - 1];
        delete localStorage[key];
        return taken;
      }, id);
    },
    outcome: [false, true, true],
  },
  {
    name: 'a cookie that a tab writes or deletes is written or deleted for the other tabs, and one of another domain is refused',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      const name = id.replace(/ /g, '-');
      const write = (text: string) => {
        // biome-ignore lint/suspicious/noDocumentCookie: clew uses it, too
        document.cookie = text;
      };
      const read = (name: string) =>
        document.cookie
          .split('; ')
          .filter((pair) => pair.startsWith(name))
          .map((pair) => pair.slice(name.length));
      await first.evaluate(write, `${name}=1; Path=/; SameSite=Lax; Max-Age=60; Domain=`);
      await first.evaluate(write, `${name}-other=1; Path=/; SameSite=Lax; Max-Age=60; Domain=elsewhere.example`);
      const seen = [await second.evaluate(read, name)];
      await second.evaluate(write, `${name}=2; Path=/; SameSite=Lax; Max-Age=60; Domain=`);
      seen.push(await first.evaluate(read, name));
      await first.navigate();
      seen.push(await first.evaluate(read, name));
      await first.evaluate(write, `${name}=; Path=/; SameSite=Lax; Max-Age=0; Domain=`);
      seen.push(await second.evaluate(read, name));
      return seen;
    },
    outcome: [['=1'], ['=2'], ['=2'], []],
  },
  {
    name: 'a listener that is added twice runs once, and one call removes it',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate((key) => {
        localStorage[key] = '';
        const kept = () => {
          localStorage[key] += 'kept ';
        };
        const removed = () => {
          localStorage[key] += 'removed ';
        };
        for (const listener of [kept, removed, kept, removed]) addEventListener('pagehide', listener);
        removeEventListener('pagehide', removed);
      }, id);
      await tab.navigate();
      return tab.evaluate((key) => localStorage[key], id);
    },
    outcome: 'kept ',
  },
  {
    name: 'pagehide comes before the visibilitychange of a page that navigates',
    async play(browser, id) {
      const tab = await browser.open();
      await tab.evaluate((key) => {
        localStorage[key] = '';
        for (const type of ['pagehide', 'visibilitychange'])
          addEventListener(type, () => {
            localStorage[key] += `${type} `;
          });
      }, id);
      await tab.navigate();
      return tab.evaluate((key) => localStorage[key], id);
    },
    outcome: 'pagehide visibilitychange ',
  },
  {
    name: 'microtasks run before the next timer, and timers of one delay in the order in which they were set',
    async play(browser) {
      const tab = await browser.open();
      return tab.evaluate(
        () =>
          new Promise<string[]>((resolve) => {
            const seen: string[] = [];
            setTimeout(() => {
              seen.push('first timer');
              Promise.resolve()
                .then(() => {})
                .then(() => void seen.push('microtask'));
            }, 5);
            setTimeout(() => void seen.push('second timer'), 5);
            setTimeout(() => resolve(seen), 50);
          }),
      );
    },
    outcome: ['first timer', 'microtask', 'second timer'],
  },
  {
    name: 'a BroadcastChannel gets the messages of other pages in order, and not its own',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      const listen = (name: string) => {
        const channel = new BroadcastChannel(name);
        const received: unknown[] = [];
        channel.onmessage = ({ data }) => void received.push(data);
        Object.assign(window, { channel, received });
      };
      await first.evaluate(listen, id);
      await second.evaluate(listen, id);
      const received = (count: number) =>
        new Promise<unknown>((resolve) => {
          const look = () => {
            const { received } = window as unknown as { received: unknown[] };
            if (received.length >= count) resolve(received);
            else setTimeout(look, 20);
          };
          look();
        });
      await first.evaluate(() => {
        const { channel } = window as unknown as { channel: BroadcastChannel };
        for (const n of [1, 2, 3]) channel.postMessage({ n });
      });
      const theirs = await second.evaluate(received, 3);
      await second.evaluate(() => (window as unknown as { channel: BroadcastChannel }).channel.postMessage('reply'));
      return [theirs, await first.evaluate(received, 1)];
    },
    outcome: [[{ n: 1 }, { n: 2 }, { n: 3 }], ['reply']],
  },
  {
    name: 'beacons share 64 KiB while they are on their way',
    async play(browser) {
      const tab = await browser.open();
      return tab.evaluate(() => ['a', 'b'].map((letter) => navigator.sendBeacon('/blank', letter.repeat(40_000))));
    },
    outcome: [true, false],
    // Firefox counts each beacon by itself.
    differences: { firefox: [true, true] },
  },
  {
    name: 'a request ends as its page navigates, unless it is kept alive',
    async play({ open, holder }, id) {
      const tab = await open();
      const paths = ['plain', 'kept'].map((kind) => `${encodeURIComponent(id)}/${kind}`);
      await tab.evaluate(
        (addresses) => {
          for (const [at, address] of addresses.entries())
            fetch(address, { method: 'POST', body: 'x', keepalive: at > 0 }).catch(() => {});
        },
        paths.map((path) => holder.address + path),
      );
      await Promise.all(paths.map(holder.arrived));
      await tab.navigate();
      return Promise.all(paths.map(holder.isGivenUp));
    },
    outcome: [true, false],
  },
  {
    name: 'a timer of more than 2,147,483,647 ms runs at once',
    async play(browser) {
      const tab = await browser.open();
      return tab.evaluate(
        () =>
          new Promise<string[]>((resolve) => {
            const seen: string[] = [];
            setTimeout(() => void seen.push('more'), 2 ** 31);
            setTimeout(() => void seen.push('most'), 2 ** 31 - 1);
            setTimeout(() => resolve(seen), 100);
          }),
      );
    },
    outcome: ['more'],
  },
];
