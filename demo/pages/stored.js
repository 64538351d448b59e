// @ts-check

/**
 * What clew keeps in IndexedDB, read as an outsider: database `clew`, object store `clew`. Row keys are arrays,
 * records stand under names. How they are laid out is clew's own affair and may change, so as little as possible is
 * taken for granted: an item is a text with JSON of an object, whatever it is wrapped in.
 *
 * @typedef {{ key: [service: string, page: number, count: number, ...rest: unknown[]], items: string[] }} Row
 * @typedef {{ rows: Row[], records: [name: string, value: unknown][], events: number, upserts: number }} Stored
 */

/** @type {Stored} */
export const NOTHING = { rows: [], records: [], events: 0, upserts: 0 };

/** An upsert is no event: it is told by what follows its uuid. @param {string} text */
export const isUpsert = (text) => /^\{"uuid":"[^"]*","primary_key":/.test(text);

/** @param {unknown} value @returns {string[]} */
const itemsIn = (value) =>
  [value]
    .flat(3)
    .filter((text) => typeof text === 'string' && text.startsWith('{'))
    .map(String);

/** Opened for this one look, closed again by the caller. @returns {Promise<IDBDatabase>} */
const open = () =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('clew');
    // There is no database yet. To leave an empty one behind would take the tracker's object store away from it.
    request.onupgradeneeded = () => request.transaction?.abort();
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const database = request.result;
      // Whoever wants to delete it must not wait for an onlooker.
      database.onversionchange = () => database.close();
      resolve(database);
    };
  });

/** @returns {Promise<Stored>} */
export const readStored = async () => {
  const database = await open();
  try {
    const target = database.transaction('clew', 'readonly').objectStore('clew');
    const keys = target.getAllKeys();
    const values = target.getAll();
    await new Promise((resolve, reject) => {
      target.transaction.oncomplete = resolve;
      target.transaction.onabort = () => reject(target.transaction.error);
    });
    const entries = keys.result.map((key, index) => /** @type {[any, any]} */ ([key, values.result[index]]));
    const rows = entries.filter(([key]) => Array.isArray(key)).map(([key, value]) => ({ key, items: itemsIn(value) }));
    const records = entries
      .filter(([key]) => typeof key === 'string')
      .map(([name, value]) => /** @type {[string, unknown]} */ ([name, [value].flat().at(-1)]));
    const items = rows.flatMap((row) => row.items);
    const upserts = items.filter(isUpsert).length;
    return { rows, records, events: items.length - upserts, upserts };
  } finally {
    database.close();
  }
};

const SERVICE = '/clew';

/**
 * Who sends, if anybody does, and until when; with nobody, for how long nobody may.
 *
 * @param {Stored} stored
 * @returns {{ isHeld: boolean, until: number } | undefined}
 */
export const linkIn = ({ records }) => {
  const link = records.find(([name]) => name === `link ${SERVICE}`)?.[1];
  if (!link) return undefined;
  return {
    isHeld: Object.values(link).some((value) => typeof value === 'string' && value),
    until: Object(link).until ?? 0,
  };
};

/**
 * The primary key that the visitor was identified with: whatever a record says of this service.
 *
 * @param {Stored} stored
 * @returns {string | undefined}
 */
export const primaryKeyIn = ({ records }) =>
  records
    .flatMap(([, value]) => Object.values(Object(value)))
    .map((value) => Object(value)[SERVICE])
    .find((value) => typeof value === 'string');
