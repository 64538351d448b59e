// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Link } from '../../src/courier/lease.ts';
import type { Report } from '../../src/courier/ports.ts';
import { NO_RENEWAL } from '../../src/courier/renewal.ts';
import type { Answer } from '../../src/courier/transport.ts';
import { createBooks } from '../../src/outbox/books.ts';
import { createJournal } from '../../src/outbox/journal.ts';
import { createReceipts } from '../../src/outbox/receipts.ts';
import { byteLength, isEvent } from '../../src/recorder/event.ts';
import { createMemoryStore, type MemoryStore } from '../outbox/memoryStore.ts';
import { eventNow, eventOf, eventsIn, eventText, idOf, namesIn, times, upsertText } from '../recorder/items.ts';
import {
  createTab,
  createTabs,
  LINK,
  localOf,
  pendingAnswer,
  poisonable,
  type Respond,
  SERVICE,
  type Tab,
} from './tab.ts';

// This runs before the imports, because delivery takes its clock as it loads.
vi.hoisted(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: 1_770_000_000_000 }));

const MINUTE = 60_000;
const LEASE = 22_000;
const DEFER_INTERVAL = 100;
const DELIVERED: Answer = { outcome: 'delivered' };
const FAILED: Answer = { outcome: 'failed' };

const events = (count: number, prefix = 'e') => times(count, (i) => eventText(`${prefix}${i}`));
const linkOf = ({ store }: Tab) => store.record<Link>(LINK);
const bodies = ({ sent }: Tab) => sent.map(({ body }) => body);
/** Answers with one item after the other, and with the last item for ever. */
const answers = (...list: Answer[]): Respond => {
  let n = 0;
  return () => list[Math.min(n++, list.length - 1)] as Answer;
};
/** Lets everything run that waits for no time and no answer. */
const settle = () => vi.advanceTimersByTimeAsync(0);
/** Makes the link proven, as by an earlier page, so that new events wait for the flush interval. */
const begun = async (tab: Tab) => {
  const link: Link = { by: '', until: 0, fails: 0, okAt: Date.now() };
  await tab.store.transact([[LINK, link]]);
  await tab.courier.flush();
  return tab;
};
/** Tracks these as soon as the next transaction is written, while its caller still waits for it. */
const trackAfterNextWrite = (tab: Tab, ...texts: Parameters<Tab['track']>) => {
  const transact = tab.store.transact.bind(tab.store);
  vi.spyOn(tab.store, 'transact').mockImplementationOnce(async (...what) => {
    const written = await transact(...what);
    tab.track(...texts);
    return written;
  });
};
/** Packs the first body when the test resumes it, and every later one at once. */
const heldPacking = () => {
  let resume = () => {};
  let isHeld = false;
  const pack = () =>
    isHeld
      ? Promise.resolve(undefined)
      : new Promise<undefined>((resolve) => {
          isHeld = true;
          resume = () => resolve(undefined);
        });
  return { pack, resume: () => resume() };
};
const online = (isOnline: boolean) => vi.stubGlobal('navigator', { onLine: isOnline });

