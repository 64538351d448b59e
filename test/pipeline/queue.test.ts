import { describe, expect, it } from 'vitest';
import { changedRows, createQueue } from '../../src/pipeline/queue.ts';
import type { Row } from '../../src/pipeline/store.ts';
import { eventOf, eventText, idOf, times, upsertText } from './items.ts';
import { createMemoryStore } from './memoryStore.ts';

const LIMITS = { maxBatchEvents: 200, maxBatchBytes: 60_000 };
const SERVICE = '/clew';

/** A queue that stores as page load number 3, unless it is not to be opened yet. */
const createPage = ({ isOpen = true, limits = LIMITS } = {}) => {
  const store = createMemoryStore();
  const queue = createQueue(store, SERVICE, 'tab', limits);
  if (isOpen) queue.open(3);
  const stored = () => store.rows().map(([, items]) => items);
  return { store, queue, stored };
};
const microtask = () => Promise.resolve();

describe('what is added', () => {
  it('is stored at the end of the microtask: one transaction and one row for all of it', async () => {
    const { store, queue, stored } = createPage();
    const texts = times(50, (i) => eventText(`e${i}`));
    for (const text of texts) queue.add(text);
    expect(store.commits).toHaveLength(0);
    await microtask();
    expect(store.commits).toHaveLength(1);
    expect(stored()).toEqual([texts]);
  });

  it('makes a row of its own for each microtask, in the order in which it came', async () => {
    const { queue, stored } = createPage();
    const texts = times(12, (i) => eventText(`e${i}`));
    for (const text of texts) {
      queue.add(text);
      await microtask();
    }
    expect(stored()).toEqual(texts.map((text) => [text]));
  });

  it('never makes a row of more than a batch', async () => {
    const { store, queue, stored } = createPage();
    const texts = [...times(450, () => eventText()), ...times(3, () => eventOf(25_000)), upsertText(), eventText()];
    for (const text of texts) queue.add(text);
    await microtask();
    expect(store.commits).toHaveLength(1);
    expect(stored().map((items) => items?.length)).toEqual([200, 200, 51, 2, 1, 1]);
    expect(stored().flat()).toEqual(texts);
  });

  it('is in memory at once, oldest first', () => {
    const { queue } = createPage({ isOpen: false });
    const texts = times(3, () => eventText());
    for (const text of texts) queue.add(text);
    expect([...queue.items]).toEqual(texts.map((text) => [idOf(text), text]));
  });

  it('is stored in the call when the page has no time for a microtask, and only once', async () => {
    const { store, queue, stored } = createPage();
    const text = eventText();
    queue.add(text);
    queue.persist();
    expect(stored()).toEqual([[text]]);
    await microtask();
    expect(store.commits).toHaveLength(1);
  });

  it('shares its transaction with the records set around it', async () => {
    const { store, queue } = createPage();
    const text = eventText();
    queue.record('visitor', { thread: 'a' });
    queue.add(text);
    queue.record('visitor', { thread: 'b' });
    await microtask();
    expect(store.commits).toHaveLength(1);
    expect(store.record('visitor')).toEqual({ thread: 'b' });
    expect(store.rows()).toEqual([[[SERVICE, 3, 1, 'tab'], [text]]]);
  });
});

describe('a queue that is not open', () => {
  it('writes nothing, and stores everything when it is opened', async () => {
    const { store, queue, stored } = createPage({ isOpen: false });
    const texts = times(3, () => eventText());
    for (const text of texts) queue.add(text);
    queue.record('visitor', { thread: 'a' });
    await microtask();
    queue.persist();
    expect(store.commits).toHaveLength(0);
    queue.open(7);
    expect(stored()).toEqual([texts]);
    expect(store.rows()[0]?.[0]).toEqual([SERVICE, 7, 1, 'tab']);
    expect(store.record('visitor')).toEqual({ thread: 'a' });
  });

  it('writes no more once it is closed', async () => {
    const { store, queue } = createPage();
    queue.open(0);
    queue.add(eventText());
    await microtask();
    expect(store.commits).toHaveLength(0);
  });
});

it('orders rows by page load and count, not by text and not by time', async () => {
  const store = createMemoryStore();
  const names: string[] = [];
  for (const page of [10, 2, 9]) {
    const queue = createQueue(store, SERVICE, `tab ${page}`, LIMITS);
    queue.open(page);
    for (let count = 1; count <= 11; count++) {
      queue.add(eventText(`${page}.${count}`));
      await microtask();
    }
  }
  for (const page of [2, 9, 10]) names.push(...times(11, (i) => `${page}.${i + 1}`));
  const rows = await store.read(SERVICE);
  expect(rows.flatMap(([, items = []]) => items.map((text) => JSON.parse(text).event))).toEqual(names);
});

describe('what is removed', () => {
  it('takes whole rows with it, and leaves the rest of others', async () => {
    const { store, queue } = createPage();
    const [a, b, c, d] = times(4, () => eventText()) as [string, string, string, string];
    for (const texts of [
      [a, b],
      [c, d],
    ]) {
      for (const text of texts) queue.add(text);
      await microtask();
    }
    const [removed, rows] = queue.remove([idOf(a), idOf(b), idOf(c), 'somebody else’s']);
    expect(removed).toEqual([a, b, c]);
    expect(rows).toEqual([
      [[SERVICE, 3, 1, 'tab'], undefined],
      [[SERVICE, 3, 2, 'tab'], [d]],
    ]);
    expect([...queue.items.values()]).toEqual([d]);
    await store.transact(rows);
    expect(store.rows()).toEqual([[[SERVICE, 3, 2, 'tab'], [d]]]);
    expect(queue.remove([idOf(d)])[1]).toEqual([[[SERVICE, 3, 2, 'tab'], undefined]]);
  });

  it('changes no row when nothing of it was here', async () => {
    const { queue } = createPage();
    const text = eventText();
    queue.add(text);
    await microtask();
    queue.remove([idOf(text)]);
    expect(queue.remove([idOf(text), 'unknown'])).toEqual([[], []]);
  });

  it('is not stored any more if it was not yet', async () => {
    const { queue, stored } = createPage();
    const [a, b] = times(2, () => eventText()) as [string, string];
    queue.add(a);
    queue.add(b);
    expect(queue.remove([idOf(a)])).toEqual([[a], []]);
    await microtask();
    expect(stored()).toEqual([[b]]);
  });
});

it('names the rows that change: those emptied are deleted, those untouched stay unnamed', () => {
  const [a, b, c, d] = times(4, () => eventText()) as [string, string, string, string];
  const key = (count: number): Row[0] => [SERVICE, 1, count, 'tab'];
  const rows: Row[] = [
    [key(1), [a]],
    [key(2), [b, c]],
    [key(3), [d]],
    [key(4), undefined],
  ];
  expect(changedRows(rows, (text) => text !== a && text !== c)).toEqual([
    [key(1), undefined],
    [key(2), [b]],
  ]);
});
