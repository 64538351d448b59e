import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { afterStub } from './support/page.ts';
import { links, listed, oddRows, rows, visitorId, visitors, write } from './support/rubbish.ts';

const flushAndAwait = async (tab: Tab, count: number) => {
  await tab.evaluate(() => void window.clew('flush'));
  await expect
    .poll(() => tab.evaluate(() => window.told.delivered.filter((n) => typeof n === 'number').length))
    .toBe(count);
};

fault(43, 'corrupt rows from before the tracker started', async (stage) => {
  stage.site.fault = answer(503);
  const tab = await stage.visit();
  await stage.track(tab, 5);
  await expect.poll(() => stage.stored(tab)).toBe(5);
  // The valid events are in rows behind the corrupt ones, and in a row with corrupt events.
  await tab.goto(`${stage.site.origin}/page/raw?tag=none`);
  await tab.evaluate(write, [...rows, ...oddRows]);
  stage.site.fault = undefined;
  await stage.visit({ tab });
  await stage.track(tab, 5);
  await expect.poll(async () => (await stage.arrived()).length).toBe(10);
  await expect.poll(() => stage.stored(tab)).toBe(0);
});

fault(
  43,
  'corrupt rows, written while the tracker runs',
  async (stage) => {
    const tab = await stage.visit();
    stage.site.fault = answer(503);
    await stage.track(tab, 5);
    await expect.poll(() => stage.stored(tab)).toBe(5);
    await tab.evaluate(write, [...rows, ...oddRows]);
    await stage.track(tab, 5);
    stage.site.fault = undefined;
    await flushAndAwait(tab, 10);
    await expect.poll(() => stage.stored(tab)).toBe(0);
  },
  { isLong: true },
);

fault(
  43,
  'a visitor record of an unknown version, with unsent events',
  async (stage) => {
    const tab = await stage.visit({ path: '/page/raw', query: 'tag=none', wait: 'load' });
    for (const visitor of visitors) {
      await tab.evaluate(write, [['visitor', visitor] as [IDBValidKey, unknown]]);
      stage.site.fault = answer(503);
      await stage.visit({ tab });
      await stage.track(tab, 2);
      // The page leaves with unsent rows. The next page finds the record as it is written now.
      await tab.goto(`${stage.site.origin}/page/raw?tag=none`);
    }
    for (const visitor of visitors) {
      stage.site.fault = undefined;
      await stage.visit({ tab });
      await tab.evaluate(write, [['visitor', visitor] as [IDBValidKey, unknown]]);
      const own = await stage.track(tab, 2);
      await tab.evaluate(() => void window.clew('flush'));
      // The list may also have events of the page before, which did not know whether they were stored.
      await expect.poll(() => tab.evaluate(() => window.told.delivered)).toEqual(expect.arrayContaining(own));
      expect(await tab.evaluate(() => window.told)).toMatchObject({ dropped: [], errors: [] });
    }
  },
  { isLong: true },
);

fault(
  43,
  'a link record of an unknown version',
  async (stage) => {
    const tab = await stage.visit({ path: '/page/raw', query: 'tag=none', wait: 'load' });
    for (const link of links) {
      await tab.goto(`${stage.site.origin}/page/raw?tag=none`);
      await tab.evaluate(write, [['link /clew', link] as [IDBValidKey, unknown]]);
      await stage.visit({ tab });
      await stage.track(tab, 2);
      await flushAndAwait(tab, 2);
      await tab.evaluate(write, [['link /clew', link] as [IDBValidKey, unknown]]);
      await stage.track(tab, 2);
      await flushAndAwait(tab, 4);
      // The tracker continues to use the store.
      expect(await tab.evaluate(() => window.told)).toMatchObject({ dropped: [], errors: [] });
    }
  },
  { isLong: true },
);

const texts = [
  5,
  '',
  'x',
  true,
  {},
  { a: [] },
  [5, null, 'x', {}, [], [[]], [1, 2], ['x', ['track', 'odd']]],
  [['2020-01-01', ['track', 'odd']]],
  [[listed]],
  { at: 'noon', ids: [visitorId] },
  { at: 0, ids: 'all' },
  { at: 1e300, ids: [5, null, [visitorId]], isArmed: 'perhaps' },
];

for (const key of [
  'clew.calls 5',
  'clew.items /clew a page',
  'clew.thread',
  'clew.tab',
  'clew.visitor',
  'clew.settled /clew',
  'clew.handed /clew a request',
  `clew.handed /clew ${visitorId}`,
]) {
  fault(
    43,
    `corrupt localStorage under ${key}`,
    async (stage) => {
      const tab = await stage.visit({ path: '/page/raw', query: 'tag=none', wait: 'load' });
      for (const text of ['{not JSON', ...[...texts, [visitorId]].map((value) => JSON.stringify(value))]) {
        await tab.goto(`${stage.site.origin}/page/raw?tag=none`);
        await tab.evaluate(([key = '', text = '']) => localStorage.setItem(key, text), [key, text]);
        await stage.visit({ tab });
        await stage.track(tab, 2);
        await flushAndAwait(tab, 2);
        expect(await tab.evaluate(() => window.told.errors), text).not.toContainEqual(
          expect.stringContaining('storage'),
        );
        // The flush gives the lease up. A page that leaves with the lease notes that, and the next value would replace the note.
        await tab.evaluate(() => window.clew('flush'));
      }
    },
    { isLong: true },
  );
}

fault(43, 'a database of this name created by other code', async (stage) => {
  const tab = await stage.visit({ path: '/page/raw', query: 'tag=none', wait: 'load' });
  await tab.evaluate(async () => {
    const opening = indexedDB.open('clew', 7);
    opening.onupgradeneeded = () => opening.result.createObjectStore('yarn');
    await new Promise((resolve) => {
      opening.onsuccess = resolve;
    });
    opening.result.close();
  });
  // Events that are tracked before the database opens are in the journal, and have to be deleted there, too.
  const early = ({ run, from, count }: { run: string; from: number; count: number }) => {
    for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
  };
  await stage.visit({ tab, query: afterStub(early, stage.next(5)) });
  await stage.track(tab, 5);
  await flushAndAwait(tab, 10);
  expect(await tab.evaluate(() => window.told.errors)).toEqual([expect.stringContaining('no storage: NotFoundError')]);
  expect(await stage.stored(tab)).toBe(0);
});
