import type { Fact } from './fact.ts';
import { stored } from './inPage.ts';

/** How the tabs of an origin share localStorage. */
export const tabsFacts: readonly Fact[] = [
  {
    name: 'another tab sees the writes of a tab into localStorage in their order',
    async play(browser, id) {
      const [first, second] = [await browser.open(), await browser.open()];
      const reading = second.evaluate(
        (key) =>
          new Promise<boolean>((resolve) => {
            let isInOrder = true;
            const look = () => {
              // The writer writes `before` first.
              const after = Number(localStorage[`${key} after`] ?? 0);
              const before = Number(localStorage[`${key} before`] ?? 0);
              isInOrder &&= before >= after;
              if (after === 5) resolve(isInOrder);
              else setTimeout(look);
            };
            look();
          }),
        id,
      );
      const write = ([key, n]: [key: string, n: number]) => {
        localStorage[`${key} before`] = n;
        localStorage[`${key} after`] = n;
      };
      for (let n = 1; n <= 5; n++) await first.evaluate(write, [id, n]);
      return reading;
    },
    outcome: true,
  },
  {
    name: 'two tabs that write one key of localStorage at the same time see the same value in the end',
    async play(browser, id) {
      const tabs = [await browser.open(), await browser.open()];
      const write = ([key, mine]: [key: string, mine: string]) => {
        localStorage[key] = mine;
        localStorage[`${key} ${mine}`] = 'done';
      };
      await Promise.all(tabs.map((tab, at) => tab.evaluate(write, [id, 'ab'.charAt(at)])));
      const values = tabs.map(async (tab) => {
        for (const name of 'ab') await tab.evaluate(stored, `${id} ${name}`);
        return tab.evaluate(stored, id);
      });
      const [first, second] = await Promise.all(values);
      return first === second;
    },
    outcome: true,
  },
  {
    name: 'a tab that opens sees what the other tabs have written into localStorage and deleted there',
    async play(browser, id) {
      const first = await browser.open();
      await first.evaluate((key) => {
        localStorage[key] = 'written';
        localStorage[`${key} other`] = 'written';
        delete localStorage[key];
      }, id);
      const second = await browser.open();
      return second.evaluate((key) => [key in localStorage, localStorage[`${key} other`]], id);
    },
    outcome: [false, 'written'],
  },
];
