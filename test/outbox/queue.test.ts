// @module-tag promise
import { describe, expect, it } from 'vitest';
import type { QueuePorts } from '../../src/outbox/queue.ts';
import { eventOf, eventText, idOf, times, upsertText } from '../recorder/items.ts';
import { createMemoryStore } from './memoryStore.ts';
import { createOutbox, noJournal } from './outbox.ts';

const SERVICE = '/clew';

/** The queue of page load number 3. With `isOpen: false`, its database has not answered yet. */
const createPage = ({ isOpen = true } = {}) => {
  const store = createMemoryStore();
  let page = isOpen ? 3 : 0;
  const entry = new Set<string>();
  const journal = {
    ...noJournal,
    keep(texts: readonly string[]) {
      for (const text of texts) entry.add(text);
    },
  };
  const queue = createOutbox({ store, journal, pages: () => page });
  const open = (number: number) => {
    page = number;
  };
  const stored = () => store.rows().map(([, items]) => items);
  /** The items that the page journals if it leaves now. */
  const journaled = () => {
    entry.clear();
    queue.keep(true);
    return [...entry];
  };
  return { store, queue, stored, open, journaled };
};
const microtask = () => Promise.resolve();
/** Lets the queue learn the result of its transaction. */
const settle = async () => {
  for (let i = 0; i < 5; i++) await microtask();
};

describe('an added item', () => {
  it('is stored at the end of the microtask, with all others in one transaction and one row', async () => {
    const { store, queue, stored } = createPage();
    const texts = times(50, (i) => eventText(`e${i}`));
    for (const text of texts) queue.add(text);
    expect(store.commits).toHaveLength(0);
    await microtask();
    expect(store.commits).toHaveLength(1);
    expect(stored()).toEqual([texts]);
  });

  it('is in the row of its microtask, in the order of the calls', async () => {
    const { queue, stored } = createPage();
    const texts = times(12, (i) => eventText(`e${i}`));
    for (const text of texts) {
      queue.add(text);
      await microtask();
    }
    expect(stored()).toEqual(texts.map((text) => [text]));
  });

  it('is in a row of at most a batch, in items and characters', async () => {
    const { store, queue, stored } = createPage();
    const texts = [...times(450, () => eventText()), ...times(3, () => eventOf(26_000)), upsertText(), eventText()];
    for (const text of texts) queue.add(text);
    await microtask();
    expect(store.commits).toHaveLength(1);
    expect(stored().map((items) => items?.length)).toEqual([200, 200, 51, 4]);
    expect(stored().flat()).toEqual(texts);
  });

  it('starts another row if it exceeds a batch by one character', async () => {
    const { queue, stored } = createPage();
    for (const text of [eventOf(20_000), eventOf(40_000), eventOf(300)]) queue.add(text);
    await microtask();
    expect(stored().map((items) => items?.length)).toEqual([2, 1]);
  });

  it('is in memory at once, oldest first', () => {
    const { queue } = createPage({ isOpen: false });
    const texts = times(3, () => eventText());
    for (const text of texts) queue.add(text);
    expect([...queue.items]).toEqual(texts.map((text) => [idOf(text), text]));
  });

  it('counts for the length of the queue until it is removed', () => {
    const { queue } = createPage({ isOpen: false });
    expect(queue.length()).toBe(0);
    const texts = [eventOf(300), eventOf(1000), eventOf(5000)];
    for (const text of texts) queue.add(text);
    expect(queue.length()).toBe(6300);
    queue.remove([idOf(texts[1] as string), 'somebody else’s']);
    expect(queue.length()).toBe(5300);
    queue.remove(texts.map(idOf));
    expect(queue.length()).toBe(0);
  });

  it('is stored once, in the call, if the page unloads before the microtask', async () => {
    const { store, queue, stored } = createPage();
    const text = eventText();
    queue.add(text);
    expect(await queue.persist()).toBe(true);
    expect(stored()).toEqual([[text]]);
    await microtask();
    expect(store.commits).toHaveLength(1);
  });

  it('never joins a row that is being stored', async () => {
    const { queue, stored } = createPage();
    const texts = times(3, () => eventText());
    for (const text of texts) {
      queue.add(text);
      queue.persist();
    }
    expect(stored()).toEqual(texts.map((text) => [text]));
    await microtask();
    expect(stored()).toEqual(texts.map((text) => [text]));
  });

  it('shares its transaction with records stored at the same time', async () => {
    const { store, queue } = createPage();
    const text = eventText();
    queue.add(text);
    queue.persist([['link', { by: 'a' }]]);
    await microtask();
    expect(store.commits).toEqual([
      [
        [[SERVICE, 3, 1, 'tab', 1], [text]],
        ['link', { by: 'a' }],
      ],
    ]);
    expect(store.record('link')).toEqual({ by: 'a' });
  });
});

