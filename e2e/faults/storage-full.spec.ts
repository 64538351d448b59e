import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { before } from './support/page.ts';

declare global {
  interface Window {
    /** While it is set, the database has no room. */
    isFull?: boolean;
  }
}

/** Over quota a request succeeds, and then its transaction aborts. */
const fillUp = () => {
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...args) {
    const request = put.apply(this, args);
    if (!window.isFull) return request;
    const { transaction } = this;
    const error = new DOMException('', 'QuotaExceededError');
    // Once commit has been called, no script could abort any more.
    Object.defineProperties(transaction, { commit: { value: () => {} }, error: { value: error } });
    request.addEventListener('success', () => transaction.abort());
    return request;
  };
  window.isFull = true;
};

/** Runs in the page: how many events the journals in localStorage have. */
const journaledTexts = () =>
  Object.entries(localStorage)
    .filter(([key]) => key.startsWith('clew.page'))
    .reduce((sum, [, text]) => sum + JSON.parse(text).texts.length, 0);

fault(
  41,
  'quota exceeded: each request succeeds, its transaction aborts, and room returns later',
  async (stage) => {
    const browser = await stage.openOwn();
    stage.site.fault = answer(503);
    const tab = await stage.visit({ browser, query: before(fillUp) });
    // While a transaction of the courier reads, new events are also in the journal.
    await tab.evaluate(() => window.clew('flush'));
    await stage.track(tab, 20);
    await expect
      .poll(() => tab.evaluate(() => window.told.errors))
      .toContainEqual(expect.stringContaining('no storage: QuotaExceededError'));
    expect(await stage.stored(tab)).toBe(0);

    await tab.evaluate(() => {
      window.isFull = false;
    });
    await stage.track(tab);
    await expect.poll(() => stage.stored(tab)).toBe(21);
    // The events have to be in the database, because localStorage reaches the disk only seconds later.
    await expect.poll(() => tab.evaluate(journaledTexts)).toBe(0);
    // The page then waits after a failure, and has no lease that would have to end first.
    await tab.evaluate(() => window.clew('flush'));
    await browser.kill();
  },
  { isLong: true },
);

fault(
  41,
  'quota exceeded: a real quota of the browser',
  async (stage) => {
    const browser = await stage.openOwn();
    stage.site.fault = answer(503);
    const { origin } = stage.site;
    const tab = await stage.visit({ browser, path: '/blank', wait: 'load' });
    const session = await browser.cdp?.(tab);
    // The quota is set before the page stores anything, because Chromium caches it for half a minute.
    await session?.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 300_000 });
    await stage.visit({ tab });
    const cause = await tab.evaluate(async () => {
      const opening = indexedDB.open('ballast');
      opening.onupgradeneeded = () => opening.result.createObjectStore('ballast', { autoIncrement: true });
      await new Promise((resolve) => {
        opening.onsuccess = resolve;
      });
      const fill = (size: number) =>
        new Promise<string | undefined>((resolve) => {
          const transaction = opening.result.transaction('ballast', 'readwrite');
          const bytes = new Uint8Array(size);
          // Random bytes, because the browser compresses equal bytes.
          for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
          transaction.objectStore('ballast').add(bytes);
          transaction.oncomplete = () => resolve(undefined);
          transaction.onabort = () => resolve(transaction.error?.name);
        });
      let cause: string | undefined;
      // The rows get smaller and smaller, until there is no room for any.
      for (let size = 2 ** 17; size > 8; size >>= 1) {
        do cause = await fill(size);
        while (!cause);
      }
      opening.result.close();
      return cause;
    });
    expect(cause).toBe('QuotaExceededError');
    await stage.track(tab, 20);
    await expect
      .poll(() => tab.evaluate(() => window.told.errors))
      .toContainEqual(expect.stringContaining('no storage: QuotaExceededError'));
    expect(await stage.stored(tab)).toBe(0);

    await session?.send('Storage.overrideQuotaForOrigin', { origin });
    await stage.track(tab);
    await expect.poll(() => stage.stored(tab)).toBe(21);
    // The events have to be in the database, because localStorage reaches the disk only seconds later.
    await expect.poll(() => tab.evaluate(journaledTexts)).toBe(0);
    // The page then waits after a failure, and has no lease that would have to end first.
    await tab.evaluate(() => window.clew('flush'));
    await browser.kill();
  },
  { cannot: { firefox: 'its driver sets no quota', webkit: 'its driver sets no quota' } },
);
