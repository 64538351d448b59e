import { type Fact, onlyChromium } from './fact.ts';
import { request, stored, storedLater } from './inPage.ts';

const cannot = onlyChromium('its driver cannot freeze a page');

/** The timers, answers and messages of a page that the browser freezes in its tab. */
export const frozenFacts: readonly Fact[] = [
  {
    name: 'a timer of a frozen page waits until the page runs again',
    async play(browser, id) {
      const [tab, other] = [await browser.open(), await browser.open()];
      await tab.evaluate((key) => {
        const seen: string[] = [];
        for (const type of ['freeze', 'resume']) document.addEventListener(type, () => void seen.push(type));
        document.addEventListener('freeze', () =>
          setTimeout(() => {
            localStorage[key] = [...seen, 'timer'];
          }, 50),
        );
      }, id);
      await tab.freeze();
      const seen = await other.evaluate(storedLater, id);
      await tab.thaw();
      return [seen, await other.evaluate(stored, id)];
    },
    outcome: [null, 'freeze,resume,timer'],
    cannot,
  },
  {
    name: 'the answer to a request of a frozen page waits until the page runs again',
    async play({ open, holder }, id) {
      const [tab, other] = [await open(), await open()];
      const path = encodeURIComponent(id);
      await tab.evaluate(request, [holder.address + path, id, true]);
      await holder.arrived(path);
      await tab.freeze();
      holder.answer(path);
      const seen = await other.evaluate(storedLater, id);
      await tab.thaw();
      return [seen, await other.evaluate(stored, id)];
    },
    outcome: [null, '200'],
    cannot,
  },
  {
    name: 'a frozen page takes messages, and sees what other tabs write into localStorage',
    async play(browser, id) {
      const [tab, other] = [await browser.open(), await browser.open()];
      await tab.evaluate((key) => {
        new BroadcastChannel(key).onmessage = ({ data }) => {
          if (localStorage[key]) localStorage[`${key} seen`] = `${data} ${localStorage[key]}`;
        };
      }, id);
      await tab.freeze();
      return other.evaluate(
        (key) =>
          new Promise<string>((resolve) => {
            const channel = new BroadcastChannel(key);
            localStorage[key] = 'written';
            const post = () => {
              channel.postMessage('message');
              const seen = localStorage[`${key} seen`];
              if (seen) resolve(seen);
              else setTimeout(post, 20);
            };
            post();
          }),
        id,
      );
    },
    outcome: 'message written',
    cannot,
  },
];