it('an empty queue starts no transaction', async () => {
  const { store, queue } = createPage();
  expect(await queue.persist()).toBe(true);
  expect(store.commits).toEqual([]);
});

describe('a queue that is not open', () => {
  it('writes nothing, and stores everything once it is open', async () => {
    const { store, queue, stored, open } = createPage({ isOpen: false });
    const texts = times(3, () => eventText());
    for (const text of texts) queue.add(text);
    await microtask();
    expect(queue.persist([['link', { by: 'a' }]])).toBeUndefined();
    expect(store.commits).toHaveLength(0);
    open(7);
    expect(await queue.persist()).toBe(true);
    expect(stored()).toEqual([texts]);
    expect(store.rows()[0]?.[0]).toEqual([SERVICE, 7, 1, 'tab', 3]);
    expect(store.record('link')).toBeUndefined();
  });

  it('writes nothing after it is closed', async () => {
    const { store, queue, open } = createPage();
    queue.add(eventText());
    open(0);
    queue.add(eventText());
    await microtask();
    expect(queue.persist()).toBeUndefined();
    expect(store.commits).toHaveLength(0);
  });
});

it('rows are ordered by page load and count, not by text or time', async () => {
  const store = createMemoryStore();
  const names: string[] = [];
  for (const page of [10, 2, 9]) {
    const queue = createOutbox({ store, page: `tab ${page}`, pages: () => page });
    for (let count = 1; count <= 11; count++) {
      queue.add(eventText(`${page}.${count}`));
      await microtask();
    }
  }
  for (const page of [2, 9, 10]) names.push(...times(11, (i) => `${page}.${i + 1}`));
  const rows = await store.read(SERVICE);
  expect(rows.flatMap(([, items = []]) => items.map((text) => JSON.parse(text).event))).toEqual(names);
});

describe('a removed item', () => {
  it('takes an empty row with it and leaves other items of its row, in the next transaction', async () => {
    const { store, queue } = createPage();
    const [a, b, c, d, e] = times(5, () => eventText()) as [string, string, string, string, string];
    for (const texts of [[a, b], [c, d], [e]]) {
      for (const text of texts) queue.add(text);
      await microtask();
    }
    const before = store.commits.length;
    expect(queue.remove([idOf(a), idOf(b), idOf(c), 'somebody else’s'])).toEqual([a, b, c]);
    expect([...queue.items.values()]).toEqual([d, e]);
    await settle();
    expect(store.commits).toHaveLength(before);
    queue.persist();
    expect(store.commits.slice(before)).toEqual([
      [
        [[SERVICE, 3, 1, 'tab', 2], undefined],
        [[SERVICE, 3, 2, 'tab', 2], [d]],
      ],
    ]);
    expect(store.rows()).toEqual([
      [[SERVICE, 3, 2, 'tab', 2], [d]],
      [[SERVICE, 3, 3, 'tab', 1], [e]],
    ]);
    queue.remove([idOf(d)]);
    queue.persist();
    expect(store.rows()).toEqual([[[SERVICE, 3, 3, 'tab', 1], [e]]]);
  });

  it('leaves its row at its key, even if the page has another number by then', async () => {
    const { store, queue, open } = createPage();
    const [a, b] = times(2, () => eventText()) as [string, string];
    queue.add(a);
    queue.add(b);
    await microtask();
    open(8);
    queue.remove([idOf(a)]);
    queue.persist();
    expect(store.rows()).toEqual([[[SERVICE, 3, 1, 'tab', 2], [b]]]);
  });

  it('leaves the other items of its row to the tab that writes them', async () => {
    const { store, queue } = createPage();
    const [a, b, c] = times(3, () => eventText()) as [string, string, string];
    for (const text of [a, b]) queue.add(text);
    await microtask();
    queue.add(c);
    await settle();
    const before = store.commits.length;
    expect(queue.remove([idOf(a), idOf(c)], [], true)).toEqual([a, c]);
    expect([...queue.items.values()]).toEqual([b]);
    queue.persist();
    expect(store.commits.slice(before)).toEqual([[[[SERVICE, 3, 2, 'tab', 1], undefined]]]);
  });

  it('that is not in the queue changes no row', async () => {
    const { store, queue } = createPage();
    const text = eventText();
    queue.add(text);
    await microtask();
    queue.remove([idOf(text)]);
    queue.persist();
    const before = store.commits.length;
    expect(queue.remove([idOf(text), 'unknown'])).toEqual([]);
    queue.persist();
    expect(store.commits).toHaveLength(before);
  });

  it('is not stored if it was not stored before', async () => {
    const { queue, stored } = createPage();
    const [a, b] = times(2, () => eventText()) as [string, string];
    queue.add(a);
    queue.add(b);
    expect(queue.remove([idOf(a)])).toEqual([a]);
    await microtask();
    expect(stored()).toEqual([[b]]);
  });

  it('does not affect items added later', async () => {
    const { queue, stored } = createPage();
    const [a, b] = times(2, () => eventText()) as [string, string];
    queue.add(a);
    queue.remove([idOf(a)]);
    queue.add(b);
    await microtask();
    expect(stored()).toEqual([[b]]);
    expect(queue.remove([idOf(b)])).toEqual([b]);
    queue.persist();
    expect(stored()).toEqual([]);
  });
});

