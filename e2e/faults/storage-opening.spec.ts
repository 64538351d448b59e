import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { trackAndLeave } from './support/leave.ts';
import { before } from './support/page.ts';

/** Reasons why a database does not open. Each is set up before the page's own scripts run. */
const broken: Record<string, { make: () => void; trouble: RegExp }> = {
  'is undefined': {
    make: () => Object.defineProperty(window, 'indexedDB', { value: undefined }),
    trouble: /no storage: TypeError/,
  },
  'throws on open': {
    make: () => {
      IDBFactory.prototype.open = () => {
        throw new DOMException('not here', 'SecurityError');
      };
    },
    trouble: /no storage: SecurityError/,
  },
  'rejects on open': {
    make: () => {
      IDBFactory.prototype.open = () => {
        const request = { error: new DOMException('corrupt', 'UnknownError') } as IDBOpenDBRequest;
        setTimeout(() => request.onerror?.(new Event('error')));
        return request;
      };
    },
    trouble: /no storage: UnknownError/,
  },
  'never answers': {
    make: () => {
      IDBFactory.prototype.open = () => ({}) as IDBOpenDBRequest;
    },
    trouble: /no storage: timeout/,
  },
};

for (const [title, { make, trouble }] of Object.entries(broken)) {
  fault(
    40,
    `IndexedDB ${title}`,
    async (stage) => {
      const query = before(make);
      const tab = await stage.visit({ query });
      await stage.track(tab, 20);
      await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(20);
      expect(await tab.evaluate(() => window.told.errors)).toEqual([expect.stringMatching(trouble)]);

      // The page leaves with unsent events that only its memory has.
      await trackAndLeave(stage, tab);
    },
    title === 'is undefined' ? { shownBy: ['e2e/storage.spec.ts'] } : { isLong: true },
  );
}

fault(40, 'IndexedDB never answers, and the page is left before the time-out', async (stage) => {
  const tab = await stage.visit({ query: before(broken['never answers']?.make ?? (() => {})), wait: 'load' });
  await trackAndLeave(stage, tab);
});

fault(
  40,
  'IndexedDB never answers because another page blocks its deletion',
  async (stage) => {
    const holder = await stage.visit({ query: 'tag=none', wait: 'load' });
    const isBlocked = await holder.evaluate(
      () =>
        new Promise((resolve) => {
          const opening = indexedDB.open('clew');
          opening.onupgradeneeded = () => opening.result.createObjectStore('clew');
          opening.onsuccess = () => {
            Object.assign(window, { held: opening.result });
            const deleting = indexedDB.deleteDatabase('clew');
            deleting.onblocked = () => resolve(true);
            deleting.onsuccess = () => resolve(false);
          };
        }),
    );
    expect(isBlocked).toBe(true);

    const tab = await stage.visit();
    await stage.track(tab, 20);
    await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(20);
    expect(await tab.evaluate(() => window.told.errors)).toEqual([expect.stringContaining('no storage: timeout')]);

    await holder.evaluate(() => (window as unknown as { held: IDBDatabase }).held.close());
    // From now on the database answers. New events are stored, and no connection of a late answer blocks its deletion.
    stage.site.fault = answer(503);
    await stage.track(tab, 5);
    await expect.poll(() => stage.stored(tab).catch(() => 0)).toBe(5);
    const isDeleted = await holder.evaluate(
      () =>
        new Promise((resolve) => {
          const deleting = indexedDB.deleteDatabase('clew');
          // A running transaction blocks the deletion for a moment.
          deleting.onblocked = () => setTimeout(resolve, 5000, false);
          deleting.onsuccess = () => resolve(true);
        }),
    );
    expect(isDeleted).toBe(true);
    stage.site.fault = undefined;
    await tab.evaluate(() => void window.clew('flush'));
    await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(25);
  },
  { isLong: true },
);