afterEach(() => {
  vi.clearAllTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('the queue', () => {
  it('is sent in order, in as few requests as the limits allow, and deleted once confirmed', async () => {
    const tab = createTab();
    const ids = tab.track(...events(450));
    await tab.courier.flush();
    expect(tab.sent.map(({ items }) => items.length)).toEqual([200, 200, 50]);
    expect(
      bodies(tab)
        .flatMap(eventsIn)
        .map(({ uuid }) => uuid),
    ).toEqual(ids);
    expect(tab.delivered).toEqual(ids);
    expect(tab.store.rows()).toEqual([]);
    expect(tab.queue.items.size).toBe(0);
    expect(linkOf(tab)).toMatchObject({ by: '', until: 0, fails: 0 });
  });

  it('keeps its order with upserts and single events between', async () => {
    const tab = createTab();
    const single = eventNow('now');
    const items = [eventText('a'), upsertText(), eventText('b'), single, eventText('c')];
    tab.courier.single(idOf(single));
    tab.track(...items);
    await tab.courier.flush();
    expect(tab.sent.flatMap((batch) => batch.items)).toEqual(items);
    expect(tab.sent.map(({ path }) => path)).toEqual([
      '/api/events/batch/',
      '/api/customers/upsert',
      '/api/events/batch/',
      '/events/',
      '/api/events/batch/',
    ]);
  });

  it('needs no more requests behind an upsert than without one', async () => {
    const tab = createTab();
    tab.track(eventText('before'), upsertText(), ...events(450));
    await tab.courier.flush();
    expect(tab.sent.map(({ items }) => items.length)).toEqual([1, 1, 200, 200, 50]);
  });

  it('is sent behind more items than a read takes, which wait for a token', async () => {
    let isExpired = true;
    const tab = createTab({ limits: { maxBatchEvents: 2 } });
    const [, withoutExpired] = NO_RENEWAL;
    tab.courier.renewBy([(items) => items.filter((text) => !isExpired || isEvent(text)), withoutExpired]);
    for (let n = 0; n < 30; n++) {
      tab.track(upsertText());
      await tab.queue.persist();
    }
    tab.track(...events(3));
    await tab.courier.flush();
    expect(tab.delivered).toHaveLength(3);
    expect(linkOf(tab)?.by).toBe('');
    isExpired = false;
    await tab.courier.flush();
    expect(tab.delivered).toHaveLength(33);
  });

  it('is stored before it is sent', async () => {
    const tab: Tab = createTab({
      respond({ items }) {
        expect(tab.store.rows().flatMap(([, stored]) => stored)).toEqual(items);
        return DELIVERED;
      },
    });
    tab.track(...events(3));
    await tab.courier.flush();
    expect(tab.delivered).toHaveLength(3);
  });

  it('sends events of earlier pages first', async () => {
    const [earlier, later] = createTabs(2) as [Tab, Tab];
    later.track(eventText('later'));
    earlier.track(eventText('earlier'));
    await settle();
    await later.courier.flush();
    expect(bodies(later).map(namesIn)).toEqual([['earlier', 'later']]);
  });

  it('is sent by one request at a time, however often flush() is called', async () => {
    let flying = 0;
    let most = 0;
    const tab = createTab({
      limits: { maxBatchEvents: 10 },
      async respond() {
        most = Math.max(most, ++flying);
        await Promise.resolve();
        flying--;
        return DELIVERED;
      },
    });
    const ids = tab.track(...events(100));
    await Promise.all(times(20, () => tab.courier.flush(true)));
    expect(most).toBe(1);
    expect(tab.delivered).toEqual(ids);
  });

  it('waits during a request, and is sent one flush interval after its answer', async () => {
    const { answer, give } = pendingAnswer();
    const tab = createTab({ respond: (batch) => (namesIn(batch.body)[0] === 'first' ? answer : DELIVERED) });
    tab.track(eventText('first'));
    const done = tab.courier.flush();
    await settle();
    tab.track(eventText('second'));
    await tab.queue.persist();
    expect(tab.sent).toHaveLength(1);
    give(DELIVERED);
    await done;
    expect(bodies(tab).map(namesIn)).toEqual([['first']]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(bodies(tab).map(namesIn)).toEqual([['first'], ['second']]);
  });

  it('is sent although it was added while a flush of nothing ended', async () => {
    const tab = await begun(createTab());
    trackAfterNextWrite(tab, eventText('late'));
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(3000);
    expect(bodies(tab).map(namesIn)).toEqual([['late']]);
  });

  it('is sent at once if a full batch was added before a flush of nothing has ended', async () => {
    const tab = await begun(createTab({ limits: { flushInterval: 600_000 } }));
    trackAfterNextWrite(tab, ...events(200));
    await tab.courier.flush();
    await settle();
    expect(tab.sent.map(({ items }) => items.length)).toEqual([200]);
  });

  it('is sent once per flush interval while events trickle in, and flush() settles', async () => {
    const roundTrip = () => new Promise<Answer>((resolve) => setTimeout(() => resolve(DELIVERED), 150));
    const tab = await begun(createTab({ respond: roundTrip }));
    let flushes = 0;
    for (let ms = 0; ms < 20_000; ms += 100) {
      tab.track(eventText());
      if (ms === 10_000) void tab.courier.flush().then(() => flushes++);
      await vi.advanceTimersByTimeAsync(100);
      if (ms === 10_500) expect(flushes).toBe(1);
    }
    expect(tab.sent.length).toBeLessThanOrEqual(8);
    await vi.advanceTimersByTimeAsync(5000);
    expect(tab.delivered).toHaveLength(200);
  });

  it('is sent without a pause while whole batches are queued, and flush() settles', async () => {
    const tab: Tab = await begun(
      createTab({
        limits: { maxBatchEvents: 10 },
        respond() {
          if (tab.sent.length < 20) tab.track(...events(10));
          return DELIVERED;
        },
      }),
    );
    tab.track(...events(5));
    await tab.courier.flush();
    expect(tab.sent.length).toBeLessThan(5);
    await settle();
    expect(tab.delivered.length).toBeGreaterThanOrEqual(190);
  });

  it('is sent from memory when the store is empty, as after the site cleared storage', async () => {
    const tab = createTab();
    const ids = tab.track(...events(3));
    await settle();
    tab.store.clear(SERVICE, [LINK]);
    await tab.courier.flush();
    expect(tab.delivered).toEqual(ids);
  });
});

describe('the next request is sent', () => {
  it('at once, with all events of the task, while no request was confirmed', async () => {
    const tab = createTab();
    await tab.courier.flush();
    tab.track(eventText('a'));
    tab.track(eventText('b'));
    expect(tab.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(bodies(tab).map(namesIn)).toEqual([['a', 'b']]);
    tab.track(eventText('c'));
    await vi.advanceTimersByTimeAsync(2999);
    expect(tab.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(bodies(tab).map(namesIn)).toEqual([['a', 'b'], ['c']]);
  });

  it('at once if the event came during a flush of nothing', async () => {
    const tab = createTab({ limits: { flushInterval: 600_000 } });
    trackAfterNextWrite(tab, eventText('first'));
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(1);
    expect(bodies(tab).map(namesIn)).toEqual([['first']]);
  });

  it('at once when the last confirmation is more than ten minutes old', async () => {
    const tab = await begun(createTab());
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    tab.track(eventText());
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.sent).toHaveLength(1);
  });

  it('not before the back-off ends, whatever is added', async () => {
    const [earlier, tab] = createTabs(2, { respond: () => FAILED }) as [Tab, Tab];
    vi.spyOn(Math, 'random').mockReturnValue(1);
    earlier.track(eventText());
    await earlier.courier.flush();
    earlier.leave();
    await tab.courier.flush();
    tab.track(eventText());
    await vi.advanceTimersByTimeAsync(900);
    expect(tab.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(tab.sent).toHaveLength(1);
  });

  it('not before the wait after a refusal of the tab’s key ends, although another tab has sent meanwhile', async () => {
    const [refused, other] = createTabs(2, { respond: answers({ outcome: 'refused' }, DELIVERED) }) as [Tab, Tab];
    refused.track(eventText());
    await refused.courier.flush();
    await vi.advanceTimersByTimeAsync(MINUTE);
    await other.courier.flush(true);
    refused.track(eventText());
    await vi.advanceTimersByTimeAsync(4 * MINUTE - 1);
    // A tab that sends more often would let all tabs wait again and again.
    expect([refused.sent.length, other.sent.length]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(refused.sent).toHaveLength(2);
  });

  it('one flush interval after the first event, if a request was confirmed', async () => {
    const tab = await begun(createTab({ limits: { flushInterval: 500 } }));
    tab.track(eventText('a'));
    await vi.advanceTimersByTimeAsync(300);
    tab.track(eventText('b'));
    await vi.advanceTimersByTimeAsync(199);
    expect(tab.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(bodies(tab).map(namesIn)).toEqual([['a', 'b']]);
  });

  it.each([
    ['events', () => events(200)],
    ['bytes', () => times(3, () => eventOf(20_000))],
  ])('at once when a whole batch of %s is queued', async (_what, make) => {
    const tab = await begun(createTab());
    const items = make();
    tab.track(...items.slice(0, -1));
    await settle();
    expect(tab.sent).toEqual([]);
    tab.track(...items.slice(-1));
    await settle();
    expect(tab.delivered).toHaveLength(items.length);
  });

  it('never, when the queue is empty', async () => {
    const tab = createTab();
    tab.track(eventText());
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(vi.getTimerCount()).toBe(0);
    expect(tab.sent).toHaveLength(1);
    expect(tab.deferred()).toBeUndefined();
  });
});

describe('a page that is back from the back/forward cache', () => {
  it('sends its events again with the next flush, although the answer to its last request never arrives', async () => {
    online(false);
    const { answer } = pendingAnswer();
    const tab: Tab = createTab({ respond: () => (tab.bodies.length === 1 ? answer : DELIVERED) });
    const ids = tab.track(...events(3));
    void tab.courier.flush();
    await settle();
    expect(tab.sent).toHaveLength(1);
    tab.leave();
    tab.courier.restore();
    void tab.courier.flush(true);
    await settle();
    expect(tab.sent).toHaveLength(2);
    expect(tab.delivered).toEqual(ids);
  });
});

describe('a row that is only partly in a batch', () => {
  it('is rewritten with its other items', async () => {
    const { answer, give } = pendingAnswer();
    const tab = await begun(createTab({ respond: ({ items }) => (items.length === 200 ? DELIVERED : answer) }));
    tab.track(...events(150));
    await settle();
    tab.track(...events(149, 'f'));
    const done = tab.courier.flush();
    await settle();
    expect(tab.store.rows().map(([key, items]) => [key[2], items?.length])).toEqual([[2, 99]]);
    give(DELIVERED);
    await done;
    expect(tab.store.rows()).toEqual([]);
    expect(bodies(tab).flatMap(namesIn)).toEqual([...times(150, (i) => `e${i}`), ...times(149, (i) => `f${i}`)]);
  });
});

describe('a failure', () => {
  const failing: [string, Respond][] = [
    ['an answer that means "not now"', () => FAILED],
    ['a transport that rejects', () => Promise.reject(new TypeError('network error'))],
  ];

  it.each(failing)(
    'makes the tracker send the same batch, byte for byte, until it is confirmed: %s',
    async (_what, fails) => {
      let n = 0;
      const tab = createTab({ respond: (batch, leaving) => (n++ < 3 ? fails(batch, leaving) : DELIVERED) });
      const ids = tab.track(...events(20));
      for (let i = 0; i < 3; i++) {
        await tab.courier.flush(true);
        ids.push(...tab.track(eventText(`more ${i}`)));
      }
      await tab.courier.flush(true);
      const [first, second, third, fourth, ...rest] = bodies(tab);
      expect([second, third, fourth]).toEqual([first, first, first]);
      expect(rest.map(namesIn)).toEqual([['more 0', 'more 1', 'more 2']]);
      expect(tab.delivered).toEqual(ids);
      expect(tab.errors).toEqual([]);
    },
  );

  it('starts a back-off, after which the tracker retries', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const tab = createTab({ respond: answers(FAILED, FAILED, DELIVERED) });
    tab.track(...events(3));
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(999);
    expect(tab.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1999);
    expect(tab.sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.delivered).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('starts a back-off whose end is not missed if the timer ends a moment early', async () => {
    // The timer takes 5 ms, and ends 0.7 ms early.
    vi.spyOn(Math, 'random').mockReturnValue(0.0057);
    const tab = createTab({ respond: answers(FAILED, DELIVERED), limits: { flushInterval: 10 * MINUTE } });
    tab.track(...events(3));
    await tab.courier.flush();
    const { transact } = tab.store;
    vi.spyOn(tab.store, 'transact').mockImplementation(async (...what) => {
      const written = await transact(...what);
      vi.setSystemTime(Date.now() + 1);
      return written;
    });
    await vi.advanceTimersByTimeAsync(100);
    expect(tab.delivered).toHaveLength(3);
  });

  it('delays a full batch, too, as long as Retry-After asks', async () => {
    const tab = createTab({ respond: answers({ outcome: 'failed', retryAfter: 90_000 }, DELIVERED) });
    tab.track(eventText());
    await tab.courier.flush();
    tab.track(...events(400));
    await vi.advanceTimersByTimeAsync(89_999);
    expect(tab.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.delivered).toHaveLength(401);
  });

  it('with Retry-After makes all pages wait that long, new ones, too, whatever asks for a flush', async () => {
    const old = createTab({ respond: answers({ outcome: 'failed', retryAfter: 90_000 }, DELIVERED) });
    old.track(eventText());
    await old.courier.flush();
    await old.courier.flush(true);
    old.leave();
    const fresh = createTab({ store: old.store, name: 'fresh', page: 2 });
    await fresh.courier.flush(true);
    old.courier.restore();
    await old.courier.flush(true);
    expect([...old.sent, ...fresh.sent]).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(90_000);
    expect([...old.sent, ...fresh.sent]).toHaveLength(2);
    expect(old.store.rows()).toEqual([]);
  });

  it('without Retry-After starts a back-off that each new page ends', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const old = createTab({ respond: () => FAILED });
    const ids = old.track(eventText());
    await old.courier.flush();
    const fresh = createTab({ store: old.store, name: 'fresh', page: 2 });
    await fresh.courier.flush(true);
    expect(fresh.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
  });

  it('keeps its Retry-After if the page leaves before the database has written it', async () => {
    online(false);
    const store = createMemoryStore();
    const tab = createTab({
      store,
      respond() {
        store.isHeldUp = true;
        return { outcome: 'failed', retryAfter: 90_000 };
      },
    });
    tab.track(eventText());
    void tab.courier.flush();
    await settle();
    tab.leave();
    store.isHeldUp = false;
    const fresh = createTab({ store, name: 'fresh', page: 2 });
    await fresh.courier.flush(true);
    expect(fresh.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(90_000);
    expect(fresh.sent).toHaveLength(1);
  });

  it('that arrives when the page is back from the back/forward cache pauses it', async () => {
    online(false);
    const { answer, give } = pendingAnswer();
    const packing = heldPacking();
    let pack = async () => undefined;
    const tab = createTab({ pack: () => pack(), respond: () => (tab.bodies.length === 1 ? answer : DELIVERED) });
    tab.track(eventText());
    const broken = tab.courier.flush();
    await settle();
    tab.leave();
    tab.courier.restore();
    give({ outcome: 'failed', retryAfter: 90_000 });
    await broken;
    pack = packing.pack;
    await tab.courier.flush(true);
    expect(tab.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(90_000);
    packing.resume();
    await settle();
    expect(tab.delivered).toHaveLength(1);
  });

  it.each([
    ['pause', true],
    ['back-off', false],
  ])('that arrives then shortens no longer %s of another tab', async (_what, isAsked) => {
    online(false);
    const { answer, give } = pendingAnswer();
    const store = createMemoryStore();
    const tab = createTab({ store, respond: () => (tab.bodies.length === 1 ? answer : DELIVERED) });
    tab.track(eventText());
    const broken = tab.courier.flush();
    await settle();
    tab.leave();
    const until = Date.now() + 90_000;
    const asked = isAsked ? until : 0;
    await store.transact<Link>([], LINK, (link) => ({ ...link, by: '', until, fails: 1, okAt: 0, asked }));
    tab.courier.restore();
    give({ outcome: 'failed', retryAfter: 1000 });
    await broken;
    await store.transact<Link>([], LINK, (link) => {
      expect(link).toMatchObject({ until, asked });
      return link;
    });
  });

  it('ends when the page returns during the request, but not before it', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const returns: Promise<void>[] = [];
    const tab = createTab({
      respond() {
        const { length } = tab.sent;
        if (length === 1 || length === 3) returns.push(tab.courier.flush(true));
        if (length === 1) tab.track(eventText());
        return length === 1 ? DELIVERED : FAILED;
      },
    });
    tab.track(eventText());
    await tab.courier.flush();
    await Promise.all(returns);
    // The second request was the attempt of the first return.
    expect(tab.sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(999);
    expect(tab.sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all(returns);
    expect(tab.sent).toHaveLength(4);
  });

  it('allows few requests in an hour of outage, and no event is lost', async () => {
    const tab = createTab({ respond: () => FAILED });
    for (let minute = 0; minute < 60; minute++) {
      tab.track(eventText(`minute ${minute}`));
      await vi.advanceTimersByTimeAsync(MINUTE);
    }
    // Ten requests until the back-off is 5 min. Later waits are half of that on average, so there is less than one a minute.
    expect(tab.sent.length).toBeLessThan(60);
    expect(tab.queue.items.size).toBe(60);
    expect(tab.store.rows().flatMap(([, items]) => items)).toHaveLength(60);
  });

  it('of a single event makes the tracker send it in a batch, with its own time', async () => {
    const tab = createTab({ respond: answers(FAILED, DELIVERED) });
    const single = eventNow('now');
    const now = Date.now();
    tab.courier.single(idOf(single));
    tab.track(single);
    await tab.courier.flush();
    await tab.courier.flush(true);
    expect(tab.sent.map(({ path }) => path)).toEqual(['/events/', '/api/events/batch/']);
    expect(eventsIn(tab.sent[1]?.body ?? '')[0]?.timestamp).toBe(new Date(now).toISOString());
  });
});

it('a single event that has waited for long goes in a batch, with its time', async () => {
  const tab = createTab();
  const single = eventNow('now');
  tab.courier.single(idOf(single));
  vi.setSystemTime(Date.now() + MINUTE);
  tab.track(single);
  await tab.courier.flush();
  expect(tab.sent.map(({ path }) => path)).toEqual(['/api/events/batch/']);
});

describe('a rejected key or address', () => {
  const refused: Answer = { outcome: 'refused', message: '401 unknown key' };

  it('keeps all events, is reported once, and pauses for 5 min despite flush()', async () => {
    const tab = createTab({ respond: answers(refused, DELIVERED) });
    const ids = tab.track(...events(10));
    await tab.courier.flush();
    expect(tab.errors).toEqual(['401 unknown key']);
    await tab.courier.flush(true);
    await vi.advanceTimersByTimeAsync(5 * MINUTE - 1);
    expect(tab.sent).toHaveLength(1);
    expect(tab.queue.items.size).toBe(10);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.delivered).toEqual(ids);
  });

  it('is retried by each new page', async () => {
    const old = createTab({ respond: () => refused });
    const ids = old.track(...events(3));
    await old.courier.flush();
    const fresh = createTab({ store: old.store, name: 'fresh', page: 2 });
    await fresh.courier.flush(true);
    expect(fresh.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(old.store.rows()).toEqual([]);
  });
});

describe('a poison event', () => {
  const refusal: Answer = { outcome: 'rejected', message: '422 payload' };
  const batchOf50 = (...poison: number[]) => {
    const items = events(50);
    const bad = new Set(poison.map((i) => items[i] as string));
    return { items, isPoison: (text: string) => bad.has(text), bad: [...bad].map(idOf) };
  };

  it.each([
    ['first', [0]],
    ['in the middle', [24]],
    ['last', [49]],
    ['three of them', [7, 8, 31]],
    ['every sixth, more than it takes in a row to blame the service', [2, 8, 14, 20, 26, 32, 38, 44]],
  ])('among 50 is dropped as rejected, and the others arrive once and in order: %s', async (_where, poison) => {
    const { items, isPoison, bad } = batchOf50(...poison);
    const { arrived, respond } = poisonable(isPoison, refusal);
    const tab = createTab({ respond });
    const ids = tab.track(...items);
    await tab.courier.flush();
    const good = ids.filter((id) => !bad.includes(id));
    expect(arrived).toEqual(good);
    expect(tab.delivered).toEqual(good);
    expect(tab.rejected).toEqual(bad);
    expect(tab.errors).toEqual(bad.map(() => '422 payload'));
    expect(tab.store.rows()).toEqual([]);
    expect(tab.sent.length).toBeLessThan(25 * poison.length);
  });

  it('that is answered 503, like an outage, starts a back-off and no event is dropped', async () => {
    const { items, isPoison } = batchOf50(24);
    const { arrived, respond } = poisonable(isPoison, { outcome: 'failed', status: 503, message: '503 try later' });
    const tab = createTab({ respond });
    tab.track(...items);
    for (let i = 0; i < 20; i++) await tab.courier.flush(true);
    expect(arrived).toEqual([]);
    expect(tab.rejected).toEqual([]);
    expect(tab.store.rows().flatMap(([, texts]) => texts ?? [])).toEqual(items);
  });

  it('that a relay names while it accepts the others is dropped, and nothing is sent again', async () => {
    const items = events(50);
    const uuid = idOf(items[24] as string);
    const tab = createTab({
      respond: () => ({ outcome: 'delivered', rejected: [{ uuid, reason: 'event: expected text' }], message: 'see' }),
    });
    tab.track(...items);
    await tab.courier.flush();
    expect(tab.sent).toHaveLength(1);
    expect(tab.rejected).toEqual([uuid]);
    expect(tab.delivered).toHaveLength(49);
    expect(tab.errors).toEqual(['see']);
    expect(tab.store.rows()).toEqual([]);
  });

  it('is ruled out after five refusals in a row: no event is dropped, and sending pauses', async () => {
    let isDown = true;
    const tab = createTab({ respond: () => (isDown ? refusal : DELIVERED) });
    const ids = tab.track(...events(40));
    await tab.courier.flush();
    const alone = () => tab.sent.filter(({ items }) => items.length === 1).map(({ items }) => idOf(items[0] as string));
    expect(alone()).toEqual(ids.slice(0, 5));
    expect(tab.errors).toEqual(['422 payload']);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);

    const requests = tab.sent.length;
    await tab.courier.flush(true);
    await vi.advanceTimersByTimeAsync(5 * MINUTE - 1);
    expect(tab.sent).toHaveLength(requests);
    // The service still refuses: clew sends one more request and drops nothing.
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.sent).toHaveLength(requests + 1);
    isDown = false;
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(tab.rejected).toEqual([]);
    expect(tab.delivered).toHaveLength(40);
    expect(tab.delivered.toSorted()).toEqual(ids.toSorted());
  });

  it('is ruled out for an event refused only in an outage, which arrives later', async () => {
    const items = events(50);
    let isDown = true;
    const { arrived, respond } = poisonable(() => isDown, refusal);
    const tab = createTab({
      respond(batch, leaving) {
        const answer = respond(batch, leaving);
        // The service is back once it has refused two valid events alone.
        isDown &&= batch.items[0] !== items[1];
        return answer;
      },
    });
    const ids = tab.track(...items);
    await tab.courier.flush();
    expect(arrived).toEqual([2, 0, 1, ...times(47, (i) => i + 3)].map((i) => ids[i]));
    expect(tab.rejected).toEqual([]);
    expect(tab.store.rows()).toEqual([]);
  });
});

it.each([
  [0, 212],
  [106, 106],
])('rejected properties and events block no others behind %i and %i properties', async (before, after) => {
  const properties = (count: number) => times(count, (n) => upsertText({ n }));
  const refusal: Answer = { outcome: 'rejected', status: 422 };
  const tab = createTab({
    respond: ({ items }) => (items.some((text) => text.includes('poison')) ? refusal : DELIVERED),
  });
  const items = [
    upsertText({ n: 'poison' }),
    ...properties(before),
    eventText('poison'),
    ...properties(after),
    eventText('good'),
  ];
  const ids: string[] = [];
  for (const item of items) {
    ids.push(...tab.track(item));
    // Each has a row of its own.
    await tab.queue.persist();
  }
  await tab.courier.flush();
  await vi.advanceTimersByTimeAsync(60 * MINUTE);
  expect(tab.delivered.toSorted()).toEqual(ids.filter((_id, at) => !items[at]?.includes('poison')).toSorted());
  expect(tab.store.rows()).toEqual([]);
});

describe('a poison event that is answered 500, like an outage', () => {
  const failure: Answer = { outcome: 'failed', status: 500, message: '500 Internal Server Error' };
  const places: [string, number[]][] = [
    ['first', [0]],
    ['in the middle', [24]],
    ['three of them', [7, 8, 31]],
  ];
  /** 50 events, some of them poison. */
  const open = (...poison: number[]) => {
    const items = events(50);
    const { arrived, respond } = poisonable((text) => poison.some((i) => items[i] === text), failure);
    const tab = createTab({ respond });
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const ids = tab.track(...items);
    const bad = poison.map((i) => ids[i]);
    return { tab, ids, arrived, bad, good: ids.filter((id) => !bad.includes(id)) };
  };

  it('is bisected only after two failures', async () => {
    const { tab } = open(24);
    await vi.advanceTimersByTimeAsync(1000);
    expect(tab.sent.map(({ items }) => items.length)).toEqual([50]);
    await vi.advanceTimersByTimeAsync(1);
    expect(tab.sent.slice(0, 3).map(({ items }) => items.length)).toEqual([50, 50, 24]);
    expect(bodies(tab)[1]).toBe(bodies(tab)[0]);
  });

  it.each(places)('does not block the others: all of them arrive, once and in order: %s', async (_where, poison) => {
    const { tab, arrived, good } = open(...poison);
    await vi.advanceTimersByTimeAsync(15 * MINUTE);
    expect(arrived).toEqual(good);
    expect(tab.delivered).toEqual(good);
  });

  it.each(places)(
    'is dropped as rejected once the next event is confirmed and it is refused: %s',
    async (_where, poison) => {
      const { tab, bad } = open(...poison);
      await vi.advanceTimersByTimeAsync(15 * MINUTE);
      expect(tab.rejected).toEqual(bad);
      expect(tab.errors).toEqual(bad.map(() => failure.message));
      expect(tab.store.rows()).toEqual([]);
    },
  );

  it('stays queued as the last event, until another one is confirmed', async () => {
    const { tab, arrived, bad, good } = open(49);
    await vi.advanceTimersByTimeAsync(15 * MINUTE);
    expect(arrived).toEqual(good);
    expect(tab.rejected).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(bad);
    const [more] = tab.track(eventText('more'));
    await vi.advanceTimersByTimeAsync(15 * MINUTE);
    expect(arrived).toEqual([...good, more]);
    expect(tab.rejected).toEqual(bad);
    expect(tab.store.rows()).toEqual([]);
  });

  it('stays queued as the only event, however often it is refused', async () => {
    const tab = createTab({ respond: () => failure });
    const ids = tab.track(eventText());
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    for (let i = 0; i < 20; i++) await tab.courier.flush(true);
    expect(tab.sent.length).toBeGreaterThan(20);
    expect(tab.rejected).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
  });

  it('is ruled out if every request is answered so: all events arrive once afterwards', async () => {
    let isDown = true;
    const { arrived, respond } = poisonable(() => isDown, failure);
    const tab = createTab({ respond });
    const ids = tab.track(...events(50));
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(tab.rejected).toEqual([]);
    expect(tab.errors).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
    isDown = false;
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(arrived).toHaveLength(50);
    expect(arrived.toSorted()).toEqual(ids.toSorted());
    expect(tab.delivered).toEqual(arrived);
  });
});

it('dropped events for lack of room cause one pass, and the browser gets no other batch to send', async () => {
  const defer = vi.fn(() => () => {});
  const tab = createTab({ defer, limits: { flushInterval: 3000 } });
  const reads = vi.spyOn(tab.store, 'transact');
  for (let n = 0; n < 100; n++) tab.courier.lookSoon();
  await vi.advanceTimersByTimeAsync(2999);
  expect(reads).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(reads).toHaveBeenCalledTimes(1);
  expect(defer).not.toHaveBeenCalled();
});

describe('a service that accepts less than a batch (413)', () => {
  const MOST = 20_000;
  const refusal: Answer = { outcome: 'rejected', status: 413, message: '413 too large' };
  const isTooMuch = ({ bytes }: { bytes: number }) => bytes > MOST;
  const respond: Respond = (batch) => (isTooMuch(batch) ? refusal : DELIVERED);

  it('gets two refused requests and then smaller ones: each event arrives once', async () => {
    const tab = createTab({ respond });
    const ids = tab.track(...times(100, () => eventOf(1000)));
    await tab.courier.flush();
    expect(tab.delivered).toEqual(ids);
    expect(tab.sent.map(isTooMuch).lastIndexOf(true)).toBe(1);
    const requests = tab.sent.length;
    const more = tab.track(...times(100, () => eventOf(1000)));
    await tab.courier.flush();
    expect(tab.delivered).toEqual([...ids, ...more]);
    expect(tab.sent.slice(requests).some(isTooMuch)).toBe(false);
    // A batch is still as large as the service is known to take.
    expect(tab.sent.length - requests).toBeLessThan(10);
    expect(tab.errors).toEqual([]);
  });

  it('gets an event that fits only without a receipt', async () => {
    const tab = createTab({ respond: ({ bytes }) => (bytes > 3000 ? refusal : DELIVERED) });
    const ids = tab.track(...events(10), eventOf(2940), ...events(10));
    await tab.courier.flush();
    expect(tab.delivered).toEqual(ids);
    expect(tab.rejected).toEqual([]);
  });

  /** The books of the next page, after 30 pages that have crashed with many drops. */
  const booksOf = (store: MemoryStore) => {
    const open = () => {
      const [page, local] = [crypto.randomUUID(), localOf(store)];
      return createBooks(SERVICE, createJournal(SERVICE, page, local), page, '', local);
    };
    for (let load = 0; load < 30; load++) {
      const books = open();
      const texts = times(20, () => books.number(eventText('a')));
      books.drop(
        texts.filter((_, at) => at % 2),
        'expired',
      );
    }
    vi.setSystemTime(Date.now() + 60 * MINUTE);
    return open();
  };

  /** A tab with these books, at a relay that accepts so many bytes. */
  const openAt = (most: number, store = createMemoryStore()) => {
    const books = booksOf(store);
    const respond = () => (byteLength(tab.bodies.at(-1) ?? '') > most ? refusal : DELIVERED);
    const tab: Tab = createTab({ store, books, respond });
    const track = (count: number) => tab.track(...times(count, () => books.number(eventOf(300))));
    return { tab, books, track };
  };

  it.each([
    [1, 3000],
    [3, 3000],
    [3, 1500],
  ])(
    'gets fewer books with %i events, in %i bytes: no event is dropped, and the relay gets all books',
    async (count, most) => {
      const { tab, books, track } = openAt(most);
      const ids = track(count);
      await tab.courier.flush();
      expect(tab.delivered).toEqual(ids);
      expect(byteLength(tab.bodies[0] ?? '')).toBeGreaterThan(9000);
      for (let flush = 0; flush < 50; flush++) {
        track(1);
        await tab.courier.flush();
      }
      expect(books.ended()).toEqual([]);
      expect(tab.rejected).toEqual([]);
    },
  );

  it('gets no handover above its limit, with books either', async () => {
    online(true);
    const store = createMemoryStore();
    const { tab, track } = openAt(6000, store);
    track(50);
    await tab.courier.flush();
    booksOf(store);
    const sent = tab.bodies.length;
    track(30);
    tab.leave();
    const handed = tab.bodies.slice(sent).map((body) => byteLength(body));
    expect(handed.length).toBeGreaterThan(1);
    expect(Math.max(...handed)).toBeLessThanOrEqual(6000);
  });

  it('gets a question with fewer books, and its answer counts', async () => {
    const store = createMemoryStore();
    const handed = events(2);
    createReceipts(SERVICE, localOf(store)).write({ id: crypto.randomUUID(), ids: handed.map(idOf) });
    const books = booksOf(store);
    const tab: Tab = createTab({
      store,
      books,
      respond: () => (byteLength(tab.bodies.at(-1) ?? '') > 3000 ? refusal : { ...DELIVERED, handovers: ['taken'] }),
    });
    const ids = tab.track(...handed);
    await tab.courier.flush();
    expect(tab.sent).toEqual([]);
    expect(tab.questions.length).toBeGreaterThan(1);
    expect(tab.delivered).toEqual(ids);
  });

  it('gets and stores with the browser no handover above its limit', async () => {
    online(true);
    const tab = createTab({ respond, isDirect: true });
    tab.track(...times(100, () => eventOf(1000)));
    await tab.courier.flush();
    tab.sent.length = 0;
    tab.track(...times(50, () => eventOf(1000)));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(tab.deferred()?.bytes).toBeLessThanOrEqual(MOST);
    tab.leave();
    expect(tab.sent).toHaveLength(4);
    expect(tab.sent.some(isTooMuch)).toBe(false);
    expect(tab.store.rows()).toEqual([]);
  });

  it('does not get the one event that is too large, and gets all others', async () => {
    const tab = createTab({ respond });
    const large = eventOf(25_000);
    const ids = tab.track(...times(20, () => eventOf(1000)), large, ...times(20, () => eventOf(1000)));
    await tab.courier.flush();
    expect(tab.rejected).toEqual([idOf(large)]);
    expect(tab.delivered.toSorted()).toEqual(ids.filter((id) => id !== idOf(large)).toSorted());
    expect(tab.store.rows()).toEqual([]);
  });
});

describe('foreign data in the store', () => {
  const key = (count: number): [string, number, number, string] => [SERVICE, 1, count, 'somebody'];
  const rubbish: [string, unknown][] = [
    ['null', null],
    ['a number', 7],
    ['zero', 0],
    ['text', 'text'],
    ['no text', ''],
    ['true', true],
    ['an object', { length: 2, 0: 'a', 1: 'b' }],
    ['an empty list', []],
    ['a list of anything', [null, undefined, 7, 'text', {}, [], [[7]]]],
  ];

  it.each(rubbish)('is skipped and deleted, and later events arrive: %s', async (_what, value) => {
    const tab = createTab({ page: 2 });
    tab.store.put(key(1), value);
    const ids = tab.track(...events(3));
    await tab.courier.flush();
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(tab.delivered).toEqual(ids);
    expect(tab.rejected).toEqual([]);
    expect(tab.store.rows()).toEqual([]);
  });

  it.each(rubbish)('is deleted also if nothing is queued: %s', async (_what, value) => {
    const tab = createTab({ page: 2 });
    tab.store.put(key(1), value);
    await tab.courier.flush();
    expect(tab.sent).toEqual([]);
    expect(tab.store.rows()).toEqual([]);
    expect(linkOf(tab)?.by).toBe('');
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['text', 'text'],
    ['a list', [1, 2]],
    ['an object', { a: 1 }],
    ['a link of rubbish', { by: 7, until: 'text', fails: 'text', okAt: {} }],
    ['a link that has no time', { by: 'somebody' }],
  ])('in place of the link record causes no loss and no delay: %s', async (_what, link) => {
    const tab = createTab();
    await tab.store.transact([[LINK, link as object]]);
    const ids = tab.track(...events(3));
    await tab.courier.flush();
    expect(tab.delivered).toEqual(ids);
    expect(linkOf(tab)).toMatchObject({ by: '', until: 0, fails: 0 });
  });

  it('between the items of a row is skipped, and the items are sent or kept', async () => {
    const tab = createTab({ page: 2, respond: answers(FAILED, DELIVERED) });
    const items = events(2);
    tab.store.put(key(1), [null, items[0], { a: 1 }, 'text', items[1], 7]);
    await tab.courier.flush();
    expect(tab.sent.map((batch) => batch.items)).toEqual([items]);
    expect(tab.store.rows()).toEqual([[key(1), items]]);
    await tab.courier.flush(true);
    expect(tab.sent.map((batch) => batch.items)).toEqual([items, items]);
    expect(tab.store.rows()).toEqual([]);
  });

  it('may fill more rows than one read: each flush deletes some, until events follow', async () => {
    const tab = createTab({ page: 2 });
    for (let count = 1; count <= 1000; count++) tab.store.put(key(count), { count });
    tab.store.put(key(1001), events(2, 'earlier '));
    for (let i = 0; i < 5; i++) await tab.courier.flush();
    expect(bodies(tab).map(namesIn)).toEqual([['earlier 0', 'earlier 1']]);
    expect(tab.store.rows()).toEqual([]);
  });
});

describe('refused storage', () => {
  const broken = () => {
    const store = createMemoryStore();
    store.isBroken = true;
    return store;
  };

  it('loses no event of this page: each is sent once from memory', async () => {
    const tab = createTab({ store: broken() });
    const ids = tab.track(...events(450));
    await tab.courier.flush();
    expect(tab.sent.map(({ items }) => items.length)).toEqual([200, 200, 50]);
    expect(tab.delivered).toEqual(ids);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(tab.sent).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shortens neither the back-off after a failure nor the pause after a refusal', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const tab = createTab({ store: broken(), respond: answers(FAILED, FAILED, { outcome: 'refused' }, DELIVERED) });
    const ids = tab.track(...events(3));
    await tab.courier.flush();
    for (const wait of [1000, 2000, 4 * 5 * MINUTE]) {
      const { length } = tab.sent;
      await vi.advanceTimersByTimeAsync(wait - 1);
      expect(tab.sent).toHaveLength(length);
      await vi.advanceTimersByTimeAsync(1);
      expect(tab.sent).toHaveLength(length + 1);
    }
    expect(tab.delivered).toEqual(ids);
  });

  it('that works again later gets the events still queued', async () => {
    const tab = await begun(createTab({ respond: answers(DELIVERED, FAILED) }));
    const ids = tab.track(...events(3));
    await settle();
    tab.store.isBroken = true;
    await tab.courier.flush();
    expect(tab.delivered).toEqual(ids);
    expect(tab.store.rows()).toHaveLength(1);
    const left = tab.track(eventText('left'));
    await settle();
    tab.store.isBroken = false;
    await tab.courier.flush();
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids, left]);
    expect(tab.store.rows().map(([, items]) => items?.map(idOf))).toEqual([left]);
  });

  it('that works again later gets the events that only the store has, although nothing is tracked', async () => {
    const tab = createTab({ respond: answers(FAILED, DELIVERED) });
    const ids = tab.track(...times(8, () => eventOf(20_000)));
    await settle();
    tab.store.isBroken = true;
    await tab.courier.flush(true);
    expect(tab.delivered.length).toBeLessThan(ids.length);
    const transact = vi.spyOn(tab.store, 'transact');
    // The last confirmation is soon more than ten minutes old, and the link unproven.
    await vi.advanceTimersByTimeAsync(20 * MINUTE);
    expect(transact.mock.calls.length).toBeLessThanOrEqual(20 * 20 * 2);
    tab.store.isBroken = false;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect([...tab.delivered].sort()).toEqual([...ids].sort());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('during an answer does not make the tracker send its events again', async () => {
    const tab: Tab = createTab({
      respond() {
        tab.store.isBroken = true;
        return DELIVERED;
      },
    });
    const ids = tab.track(...events(3));
    await tab.courier.flush();
    tab.store.isBroken = false;
    await tab.courier.flush(true);
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(tab.store.rows()).toEqual([]);
  });
});

describe('a disk that refuses writes', () => {
  /** Pages have left stored events, and the disk is full since. */
  const fullDisk = async (count: number) => {
    const store = createMemoryStore();
    const stored = events(count, 'stored ');
    const rows = times(count / 100, (i) => stored.slice(i * 100, i * 100 + 100));
    await store.transact(rows.map((texts, i) => [[SERVICE, 1, i, 'earlier'], texts]));
    vi.spyOn(store, 'transact').mockResolvedValue(undefined);
    return { store, stored };
  };

  it('does not let newer events pass the stored ones, and each is sent once', async () => {
    const { store, stored } = await fullDisk(3000);
    const tab = createTab({ store, page: 2 });
    const newer = tab.track(...events(3, 'newer '));
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(tab.sent.flatMap(({ items }) => items.map(idOf))).toEqual([...stored.map(idOf), ...newer]);
  });

  it('leaves stored events to a later page without a relay, because several tabs may send them', async () => {
    const { store } = await fullDisk(100);
    const tab = createTab({ store, page: 2, isDirect: true });
    const newer = tab.track(...events(3, 'newer '));
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(tab.sent.flatMap(({ items }) => items.map(idOf))).toEqual(newer);
  });
});

describe('the batch left with the browser (fetchLater)', () => {
  // After a failure the back-off is a second.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(1));
  const left = ({ deferred }: Tab) => namesIn(deferred()?.body ?? '{"batch":[]}');
  /** Number of batches that the browser is left with in `ms` ms, with a new event in each ms. */
  const renewals = async (tab: Tab, ms: number) => {
    const seen = new Set();
    for (let i = 0; i < ms; i++) {
      tab.track(eventText());
      await vi.advanceTimersByTimeAsync(1);
      seen.add(tab.deferred());
    }
    return seen.size;
  };
  const unhurried = { maxBatchEvents: 10_000, maxBatchBytes: 10_000_000, flushInterval: 60 * MINUTE };

  it('has the queued events, 100 ms after they were added', async () => {
    const tab = await begun(createTab());
    tab.track(eventText('a'), eventText('b'));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL - 1);
    expect(tab.deferred()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(left(tab)).toEqual(['a', 'b']);
    tab.track(eventText('c'));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL - 1);
    expect(left(tab)).toEqual(['a', 'b']);
    await vi.advanceTimersByTimeAsync(1);
    expect(left(tab)).toEqual(['a', 'b', 'c']);
    expect(tab.sent).toEqual([]);
  });

  it('ends before properties, which could arrive after newer ones', async () => {
    const tab = await begun(createTab({ limits: unhurried }));
    tab.track(eventText('a'), upsertText(), eventText('b'));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab)).toEqual(['a']);
  });

  it('is renewed at most every 100 ms, however many events are added', async () => {
    const tab = await begun(createTab({ limits: unhurried }));
    await renewals(tab, DEFER_INTERVAL);
    expect(await renewals(tab, 10 * DEFER_INTERVAL)).toBeLessThanOrEqual(11);
  });

  it('is renewed as rarely after many messages of other tabs', async () => {
    const tab = await begun(createTab({ limits: unhurried }));
    for (let i = 0; i < 20; i++) {
      tab.courier.receive([], [], []);
      await renewals(tab, 3);
    }
    await renewals(tab, DEFER_INTERVAL);
    expect(await renewals(tab, 10 * DEFER_INTERVAL)).toBeLessThanOrEqual(11);
  });

  it('is renewed also while other tabs report all the time', async () => {
    const tab = await begun(createTab({ limits: unhurried }));
    tab.track(eventText('a'));
    let armed = 0;
    for (let ms = 0; ms < 1000; ms++) {
      if (ms % 70 === 0) tab.courier.receive([], [], []);
      await vi.advanceTimersByTimeAsync(1);
      if (tab.deferred()) armed++;
    }
    expect(armed).toBeGreaterThan(0);
  });

  it('is aborted in the task of a flush, and 100 ms later has the remaining events', async () => {
    const seen: (number | undefined)[] = [];
    const tab: Tab = await begun(
      createTab({
        limits: { maxBatchEvents: 20 },
        async respond() {
          seen.push(tab.deferred() && left(tab).length);
          await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
          seen.push(tab.deferred() && left(tab).length);
          return DELIVERED;
        },
      }),
    );
    const items = events(50);
    tab.track(...items.slice(0, 19));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab)).toHaveLength(19);
    tab.track(...items.slice(19));
    await tab.courier.flush();
    expect(tab.sent.map((batch) => batch.items.length)).toEqual([20, 20, 10]);
    expect(seen).toEqual([undefined, 20, undefined, 10, undefined, undefined]);
    expect(tab.deferred()).toBeUndefined();
  });

  it('has the events added during a request, without those in the request', async () => {
    const { answer, give } = pendingAnswer();
    const tab = await begun(createTab({ respond: () => answer }));
    tab.track(eventText('under way'));
    const done = tab.courier.flush();
    await settle();
    tab.track(eventText('a'));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab)).toEqual(['a']);
    give(FAILED);
    await done;
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab)).toEqual(['under way', 'a']);
  });

  it('has all events again after a failed request', async () => {
    const tab = await begun(createTab({ respond: () => FAILED }));
    tab.track(...events(3));
    await tab.courier.flush();
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab)).toEqual(['e0', 'e1', 'e2']);
  });

  it('has no event that another tab is sending', async () => {
    const { answer, give } = pendingAnswer();
    const [a, b] = createTabs(2, { respond: () => answer }) as [Tab, Tab];
    await begun(a);
    await begun(b);
    const [first] = b.track(eventText('b'));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(b)).toEqual(['b']);
    void a.courier.flush();
    await settle();
    expect(a.sent.map(({ items }) => items.map(idOf))).toEqual([[first]]);
    expect(b.deferred()).toBeUndefined();
    give(FAILED);
    await settle();
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(b)).toEqual(['b']);
    expect(a.deferred()).toBeUndefined();
  });

  it.each([
    ['and hands it over', true],
    ['and is offline', false],
  ])('is aborted when the page leaves %s', async (_what, isOnline) => {
    online(isOnline);
    const tab = await begun(createTab());
    tab.track(eventText());
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(tab.deferred()).toBeDefined();
    tab.track(eventText());
    tab.leave();
    expect(tab.deferred()).toBeUndefined();
    tab.track(eventText('late'));
    await vi.advanceTimersByTimeAsync(10 * DEFER_INTERVAL);
    expect(tab.deferred()).toBeUndefined();
    tab.courier.receive([], [], []);
    expect(tab.deferred()).toBeUndefined();
  });

  it('has the queued events when the page is back', async () => {
    online(false);
    const tab = await begun(createTab({ respond: () => FAILED }));
    tab.track(eventText('a'));
    tab.leave();
    tab.courier.restore();
    tab.track(eventText('b'));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab)).toEqual(['a', 'b']);
  });

  it('is missing when nothing is queued', async () => {
    const tab = await begun(createTab());
    const ids = tab.track(...events(3));
    tab.queue.remove(ids);
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(tab.deferred()).toBeUndefined();
    tab.track(eventText());
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    // The visitor refuses.
    tab.queue.remove([...tab.queue.items.keys()]);
    tab.courier.receive([], [], []);
    expect(tab.deferred()).toBeUndefined();
  });

  it('is taken back when the visitor refuses', async () => {
    const tab = await begun(createTab());
    tab.track(eventText());
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(tab.deferred()).toBeDefined();
    tab.queue.remove([...tab.queue.items.keys()]);
    tab.courier.forget();
    expect(tab.deferred()).toBeUndefined();
  });

  it('is no larger than the browser accepts', async () => {
    const tab = await begun(createTab({ limits: { maxBatchBytes: 1_000_000 } }));
    tab.track(...times(100, () => eventOf(1000)));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(left(tab).length).toBeGreaterThan(50);
    // The address and the headers take a part of the 65,536 bytes.
    expect(tab.deferred()?.bytes).toBeLessThanOrEqual(64_000);
  });

  it('is missing if the browser refuses it, and events are sent as usual', async () => {
    let isFull = false;
    let held = 0;
    const tab = await begun(
      createTab({
        defer() {
          if (isFull) throw new DOMException('over quota', 'QuotaExceededError');
          held++;
          return () => held--;
        },
      }),
    );
    const ids = tab.track(eventText());
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(held).toBe(1);
    isFull = true;
    ids.push(...tab.track(eventText()));
    await vi.advanceTimersByTimeAsync(DEFER_INTERVAL);
    expect(held).toBe(0);
    await vi.advanceTimersByTimeAsync(3000);
    expect(tab.delivered).toEqual(ids);
  });
});