describe('an item that could not be stored', () => {
  it('stays in memory and is written in its place by the next transaction', async () => {
    const { store, queue, stored } = createPage();
    const [a, b, c] = times(3, () => eventText()) as [string, string, string];
    store.isBroken = true;
    for (const text of [a, b]) {
      queue.add(text);
      await settle();
    }
    expect(stored()).toEqual([]);
    expect([...queue.items.values()]).toEqual([a, b]);
    store.isBroken = false;
    await settle();
    expect(store.commits).toEqual([]);
    queue.add(c);
    await settle();
    expect(store.commits).toHaveLength(1);
    expect(stored()).toEqual([[a], [b], [c]]);
  });

  it('is not written again once it is stored', async () => {
    const { store, queue } = createPage();
    store.isBroken = true;
    queue.add(eventText());
    await settle();
    store.isBroken = false;
    queue.persist();
    await settle();
    queue.persist();
    expect(store.commits).toHaveLength(1);
  });

  it('is written with its latest content', async () => {
    const { store, queue, stored } = createPage();
    const [a, b, c] = times(3, () => eventText()) as [string, string, string];
    store.isBroken = true;
    queue.add(a);
    queue.add(b);
    await microtask();
    queue.add(c);
    await settle();
    store.isBroken = false;
    queue.remove([idOf(a), idOf(c)]);
    queue.persist();
    expect(stored()).toEqual([[b]]);
  });

  it('is removed from the store later if the removal failed', async () => {
    const { store, queue, stored } = createPage();
    const [a, b, c] = times(3, () => eventText()) as [string, string, string];
    queue.add(a);
    queue.add(b);
    await microtask();
    queue.add(c);
    await settle();
    store.isBroken = true;
    queue.remove([idOf(a), idOf(c)]);
    queue.persist();
    await settle();
    expect(stored()).toEqual([[a, b], [c]]);
    store.isBroken = false;
    queue.persist();
    expect(stored()).toEqual([[b]]);
  });

  it('does not block other items', async () => {
    const { store, queue } = createPage();
    store.isBroken = true;
    queue.add(eventText());
    queue.persist([['link', { by: 'a' }]]);
    await settle();
    store.isBroken = false;
    queue.persist([['link', { by: 'b' }]]);
    await settle();
    expect(store.commits.map((entries) => entries.map(([key]) => key))).toEqual([[[SERVICE, 3, 1, 'tab', 1], 'link']]);
    expect(store.record('link')).toEqual({ by: 'b' });
  });
});

it('writes all items again when the store may have lost them, and reports until that is done', async () => {
  const { store, queue, stored, journaled } = createPage();
  const [a, b, c] = [eventText('a'), eventText('b'), eventText('c')];
  for (const text of [a, b]) {
    queue.add(text);
    await settle();
  }
  expect(journaled()).toEqual([]);
  store.lose();
  expect(journaled()).toEqual([a, b]);
  queue.add(c);
  await settle();
  expect(stored()).toEqual([[a], [b], [c]]);
  expect(journaled()).toEqual([]);
});

describe('memory', () => {
  it('does not grow with what is stored: it keeps the latest 64 KiB, and the store has all', async () => {
    const { queue, stored } = createPage();
    const texts = times(2000, () => eventOf(400));
    for (const text of texts) {
      queue.add(text);
      await settle();
    }
    expect(queue.length()).toBeGreaterThanOrEqual(65_536);
    expect(queue.length()).toBeLessThan(65_536 + 60_000);
    expect([...queue.items.values()]).toEqual(texts.slice(-queue.items.size));
    expect(queue.hasOlder()).toBe(true);
    expect(stored().flat()).toEqual(texts);
  });

  it('keeps everything that could not be stored', async () => {
    const { store, queue } = createPage();
    store.isBroken = true;
    for (const text of times(500, () => eventOf(400))) queue.add(text);
    await settle();
    expect(queue.items.size).toBe(500);
    expect(queue.hasOlder()).toBe(false);
  });
});

