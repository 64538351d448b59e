// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Pass } from '../../src/courier/desk.ts';
import { createLastRequest } from '../../src/courier/lastRequest.ts';
import { type Link, newLink, release, take } from '../../src/courier/lease.ts';
import type { CourierPorts, Report } from '../../src/courier/ports.ts';
import { NO_RENEWAL } from '../../src/courier/renewal.ts';
import { createSend } from '../../src/courier/send.ts';
import type { Answer } from '../../src/courier/transport.ts';
import type { Handed } from '../../src/outbox/receipts.ts';
import type { Row } from '../../src/outbox/store.ts';
import { draftEvent, idOf } from '../../src/recorder/event.ts';
import { createMemoryStore } from '../outbox/memoryStore.ts';
import { createOutbox } from '../outbox/outbox.ts';
import { deskOf } from './deskOf.ts';
import { LINK, pendingAnswer, SERVICE } from './tab.ts';

const DAY = 86_400_000;
const [a, b, old] = [draftEvent(Date.now(), 'a'), draftEvent(Date.now(), 'b'), draftEvent(Date.now() - DAY, 'old')];
const rowOf = (count: number, page: string, ...texts: string[]): Row => [[SERVICE, 1, count, page], texts];

/** A pass that holds the lease, with its requests and reports. */
const open = (changes: Partial<CourierPorts> = {}) => {
  const sent: string[][] = [];
  const send: CourierPorts['send'] = async () => ({ outcome: 'delivered' });
  const { send: answer = send } = changes;
  const { desk, pass, queue, store } = deskOf({
    ...changes,
    send(batch, ...more) {
      sent.push(batch.items.map(idOf));
      return answer(batch, ...more);
    },
  });
  desk.link = { ...newLink(), by: 'me', until: Date.now() + 9000 };
  const reports: Report[] = [];
  const onAttempt = vi.fn();
  const lastRequest = createLastRequest();
  const next = createSend(desk, lastRequest, (...made) => void reports.push(made), onAttempt);
  return {
    desk,
    pass,
    queue,
    store,
    sent,
    reports,
    onAttempt,
    lastRequest,
    next: (rows: Row[], on: Pass = pass) => next(on, rows),
  };
};

describe('a batch that was delivered', () => {
  it('is reported as in flight, then as settled with the texts of each page', async () => {
    const { pass, reports, onAttempt, next, desk } = open();
    const rows = [rowOf(1, 'other', a), rowOf(2, 'me', b)];
    const { writes } = await next(rows);
    const ids = [idOf(a), idOf(b)];
    expect(reports).toEqual([
      [ids, [], []],
      [
        [],
        ids,
        [],
        [
          ['other', a],
          ['me', b],
        ],
      ],
    ]);
    expect(writes).toEqual(rows.map(([key]) => [key, undefined]));
    expect([pass.hasSettled, [...desk.known.settled], onAttempt.mock.calls.length]).toEqual([true, ids, 1]);
  });

  it('leaves the rest of its row', async () => {
    const c = draftEvent(Date.now(), 'c');
    const { next, sent } = open();
    expect((await next([rowOf(1, 'other', a, b, c)])).writes).toEqual([rowOf(1, 'other', c)]);
    expect(sent).toEqual([[idOf(a), idOf(b)]]);
  });

  it('drops the rejected events of other pages here', async () => {
    const onLost = vi.fn(() => () => {});
    const rejected = [
      { uuid: idOf(a), error: '' },
      { uuid: idOf(b), error: '' },
    ] as unknown as Answer['rejected'];
    const send = async (): Promise<Answer> => ({ outcome: 'delivered', rejected });
    // `b` is this page's own event: first by the key of its row, then by the queue, although another page has taken it in.
    await open({ onLost, send }).next([rowOf(1, 'other', a), rowOf(2, 'me', b)]);
    expect(onLost).toHaveBeenLastCalledWith([a], 'rejected');
    const { next, queue } = open({ onLost, send });
    queue.add(b);
    await next([rowOf(1, 'other', a, b)]);
    expect(onLost).toHaveBeenLastCalledWith([a], 'rejected');
  });
});

describe('an event that two pages have stored', () => {
  const rejected = [{ uuid: idOf(a), error: '' }] as unknown as Answer['rejected'];

  it('is sent once, and the report names both pages', async () => {
    const { next, sent, reports } = open();
    await next([rowOf(1, 'other', a), rowOf(2, 'third', a, b)]);
    expect(sent).toEqual([[idOf(a), idOf(b)]]);
    expect(reports[1]?.[3]).toEqual([
      ['other', a],
      ['third', a, b],
    ]);
  });

  it('is dropped here once if it is rejected', async () => {
    const onLost = vi.fn(() => () => {});
    await open({ onLost, send: async () => ({ outcome: 'delivered', rejected }) }).next([
      rowOf(1, 'other', a),
      rowOf(2, 'third', a),
    ]);
    expect(onLost).toHaveBeenLastCalledWith([a], 'rejected');
  });

  it('is counted by this page if it is one of them', async () => {
    const onLost = vi.fn(() => () => {});
    await open({ onLost, send: async () => ({ outcome: 'delivered', rejected }) }).next([
      rowOf(1, 'other', a),
      rowOf(2, 'me', a),
    ]);
    expect(onLost).toHaveBeenLastCalledWith([], 'rejected');
  });
});

