import { setTimeout as pause } from 'node:timers/promises';
import type { Tab } from '../engines/engine.ts';

/** Runs in the page: everything unsent that is stored for its origin, as text. */
const readStored = async (): Promise<string[]> => {
  const texts: string[] = [];
  // Opened only if it is there: opening would create it.
  if ((await indexedDB.databases()).some(({ name }) => name === 'clew')) {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('clew');
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    if (database.objectStoreNames.contains('clew')) {
      const transaction = database.transaction('clew');
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = reject;
      });
      const store = transaction.objectStore('clew');
      const ask = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const [keys, values] = await Promise.all([ask(store.getAllKeys()), ask(store.getAll())]);
      // The connection closes only then. Until then it would block a site that deletes the database.
      await ended;
      // Records have a name, and rows a key of several parts. A row's value is its items, or `[key, items]`.
      for (const [index, key] of keys.entries()) {
        const value = values[index];
        if (!Array.isArray(key)) continue;
        const items = Array.isArray(value?.[0]) ? value[1] : value;
        // A row that clew has not written counts as one item.
        texts.push(...(Array.isArray(items) ? items : [String(items)]));
      }
    }
    database.close();
  }
  for (const [key, value] of Object.entries(localStorage)) {
    if (key.startsWith('clew.page')) {
      const journal = JSON.parse(value);
      texts.push(...journal.texts);
    }
    // A listener in the stub's queue is no event.
    if (key.startsWith('clew.calls')) {
      for (const [, call] of JSON.parse(value)) if (call[0] !== 'on') texts.push(JSON.stringify(call));
    }
  }
  // An event is in both storages if its page did not know whether it was stored.
  return [...new Set(texts)];
};

/** How long (ms) the database may take: one that is blocked never answers. */
const PATIENCE = 5000;

/** Everything unsent that is stored for the tab's origin, as text. Rejects when the store does not answer. */
export const storedTexts = (tab: Tab): Promise<string[]> =>
  Promise.race([
    tab.evaluate(readStored),
    pause(PATIENCE, undefined, { ref: false }).then(() => {
      throw new Error('the store does not answer');
    }),
  ]);

/** The numbers of a run in such texts. */
export const numbersIn = (texts: string[], run: string): number[] =>
  texts.flatMap((text) => {
    const [, n] = new RegExp(`"run":"${run}","n":(\\d+)`).exec(text) ?? [];
    return n === undefined ? [] : Number(n);
  });