it('a report returns this page’s events that are in the store only, each once, and no others', async () => {
  const { queue } = createPage();
  const texts = times(400, () => eventOf(400));
  for (const text of texts) {
    queue.add(text);
    await settle();
  }
  const [first, second] = texts as [string, string];
  const ids = [first, second].map(idOf);
  expect(queue.items.has(idOf(first))).toBe(false);
  expect(queue.remove(ids, [['tab', first, second, 'no event']])).toEqual([first, second]);
  expect(queue.remove([], [['another tab', texts[2] as string]])).toEqual([]);
  expect(queue.remove([], [null, 'text'] as never)).toEqual([]);
});

it('knows whether the store may have items that memory has not', async () => {
  const store = createMemoryStore();
  createOutbox({ store, page: 'earlier' }).add(upsertText());
  await settle();
  const queue = createOutbox({ store });
  expect([queue.hasOlder(), queue.hasOlder(true)]).toEqual([false, true]);
  queue.measure([]);
  expect(queue.hasOlder(true)).toBe(false);
  queue.measure(await store.read(...queue.query()));
  expect(queue.hasOlder()).toBe(true);
  queue.clear();
  expect(queue.hasOlder()).toBe(true);
  queue.saw([]);
  expect(queue.hasOlder()).toBe(false);
  queue.add(upsertText());
  await settle();
  queue.saw(store.rows().slice(1));
  expect(queue.hasOlder()).toBe(false);
  queue.saw(store.rows());
  expect(queue.hasOlder()).toBe(true);
  queue.saw([]);
  queue.restore();
  expect(queue.hasOlder()).toBe(true);
});

it('a page that is back does not store the rest of a row that others may have settled', async () => {
  const { store, queue } = createPage();
  const [event, upsert] = [eventText(), upsertText()];
  for (const text of [event, upsert]) queue.add(text);
  await settle();
  queue.restore();
  const before = store.commits.length;
  queue.remove([idOf(event)]);
  await queue.persist();
  expect(store.commits).toHaveLength(before);
  queue.saw([]);
  expect(queue.items.size).toBe(0);
});

it('forgets items that another page has taken in, unless the store has their rows', async () => {
  const { queue, stored, open, journaled } = createPage({ isOpen: false });
  const [taken, own, later] = [upsertText(), eventText(), eventText()];
  for (const text of [taken, own]) queue.add(text);
  await settle();
  expect(queue.forget(new Set([idOf(taken), idOf(later)]))).toEqual([taken]);
  expect(journaled()).toEqual([own]);
  open(3);
  queue.add(later);
  await settle();
  expect(stored()).toEqual([[own], [later]]);
  // The other page finds the rows, and takes in nothing that they have.
  expect(queue.forget(new Set([idOf(own)]))).toEqual([]);
  await queue.persist();
  expect(stored()).toEqual([[own], [later]]);
});