describe('several tabs', () => {
  it('send nothing while another tab holds the lease, with or without force', async () => {
    const { answer, give } = pendingAnswer();
    const [a, b] = createTabs(2, { respond: () => answer }) as [Tab, Tab];
    a.track(...events(3));
    const done = a.courier.flush();
    await settle();
    expect(a.sent).toHaveLength(1);
    b.track(...events(200, 'f'));
    await b.courier.flush();
    await b.courier.flush(true);
    expect(b.sent).toEqual([]);
    give(DELIVERED);
    await done;
    await settle();
    // The tab with the lease sends whole batches of all tabs at once.
    expect(a.sent.flatMap(({ items }) => items)).toHaveLength(203);
    expect(b.sent).toEqual([]);
    expect(b.delivered).toHaveLength(200);
    expect(b.queue.items.size).toBe(0);
  });

  it('wait no longer than a lease if the sending tab crashes', async () => {
    const crashed = createTab({ name: 'crashed' });
    const ids = events(3).map((text) => {
      crashed.queue.add(text);
      return idOf(text);
    });
    await settle();
    const lease: Link = { by: 'crashed', until: Date.now() + LEASE, fails: 0, okAt: 0 };
    await crashed.store.transact([[LINK, lease]]);
    const other = createTab({ store: crashed.store, name: 'other', page: 2 });
    await other.courier.flush();
    await vi.advanceTimersByTimeAsync(LEASE - 1);
    expect(other.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(other.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(other.store.rows()).toEqual([]);
  });

  it('do not wait for the lease of a page that left during its transaction', async () => {
    const [gone, tab] = createTabs(2) as [Tab, Tab];
    const transact = gone.store.transact.bind(gone.store);
    let learn = () => {};
    // The database commits the lease, and the page leaves before it learns of it.
    const spy = vi.spyOn(gone.store, 'transact').mockImplementation(async (...what) => {
      const written = await transact(...what);
      if (what[1])
        await new Promise<void>((resolve) => {
          learn = resolve;
        });
      return written;
    });
    gone.track(eventText('gone'));
    await vi.advanceTimersByTimeAsync(1);
    expect(linkOf(tab)?.by).toBe('tab 0');
    const ids = tab.track(...events(3));
    online(false);
    // WebKit writes nothing for a page that leaves.
    spy.mockResolvedValueOnce(undefined);
    gone.leave();
    spy.mockRestore();
    learn();
    await vi.advanceTimersByTimeAsync(3000);
    expect(tab.delivered).toEqual(ids);
  });

  it('lose no event if one was frozen longer than its lease, and its answer restores none', async () => {
    const { answer, give } = pendingAnswer();
    const store = createMemoryStore();
    const items = [events(150), events(149, 'f')];
    for (const [i, row] of items.entries()) await store.transact([[[SERVICE, 1, i, 'earlier'], row]]);
    const frozen = createTab({ store, name: 'frozen', page: 2, respond: () => answer });
    const other = createTab({ store, name: 'other', page: 3 });
    const done = frozen.courier.flush();
    await settle();
    // A frozen tab has no timers.
    vi.setSystemTime(Date.now() + LEASE + 1);
    expect(frozen.sent.map((batch) => batch.items.length)).toEqual([200]);
    await other.courier.flush();
    expect(other.sent.flatMap((batch) => batch.items)).toEqual(items.flat());
    give(DELIVERED);
    await done;
    expect(store.rows()).toEqual([]);
    expect(frozen.sent).toHaveLength(1);
  });

  it('send a batch once although one of them packs it for longer than its lease', async () => {
    const packing = heldPacking();
    const store = createMemoryStore();
    const slow = await begun(createTab({ store, name: 'slow', pack: packing.pack }));
    const ids = slow.track(...events(3));
    const done = slow.courier.flush();
    await vi.advanceTimersByTimeAsync(LEASE + 1);
    const other = createTab({ store, name: 'other', page: 2 });
    await other.courier.flush();
    expect(other.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    // The tab receives the report of the other tab.
    slow.courier.receive([], ids, []);
    packing.resume();
    await done;
    expect(slow.sent).toEqual([]);
    expect(slow.delivered).toEqual(ids);
  });

  it('send each event once, however often the lease changes', async () => {
    const tabs = createTabs(5);
    const ids: string[] = [];
    for (let turn = 0; turn < 30; turn++) {
      const tab = tabs[(turn * 7) % 5] as Tab;
      ids.push(...tab.track(...events(1 + (turn % 4))));
      if (turn % 3 === 0) void tab.courier.flush(turn % 2 === 0);
      if (turn % 4 === 0) await settle();
    }
    await vi.advanceTimersByTimeAsync(LEASE + 3000);
    const sent = tabs.flatMap((tab) => tab.sent.flatMap(({ items }) => items.map(idOf)));
    expect(sent.toSorted()).toEqual(ids.toSorted());
    expect(tabs.flatMap((tab) => tab.delivered).toSorted()).toEqual(ids.toSorted());
    expect(tabs[0]?.store.rows()).toEqual([]);
  });

  it('hand over no properties while another tab sends older ones, also without messages', async () => {
    online(true);
    const { answer, give } = pendingAnswer();
    const leaving = await begun(createTab({ name: 'leaving', page: 1 }));
    leaving.track(upsertText());
    await settle();
    const sending = createTab({ store: leaving.store, name: 'sending', page: 2, respond: () => answer });
    const done = sending.courier.flush();
    await settle();
    expect(sending.sent).toHaveLength(1);
    leaving.track(upsertText());
    leaving.leave();
    expect(leaving.sent).toEqual([]);
    give(DELIVERED);
    await done;
    expect(localOf(leaving.store)).toEqual({});
    await sending.courier.flush();
    expect(sending.sent).toHaveLength(2);
  });

  it('do not send an item that its page hands over while they pack it', async () => {
    online(true);
    const packing = heldPacking();
    const leaving = await begun(createTab({ name: 'leaving', page: 1 }));
    leaving.track(upsertText());
    await settle();
    const sending = createTab({ store: leaving.store, name: 'sending', page: 2, pack: packing.pack });
    const done = sending.courier.flush();
    await settle();
    leaving.leave();
    expect(leaving.sent).toHaveLength(1);
    packing.resume();
    await done;
    expect([sending.questions.length, sending.sent[0]?.items]).toEqual([1, leaving.sent[0]?.items]);
  });

  it('without messages may send an event again, byte for byte and with the same uuid', async () => {
    const a = await begun(createTab({ name: 'a', page: 1 }));
    const ids = a.track(...events(3));
    await settle();
    const b = createTab({ store: a.store, name: 'b', page: 2 });
    await b.courier.flush();
    await a.courier.flush();
    expect(bodies(a)).toEqual(bodies(b));
    expect(a.delivered).toEqual(ids);
    expect(a.store.rows()).toEqual([]);
  });
});

it('a report to the other tabs has the sent events of other pages, and none of its own', async () => {
  online(true);
  const { store, queue } = createTab({ name: 'gone' });
  const [stored = ''] = events(1);
  queue.add(stored);
  queue.persist();
  await settle();
  const reports: Report[] = [];
  const tab = createTab({ store, name: 'tab', page: 2, onReport: (report) => reports.push(report) });
  const [own] = tab.track(...events(1));
  await tab.courier.flush();
  expect(reports.at(-1)).toEqual([[], [idOf(stored), own], [], [['gone', stored]]]);
});

describe('a page that unloads', () => {
  /** A tab whose link to the service itself is proven. */
  const provenTab = async (options: Parameters<typeof createTab>[0] = {}) => {
    const tab = createTab({ isDirect: true, ...options });
    tab.track(eventText('proof'));
    await tab.courier.flush();
    tab.sent.length = 0;
    tab.delivered.length = 0;
    return tab;
  };

  it('hands over the queue during the call, and deletes it if a request was confirmed', async () => {
    online(true);
    const tab = await provenTab();
    const ids = tab.track(...events(3));
    tab.leave();
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(tab.store.rows()).toEqual([]);
    expect(tab.delivered).toEqual(ids);
  });

  it('lists handed-over events for other pages if the database had no time to delete them', async () => {
    online(true);
    const reports: Report[] = [];
    const tab = await provenTab({ onReport: (report) => reports.push(report) });
    const ids = tab.track(...events(3));
    await settle();
    // The browser aborts a transaction that a page begins as it leaves.
    vi.spyOn(tab.store, 'transact').mockResolvedValueOnce(undefined);
    tab.leave();
    expect([...tab.courier.settled()]).toEqual(ids);
    expect(tab.store.rows()).toHaveLength(1);
    const other = createTab({ store: tab.store, name: 'other', page: 2, isDirect: true });
    other.courier.receive(...(reports.at(-1) as Report));
    const later = other.track(eventText('later'));
    await other.courier.flush();
    expect(other.sent.map(({ items }) => items.map(idOf))).toEqual([later]);
    expect(tab.store.rows()).toEqual([]);
    expect([...other.courier.settled()]).toEqual([]);
  });

  it('does so also if more than a batch of other pages’ rows comes first', async () => {
    const { store, queue } = createTab({ name: 'gone' });
    const left = await begun(createTab({ store, name: 'left', page: 2 }));
    const backlog = events(500);
    for (const text of backlog) queue.add(text);
    const handed = left.track(...events(3));
    await settle();
    const other = createTab({ store, name: 'other', page: 3, isDirect: true });
    other.courier.receive(handed, handed, []);
    await other.courier.flush();
    expect(other.sent.flatMap(({ items }) => items.map(idOf))).toEqual(backlog.map(idOf));
    expect(store.rows()).toEqual([]);
    expect([...other.courier.settled()]).toEqual([]);
  });

  it('lists them although another tab holds the lease, and sends none of them later', async () => {
    const left = await begun(createTab({ name: 'left' }));
    const handed = left.track(...events(3));
    await settle();
    const { store } = left;
    await store.transact<Link>([[LINK, { by: 'crashed', until: Date.now() + LEASE, fails: 0, okAt: Date.now() }]]);
    const other = createTab({ store, name: 'other', page: 2 });
    other.courier.receive(handed, handed, []);
    const later = other.track(eventText('later'));
    await other.courier.flush();
    expect([...other.courier.settled()]).toEqual(handed);
    await vi.advanceTimersByTimeAsync(LEASE);
    expect(other.sent.flatMap(({ items }) => items.map(idOf))).toEqual(later);
    expect(store.rows()).toEqual([]);
  });

  it('lists at most the latest 1,000 ids and a batch, without storage', async () => {
    const tab = createTab();
    tab.store.isBroken = true;
    const ids = tab.track(...events(3_000));
    await tab.courier.flush();
    expect(tab.delivered).toEqual(ids);
    const settled = [...tab.courier.settled()];
    expect(settled).toEqual(ids.slice(-settled.length));
    expect(settled.length).toBeLessThanOrEqual(1_200);
  });

  it('hands over to a relay and keeps the events, because the relay drops duplicates', async () => {
    online(true);
    const tab = await provenTab({ isDirect: false });
    const ids = tab.track(...events(3));
    tab.leave();
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
    expect(tab.delivered).toEqual([]);
    const { sent } = tab;
    const next = createTab({ store: tab.store, name: 'next', page: 2 });
    await next.courier.flush();
    expect(bodies(next)).toEqual(sent.map(({ body }) => body));
    expect(tab.store.rows()).toEqual([]);
  });

  it('hands over and keeps events that may not arrive, with the same ids', () => {
    online(true);
    const tab = createTab({ isDirect: true });
    const ids = tab.track(...events(3));
    tab.leave();
    expect(tab.sent).toHaveLength(1);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
    expect(tab.delivered).toEqual([]);
  });

  it('counts what a listener of the first answer hands over, because that answer proves the link', async () => {
    online(true);
    const tab = createTab({
      isDirect: true,
      limits: { maxBatchEvents: 1 },
      onDelivered: ([id]) => id === first && tab.leave(),
    });
    const [first, ...others] = tab.track(...events(3));
    await tab.courier.flush();
    expect(tab.sent.flatMap(({ items }) => items.map(idOf))).toEqual([first, ...others]);
    expect(tab.delivered).toEqual([first, ...others]);
    expect(tab.store.rows()).toEqual([]);
  });

  it('keeps handed-over events while it bisects', async () => {
    online(true);
    const { answer } = pendingAnswer();
    const refusal: Answer = { outcome: 'rejected', status: 422 };
    const tab = await provenTab({
      respond: ({ items }, leaving) =>
        items.length === 40 ? refusal : leaving || items.length === 1 ? DELIVERED : answer,
    });
    const ids = tab.track(...events(40));
    void tab.courier.flush();
    await settle();
    expect(tab.sent.map(({ items }) => items.length)).toEqual([40, 19]);
    tab.leave();
    expect(tab.sent.slice(2).flatMap(({ items }) => items.map(idOf))).toEqual(ids.slice(19));
    expect(tab.delivered).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
  });

  it('writes the rows and the lease of a transaction that is still blocked', async () => {
    online(false);
    const store = createMemoryStore();
    (await begun(createTab({ store, name: 'earlier' }))).track(...events(3));
    await settle();
    const tab = createTab({
      store,
      page: 2,
      respond() {
        store.isHeldUp = true;
        return DELIVERED;
      },
    });
    tab.track(...events(3, 'f'));
    const done = tab.courier.flush();
    await settle();
    expect(store.rows()).toHaveLength(1);
    expect(linkOf(tab)?.by).toBe('tab');
    tab.leave();
    expect(store.rows()).toEqual([]);
    expect(linkOf(tab)).toMatchObject({ by: '', until: 0 });
    await done;
    expect(tab.sent).toHaveLength(1);
  });

  it('leaves no lease to wait for if the browser drops its last transaction', async () => {
    online(false);
    const store = createMemoryStore();
    const tab = createTab({
      store,
      respond() {
        store.isHeldUp = true;
        return DELIVERED;
      },
    });
    tab.track(...events(3));
    void tab.courier.flush();
    await settle();
    store.isBroken = true;
    tab.leave();
    Object.assign(store, { isBroken: false, isHeldUp: false });
    expect(linkOf(tab)?.by).toBe('tab');
    const fresh = createTab({ store, name: 'fresh', page: 2 });
    fresh.track(eventText());
    await fresh.courier.flush();
    expect(fresh.sent).toHaveLength(1);
  });

  it('leaves no lease to wait for if the browser loses the commit that was to release it', async () => {
    online(false);
    const store = createMemoryStore();
    const tab = createTab({
      store,
      respond() {
        const transact = store.transact.bind(store);
        // The transaction has run, and is never stored.
        vi.spyOn(store, 'transact').mockImplementation((entries, name, change, query) => {
          if (!name) return transact(entries, name, change, query);
          query?.(store.record(name));
          change?.(store.record(name), []);
          return new Promise(() => {});
        });
        return DELIVERED;
      },
    });
    tab.track(...events(3));
    void tab.courier.flush();
    await settle();
    store.isBroken = true;
    tab.leave();
    store.isBroken = false;
    vi.mocked(store.transact).mockRestore();
    expect(linkOf(tab)?.by).toBe('tab');
    const fresh = createTab({ store, name: 'fresh', page: 2 });
    fresh.track(eventText());
    await fresh.courier.flush();
    expect(fresh.sent).toHaveLength(1);
  });

  it('hands nothing over while offline, and keeps the queue', async () => {
    online(false);
    const tab = await provenTab();
    const ids = tab.track(...events(3));
    tab.leave();
    expect(tab.sent).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
  });

  it('keeps the events that the browser refuses', async () => {
    online(true);
    const tab = await provenTab({ respond: (_batch, leaving) => !leaving && DELIVERED });
    const ids = tab.track(...events(3));
    tab.leave();
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
  });

  it('hands over at most 64 KiB including requests in flight, and keeps the rest', async () => {
    online(true);
    const { answer } = pendingAnswer();
    const isFirst = (body: string) => namesIn(body).includes('proof');
    const tab = await provenTab({ respond: ({ body }, leaving) => (isFirst(body) || leaving ? DELIVERED : answer) });
    const flying = tab.track(eventOf(30_000));
    void tab.courier.flush();
    await settle();
    const ids = tab.track(...times(15, () => eventOf(10_000)));
    tab.leave();
    expect(tab.sent.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(65_536);
    const handed = tab.sent.slice(1).flatMap(({ items }) => items.map(idOf));
    expect(handed).toEqual(ids.slice(0, 3));
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual([...flying, ...ids.slice(3)]);
  });

  it('hands over at most 64 KiB in all its departures together, and reports the rest as not delivered', async () => {
    online(true);
    const { answer } = pendingAnswer();
    const tab = await provenTab({ respond: (_batch, leaving) => (leaving ? answer : DELIVERED) });
    const ids = tab.track(...times(5, () => eventOf(11_000)));
    tab.leave();
    ids.push(...tab.track(...times(12, () => eventOf(1000))));
    await settle();
    tab.leave();
    expect(tab.sent.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(65_536);
    const handed = tab.sent.flatMap(({ items }) => items.map(idOf));
    expect(tab.delivered).toEqual(handed);
    const kept = ids.filter((id) => !handed.includes(id));
    expect(kept.length).toBeGreaterThan(0);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(kept);
  });

  it('shares the browser’s 64 KiB with the other trackers of the page', async () => {
    online(true);
    const flight = { bytes: 0 };
    const { answer } = pendingAnswer();
    const [one, two] = [1, 2].map((page) =>
      createTab({ flight, name: `tracker ${page}`, page, isDirect: true, respond: () => answer }),
    ) as [Tab, Tab];
    for (const tab of [one, two]) tab.track(...times(4, () => eventOf(10_000)));
    one.leave();
    two.leave();
    const bytes = [...one.sent, ...two.sent].reduce((sum, batch) => sum + batch.bytes, 0);
    expect(bytes).toBeGreaterThan(40_000);
    expect(bytes).toBeLessThanOrEqual(65_536);
  });

  it('has its whole room again once the service has answered', async () => {
    online(true);
    const tab = await provenTab();
    for (let visit = 0; visit < 3; visit++) {
      const ids = tab.track(...times(5, () => eventOf(11_000)));
      tab.leave();
      await settle();
      tab.courier.restore();
      expect(tab.delivered.splice(0)).toEqual(ids);
    }
  });

  it('has its whole room again after the time-out of a transport that never answers', async () => {
    online(true);
    const { answer } = pendingAnswer();
    const tab = await provenTab({ respond: (_batch, leaving) => (leaving ? answer : DELIVERED) });
    for (let visit = 0; visit < 3; visit++) {
      const ids = tab.track(...times(5, () => eventOf(11_000)));
      tab.leave();
      expect(tab.delivered.splice(0)).toEqual(ids);
      await vi.advanceTimersByTimeAsync(LEASE);
      tab.courier.restore();
    }
  });

  it('keeps its events and hands nothing over to a service that fails', async () => {
    online(true);
    const tab = await provenTab({ respond: ({ body }) => (namesIn(body)[0] === 'proof' ? DELIVERED : FAILED) });
    const ids = tab.track(...events(3));
    await tab.courier.flush();
    expect(tab.sent).toHaveLength(1);
    tab.leave();
    expect(tab.sent).toHaveLength(1);
    expect(tab.delivered).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
  });

  it('hands over to a service that failed on an earlier visit, and keeps the events', async () => {
    online(true);
    const tab = createTab({ isDirect: true });
    const link: Link = { by: '', until: Date.now() - 10 * MINUTE, fails: 3, okAt: 0 };
    await tab.store.transact([[LINK, link]]);
    await tab.courier.flush();
    const ids = tab.track(...events(3));
    tab.leave();
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
  });

  it('does not hand over events in flight here or in another tab', async () => {
    online(true);
    const { answer } = pendingAnswer();
    const [a, b] = createTabs(2, { respond: (_batch, leaving) => (leaving ? DELIVERED : answer) }) as [Tab, Tab];
    a.track(...events(2));
    b.track(...events(2, 'f'));
    await settle();
    void a.courier.flush();
    await settle();
    a.leave();
    b.leave();
    expect(a.sent).toHaveLength(1);
    expect(b.sent).toEqual([]);
  });

  it('hands over once, including events added until the end of its microtask', async () => {
    online(true);
    const tab = await provenTab();
    tab.track(...events(2));
    tab.leave();
    tab.leave();
    tab.track(eventText('late'));
    await settle();
    expect(bodies(tab).map(namesIn)).toEqual([['e0', 'e1'], ['late']]);
    expect(tab.store.rows()).toEqual([]);
  });

  it('hands over once, including events that it keeps because they may not arrive', () => {
    online(true);
    const tab = createTab();
    tab.track(...events(2));
    tab.leave();
    tab.leave();
    expect(bodies(tab).map(namesIn)).toEqual([['e0', 'e1']]);
  });

  it('does not send the next batch when an answer still arrives', async () => {
    online(false);
    const { answer, give } = pendingAnswer();
    const tab = createTab({ respond: () => answer });
    tab.track(...events(450));
    const done = tab.courier.flush();
    await settle();
    tab.leave();
    give(DELIVERED);
    await done;
    expect(tab.sent).toHaveLength(1);
    expect(tab.delivered).toHaveLength(200);
    expect(tab.store.rows().flatMap(([, items]) => items)).toHaveLength(250);
    const other = createTab({ store: tab.store, name: 'other', page: 2 });
    await other.courier.flush();
    expect(other.sent.map(({ items }) => items.length)).toEqual([200, 50]);
  });

  it('releases no lease of another tab', async () => {
    online(false);
    const { answer } = pendingAnswer();
    const [sending, leaving] = createTabs(2, { respond: () => answer }) as [Tab, Tab];
    sending.track(eventText());
    void sending.courier.flush();
    await settle();
    const lease = linkOf(sending);
    expect(lease?.by).toBe('tab 0');
    leaving.store.isHeldUp = true;
    leaving.track(eventText());
    void leaving.courier.flush();
    await settle();
    leaving.leave();
    expect(linkOf(sending)).toEqual(lease);
  });

  it('releases the lease and sends nothing until it is back', async () => {
    online(true);
    const { answer, give } = pendingAnswer();
    const tab = createTab({ respond: () => answer });
    tab.track(eventText());
    const done = tab.courier.flush();
    await settle();
    expect(linkOf(tab)?.by).toBe('tab');
    tab.leave();
    const other = createTab({ store: tab.store, name: 'other', page: 2 });
    await other.courier.flush();
    expect(other.sent).toHaveLength(1);
    give(DELIVERED);
    await done;
    expect(linkOf(tab)?.by).toBe('');
    const { length } = tab.sent;
    await tab.courier.flush(true);
    expect(tab.sent).toHaveLength(length);
    tab.courier.restore();
    tab.track(eventText('back'));
    await tab.courier.flush();
    expect(tab.sent).toHaveLength(length + 1);
  });

  it('does not send again, once back, a batch that it handed over while packing it', async () => {
    online(true);
    const packing = heldPacking();
    const { answer, give } = pendingAnswer();
    const isLate = (body: string) => namesIn(body).includes('back');
    let pack = async () => undefined;
    const tab = await provenTab({ pack: () => pack(), respond: ({ body }) => (isLate(body) ? answer : DELIVERED) });
    pack = packing.pack;
    const ids = tab.track(...events(3));
    const broken = tab.courier.flush();
    await settle();
    tab.leave();
    expect(tab.sent.map(({ items }) => items.map(idOf))).toEqual([ids]);
    tab.courier.restore();
    tab.track(eventText('back'));
    const done = tab.courier.flush();
    await settle();
    // The page holds a lease again while the packing ends.
    expect(linkOf(tab)?.by).toBe('tab');
    packing.resume();
    await broken;
    give(DELIVERED);
    await done;
    expect(bodies(tab).map(namesIn)).toEqual([['e0', 'e1', 'e2'], ['back']]);
  });

  it('does not send again, once back, what another tab has sent meanwhile', async () => {
    online(false);
    const tab = createTab();
    const ids = tab.track(...events(3));
    tab.leave();
    const other = createTab({ store: tab.store, name: 'other', page: 2 });
    await other.courier.flush();
    tab.courier.restore();
    await tab.courier.flush(true);
    expect([...tab.sent, ...other.sent].map(({ items }) => items.map(idOf))).toEqual([ids]);
    expect(tab.queue.items.size).toBe(0);
  });

  it('does not write rows again, once back, that another tab has sent meanwhile', async () => {
    online(false);
    const { answer, give } = pendingAnswer();
    const tab = await begun(createTab({ respond: ({ items }) => (items.length === 200 ? answer : DELIVERED) }));
    tab.track(...events(100));
    await settle();
    tab.track(...events(150, 'f'));
    const done = tab.courier.flush();
    await settle();
    tab.leave();
    give(DELIVERED);
    await done;
    const other = createTab({ store: tab.store, name: 'other', page: 2 });
    await other.courier.flush();
    expect(other.sent.map(({ items }) => items.length)).toEqual([50]);
    expect(tab.store.rows()).toEqual([]);
    // The page learns of these requests as it comes back, and has no events left.
    tab.courier.receive(
      [],
      other.sent.flatMap(({ items }) => items.map(idOf)),
      [],
    );
    tab.courier.restore();
    await tab.courier.flush(true);
    expect(tab.sent).toHaveLength(1);
  });
});
