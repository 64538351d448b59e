/** Runs in the page. Puts these values into the tracker's store under these keys, and creates the store if there is none. */
export const write = async (entries: [IDBValidKey, unknown][]): Promise<void> => {
  const opening = indexedDB.open('clew');
  opening.onupgradeneeded = () => opening.result.createObjectStore('clew');
  await new Promise((resolve, reject) => {
    opening.onsuccess = resolve;
    opening.onerror = () => reject(opening.error);
  });
  const transaction = opening.result.transaction('clew', 'readwrite');
  for (const [key, value] of entries) transaction.objectStore('clew').put(value, key);
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  opening.result.close();
};

const id = '12345678-1234-4123-8123-123456789';
const truncated = `{"uuid":"${id}abc","timestamp":"2020-01-01T00:00:00.000Z","event":"trunc`;
/** A text that looks like an event, inside lists where no event belongs. */
export const listed = `{"uuid":"${id}abd","timestamp":"2020-01-01T00:00:00.000Z","event":"listed","source":"custom"}`;

const values: unknown[] = [
  5,
  null,
  'rubbish',
  '',
  {},
  { items: ['rubbish'] },
  true,
  [],
  [1, 2, 3],
  [null, { a: 1 }, ['rubbish']],
  ['not JSON', '{"uuid":"broken', '{}'],
  [truncated],
  [[listed]],
  ['key', ['rubbish', 5]],
  [{ version: 7 }, [truncated]],
];
export const rows = values.map((value, n): [IDBValidKey, unknown] => [
  ['/clew', 0, n, 'a tab of another version'],
  value,
]);
/** Keys in the range of the rows, with a form that clew never writes. */
export const oddRows = [['/clew'], ['/clew', 0], ['/clew', -1, 'x', 5, 6]].map((key): [IDBValidKey, unknown] => [
  key,
  [listed],
]);

export const visitorId = '12345678-1234-4123-8123-123456789abc';
export const visitors: unknown[] = [
  5,
  'x',
  null,
  [],
  {},
  { thread: 5 },
  { thread: [visitorId] },
  { thread: '------------------------------------', keys: {}, pages: 1 },
  { thread: visitorId, keys: null, pages: 'many' },
  { thread: visitorId, keys: 5, pages: -3 },
  { thread: visitorId, keys: { '/clew': 5 }, pages: 1e300 },
  { thread: visitorId, keys: { '/clew': {} }, pages: {} },
];
export const links: unknown[] = [
  5,
  'x',
  null,
  [],
  {},
  { by: 5, until: 'soon', fails: 'some', okAt: {} },
  { by: 'another', until: 1e300, fails: -1, okAt: 1e300 },
  { by: null, until: null, fails: null, okAt: null },
];