describe('an event that only the store had, and that another page has settled', () => {
  const createStored = async (texts: readonly string[], ports: Partial<Pick<QueuePorts, 'isInformed'>> = {}) => {
    const store = createMemoryStore();
    let unseen = 0;
    const onUnseen = (settled: number) => {
      unseen += settled;
    };
    const queue = createOutbox({ ...ports, store, onUnseen });
    for (const text of texts) {
      queue.add(text);
      await settle();
    }
    return { store, queue, unseen: () => unseen };
  };

  it('counts as settled once a read has seen all rows, unless it is an upsert', async () => {
    const texts = times(400, (i) => (i === 1 ? upsertText() : eventOf(400)));
    const { store, queue, unseen } = await createStored(texts);
    const older = texts.filter((text) => !queue.items.has(idOf(text)));
    const left = store.rows().filter(([, items = []]) => texts.indexOf(items[0] ?? '') > 2);
    queue.saw(left);
    expect(unseen()).toBe(2);
    expect(queue.hasOlder()).toBe(true);
    queue.saw(left.filter(([, items = []]) => !older.includes(items[0] ?? '')));
    expect(unseen()).toBe(older.length - 1);
    expect(queue.hasOlder()).toBe(false);
  });

  it('does not count while memory has it, too: it is sent again', async () => {
    const { queue, unseen } = await createStored(times(2, () => eventText()));
    queue.saw([]);
    expect(unseen()).toBe(0);
    expect(queue.items.size).toBe(2);
  });

  it('counts, also if memory has it, on a page that is back from the back/forward cache', async () => {
    const texts = [eventText(), upsertText(), eventText()] as const;
    const { store, queue, unseen } = await createStored(texts);
    queue.restore();
    queue.saw(store.rows().slice(2));
    expect(unseen()).toBe(1);
    expect([...queue.items.keys()]).toEqual([idOf(texts[2])]);
    queue.saw([]);
    expect(unseen()).toBe(1);
  });

  it('counts, also if memory has it, on a page that receives no reports', async () => {
    const texts = [eventText(), upsertText(), eventText()] as const;
    const { store, queue, unseen } = await createStored(texts, { isInformed: () => false });
    queue.saw(store.rows().slice(2));
    expect(unseen()).toBe(1);
    expect([...queue.items.keys()]).toEqual([idOf(texts[2])]);
  });

  it('does not count on such a page while it is not stored, or another page has it', async () => {
    const { store, queue, unseen } = await createStored([eventText()]);
    queue.add(eventText());
    queue.restore();
    queue.saw(store.rows().map(([, texts]) => [['/clew', 1, 1, 'other'], texts]));
    expect([unseen(), queue.items.size]).toEqual([0, 2]);
  });

  it('does not count if the whole database is gone', async () => {
    const { store, queue, unseen } = await createStored(times(400, () => eventOf(400)));
    store.lose();
    queue.saw([]);
    expect(unseen()).toBe(0);
    expect(queue.hasOlder()).toBe(false);
  });

  it('does not count if the whole database is gone, and memory has stored more since', async () => {
    const { store, queue, unseen } = await createStored(times(400, () => eventOf(400)));
    store.lose();
    for (const text of times(400, () => eventOf(400))) {
      queue.add(text);
      await settle();
    }
    queue.saw(store.rows());
    expect(unseen()).toBe(0);
    const left = store.rows().slice(1);
    queue.saw(left);
    expect(unseen()).toBe(1);
  });
});

describe('the bound of the origin', () => {
  const limits = { maxQueuedEvents: 5 };

  it('counts what other pages have stored, without reading it', async () => {
    const store = createMemoryStore();
    const earlier = createOutbox({ store, page: 'earlier', limits });
    for (const text of times(4, () => eventText())) earlier.add(text);
    await settle();
    const queue = createOutbox({ store, limits });
    const rows = await store.read(...queue.query());
    expect(rows.map(([, texts]) => texts)).toEqual([undefined]);
    queue.measure(rows);
    expect(queue.excessOf(eventText())).toBeUndefined();
    queue.add(eventText());
    expect(queue.excessOf(eventText())).toBe('full');
  });

  it('follows what other tabs report, and what is settled', async () => {
    const store = createMemoryStore();
    const text = eventText();
    const other = createOutbox({ store, page: 'other', limits });
    const queue = createOutbox({ store, limits, onSize: other.receive });
    for (const one of [text, ...times(4, () => eventText())]) queue.add(one);
    await settle();
    expect([queue.excessOf(text), other.excessOf(text)]).toEqual(['full', 'full']);
    queue.remove([idOf(text)]);
    queue.settled([text]);
    queue.persist();
    await settle();
    expect([queue.excessOf(text), other.excessOf(text)]).toEqual([undefined, undefined]);
  });

  it('is corrected by a read that sees all rows', async () => {
    const queue = createOutbox({ store: createMemoryStore(), limits });
    queue.receive(1000);
    expect(queue.excessOf(eventText())).toBe('full');
    queue.saw([]);
    expect(queue.excessOf(eventText())).toBeUndefined();
  });

  it.each(['saw', 'measure'] as const)(
    'counts an event once that an earlier generation has stored: %s',
    async (read) => {
      const store = createMemoryStore();
      const queue = createOutbox({ store, limits });
      for (const text of times(4, () => eventText())) queue.add(text);
      await settle();
      const rows = store.rows();
      store.lose();
      queue[read](rows);
      expect(queue.excessOf(eventText())).toBeUndefined();
      queue.add(eventText());
      expect(queue.excessOf(eventText())).toBe('full');
    },
  );

  it('counts a stored event once that is journaled, too', async () => {
    const store = createMemoryStore();
    const text = eventText();
    const earlier = createOutbox({ store, page: 'earlier' });
    earlier.add(text);
    await settle();
    const queue = createOutbox({ store, journal: { ...noJournal, pages: () => ['earlier'] } });
    expect(queue.measure(await store.read(...queue.query()))).toEqual(new Set([idOf(text)]));
    expect(queue.items.has(idOf(text))).toBe(false);
  });
});