describe('nothing is sent', () => {
  it('of rows that hold only settled events, and the pass reads on', async () => {
    const { desk, next, sent, onAttempt } = open();
    desk.known.settled.add(idOf(a));
    expect(await next([rowOf(1, 'other', a)])).toEqual({
      change: take,
      writes: [[[SERVICE, 1, 1, 'other'], undefined]],
    });
    expect([sent, onAttempt.mock.calls]).toEqual([[], []]);
  });

  it('while all events wait for a token: the pass reads on, and then gives the lease back', async () => {
    const { desk, pass, next, sent } = open();
    desk.renewal = [() => [], NO_RENEWAL[1]];
    const rows = [rowOf(1, 'other', a, b)];
    expect(await next(rows)).toEqual({ change: take, writes: [] });
    expect(desk.waiting).toBe(2);
    pass.found = { ...pass.found, all: rows };
    expect(await next(rows)).toEqual({ change: release, writes: [] });
    expect(sent).toEqual([]);
  });

  it('after the page has left during compression', async () => {
    const { desk, next, sent } = open({
      pack: async () => {
        desk.state = { holder: 'me', does: 'stay away' };
        return undefined;
      },
    });
    expect(await next([rowOf(1, 'other', a)])).toEqual({ change: take, writes: [] });
    expect(sent).toEqual([]);
  });

  it('after the lease has ended, because the tab was frozen', async () => {
    const { desk, next, sent } = open();
    desk.link.until = Date.now() - 1;
    expect((await next([rowOf(1, 'other', a)])).writes).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('of other pages’ expired events: they are dropped', async () => {
    const onLost = vi.fn(() => () => {});
    const { desk, next, sent, reports } = open({ onLost, limits: { ...deskOf().desk.ports.limits, maxAge: DAY / 2 } });
    expect((await next([rowOf(1, 'other', old, a)])).writes).toEqual([rowOf(1, 'other', a)]);
    expect(onLost).toHaveBeenCalledWith([old], 'expired');
    expect([sent, reports, desk.known.settled.has(idOf(old))]).toEqual([
      [],
      [[[], [idOf(old)], [idOf(old)], [['other', old]]]],
      true,
    ]);
  });
});

it('sends this page’s own old events: the clock may have jumped', async () => {
  const { queue, next, sent } = open({ limits: { ...deskOf().desk.ports.limits, maxAge: DAY / 2 } });
  queue.add(old);
  await next([rowOf(1, 'me', old)]);
  expect(sent).toEqual([[idOf(old)]]);
});

it('sends a body that cannot be compressed as it is', async () => {
  const { next, sent } = open({ pack: () => Promise.reject(new Error('no CompressionStream')) });
  await next([rowOf(1, 'other', a)]);
  expect(sent).toEqual([[idOf(a)]]);
});

it('sends a single event once to its own endpoint', async () => {
  const { desk, next } = open({ send: async () => ({ outcome: 'failed', status: 503 }) });
  desk.known.singles.add(idOf(a));
  const { writes } = await next([rowOf(1, 'other', a)]);
  expect([[...desk.known.singles], writes]).toEqual([[], []]);
});

it('counts the bytes that are kept alive until the answer', async () => {
  const { answer, give } = pendingAnswer();
  const { desk, next } = open({ send: () => answer });
  const sending = next([rowOf(1, 'other', a)]);
  await vi.waitFor(() => expect(desk.ports.flight.bytes).toBeGreaterThan(a.length));
  give({ outcome: 'delivered' });
  await sending;
  expect(desk.ports.flight.bytes).toBe(0);
});

it.each([
  ['is kept alive: its bytes as they are sent', 1000, 1000],
  ['is too large to be kept alive: nothing', 60_000, 0],
])('counts of a request that %s', async (_what, length, counted) => {
  const { answer, give } = pendingAnswer();
  const send = vi.fn(() => answer);
  const { desk, next } = open({ send, pack: async () => new Uint8Array(length) });
  const sending = next([rowOf(1, 'other', a)]);
  await vi.waitFor(() => expect(send).toHaveBeenCalled());
  expect(desk.ports.flight.bytes).toBe(counted);
  give({ outcome: 'delivered' });
  await sending;
});

describe('an answer after the page has left', () => {
  const late = async (given: Answer, changes: Partial<CourierPorts> = {}) => {
    const { answer, give } = pendingAnswer();
    const tab = open({ ...changes, send: () => answer });
    await tab.store.transact([], LINK, () => ({ ...newLink(), by: '', until: 0 }));
    const sending = tab.next([rowOf(1, 'other', a, b, draftEvent(Date.now(), 'c'))]);
    await vi.waitFor(() => expect(tab.sent).toHaveLength(1));
    tab.desk.state = { holder: 'new', does: 'wait' };
    tab.queue.add(b);
    give(given);
    return { ...tab, settling: await sending };
  };

  it('settles its events, but restores no row that another tab may have deleted', async () => {
    const { settling, desk } = await late({ outcome: 'delivered' });
    expect([settling.writes, [...desk.known.settled]]).toEqual([[], [idOf(a), idOf(b)]]);
  });

  it('lets no tab wait if it has not asked for that', async () => {
    const { store } = await late({ outcome: 'failed', status: 503 });
    expect(store.record<Link>(LINK)).toEqual(newLink());
  });

  it('lets all tabs wait as it has asked', async () => {
    const { store } = await late({ outcome: 'failed', status: 503, retryAfter: 60_000 });
    expect(store.record<Link>(LINK)?.asked).toBeGreaterThan(Date.now() + 50_000);
  });

  it('writes nothing after a refusal, although it has asked all tabs to wait', async () => {
    // Without a number of the page load, nothing may be stored.
    const queue = createOutbox({ store: createMemoryStore(), pages: () => 0 });
    const { store } = await late({ outcome: 'failed', status: 429, retryAfter: 60_000 }, { queue });
    expect(store.record<Link>(LINK)).toEqual(newLink());
  });
});

describe('the questions about handovers', () => {
  /** A tab that asks about two handovers with an event, and gets this answer. */
  const asking = async (answer: Answer) => {
    const noteOf = (event: string): Handed => ({ id: crypto.randomUUID(), at: 0, ids: [event] });
    const [taken, other] = [noteOf('x'), noteOf('y')];
    const drop = vi.fn();
    const settle = vi.fn();
    const onAnswer = vi.fn();
    const id = crypto.randomUUID();
    const receipts = { makeId: () => id, write() {}, drop, open: () => [taken, other], held: () => new Set<string>() };
    const tab = open({
      receipts,
      farewell: { hasLeft: () => false, mayHaveProperties: () => false, settle },
      send: async () => answer,
      onAnswer,
    });
    const settling = await tab.next([rowOf(1, 'other', a)]);
    const dropped = drop.mock.calls.map(([handed]) => handed);
    return { ...tab, settling, drop: dropped, settle, answers: onAnswer.mock.calls, id, taken, other };
  };

  it('settle the events that have arrived, and let the others be sent again', async () => {
    const { settling, drop, settle, taken, other, reports } = await asking({
      outcome: 'delivered',
      handovers: ['taken', 'unknown'],
    });
    expect(drop).toEqual([[other]]);
    expect(settling.taken).toEqual([taken]);
    expect(settle).toHaveBeenCalledExactlyOnceWith([], ['x']);
    expect(reports.at(-1)?.[1]).toEqual([idOf(a), 'x']);
  });

  it('report the end of those that have arrived as an answer, for inspectors', async () => {
    const answer: Answer = { outcome: 'delivered', status: 201, handovers: ['taken', 'unknown'] };
    const { answers } = await asking(answer);
    expect(answers).toEqual([
      [[idOf(a)], answer],
      [['x'], { outcome: 'delivered' }],
    ]);
  });

  it('are asked again after a failure, and the request’s own note stays', async () => {
    const { settling, drop, settle } = await asking({ outcome: 'failed', status: 503 });
    expect([drop, settling.taken, settle.mock.calls]).toEqual([[[]], [], []]);
  });
});

it('counts settled events as no longer stored, and reports why the key was refused', async () => {
  const onError = vi.fn();
  const { queue, next } = open({ onError });
  const settled = vi.spyOn(queue, 'settled');
  await next([rowOf(1, 'other', a)]);
  expect(settled).toHaveBeenCalledWith([a]);
  expect(onError).not.toHaveBeenCalled();
  const refused = open({ onError, send: async () => ({ outcome: 'refused', status: 401, message: '401 key' }) });
  await refused.next([rowOf(1, 'other', a)]);
  expect(onError).toHaveBeenCalledExactlyOnceWith('401 key');
});

it('leaves no request to a later page once it is answered', async () => {
  const { lastRequest, next } = open();
  await next([rowOf(1, 'other', a)]);
  expect(lastRequest.take(true)).toBeUndefined();
});
