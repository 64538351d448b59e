// @module-tag promise
import { describe, expect, it } from 'vitest';
import { newBisection } from '../../src/courier/bisect.ts';
import { nextRequest } from '../../src/courier/next.ts';
import { bytesOfQuestions, MOST_ASKED } from '../../src/courier/question.ts';
import type { Handed, Receipts } from '../../src/outbox/receipts.ts';
import { byteLength, draftEvent, draftUpsert, idOf } from '../../src/recorder/event.ts';

const LIMITS = { maxBatchEvents: 200, maxBatchBytes: 60_000 };
const ID = '01234567-89ab-4cde-8f01-23456789abcd';
const [a, b, c] = ['a', 'b', 'c'].map((name) => draftEvent(0, name)) as [string, string, string];
const all = (items: readonly string[]) => items;

const receiptsOf = (open: Handed[] = []): Receipts => ({
  makeId: () => ID,
  write() {},
  drop() {},
  open: () => open,
  held: () => new Set(open.flatMap(({ ids }) => ids)),
});
const asideOf = (...texts: string[]) => ({ ...newBisection(60_000), aside: texts.map(idOf) });
const handed = (...ids: string[]): Handed => ({ id: crypto.randomUUID(), at: 0, ids });
const next = (
  texts: readonly string[],
  {
    ready = all,
    receipts = undefined as Receipts | undefined,
    bisection = newBisection(60_000),
    singles = [] as string[],
    isEnd = true,
  } = {},
) => nextRequest(texts, isEnd, ready, receipts, LIMITS, bisection, new Set(singles), () => [1000, 10]);

describe('the next request', () => {
  it('has all events that fit, and is the last one', () => {
    expect(next([a, b])).toMatchObject({ batch: { items: [a, b] }, id: '', questions: [], isLast: true });
  });

  it('is none if there is nothing, or all waits for a token', () => {
    expect([next([]), next([a], { ready: () => [] })]).toEqual([undefined, undefined]);
  });

  it('leaves out the events that wait for a token', () => {
    expect(next([a, b, c], { ready: (items) => items.filter((text) => text !== b) })?.batch.items).toEqual([a, c]);
  });

  it('is not the last one before an upsert or a single event', () => {
    expect(next([a, draftUpsert({})])).toMatchObject({ batch: { items: [a] }, isLast: false });
    expect(next([a, b], { singles: [idOf(a)] })).toMatchObject({
      batch: { path: '/events/', items: [a] },
      isLast: false,
    });
  });

  it('goes on behind the events that a bisection has set aside', () => {
    expect(next([a, b], { bisection: asideOf(a) })?.batch.items).toEqual([b]);
  });

  it('passes over no event in the place of one that another page has sent', () => {
    expect(next([b, c], { bisection: asideOf(a) })?.batch.items).toEqual([b, c]);
  });

  it('begins with them again if there are no others', () => {
    const bisection = asideOf(a, b);
    expect(next([a, b], { bisection })?.batch.items).toEqual([a, b]);
    expect(bisection.aside).toEqual([]);
  });

  it('has no properties while a bisection has set earlier ones aside', () => {
    const [first, second] = [draftUpsert({ plan: 'old' }), draftUpsert({ plan: 'new' })];
    const bisection = asideOf(first);
    expect(next([first, second, a], { bisection })?.batch.items).toEqual([a]);
    expect(bisection).toMatchObject({ aside: [idOf(first)], passed: 2 });
    expect(next([a, second], { bisection: asideOf(a) })?.batch.items).toEqual([second]);
    expect(next([first, second], { bisection })).toMatchObject({ batch: { items: [first] }, isLast: true });
    expect(next([first, a])?.isLast).toBe(false);
  });

  it('is none if all of this read are passed over, and the next read takes so many more', () => {
    const [first, second] = [draftUpsert({ plan: 'old' }), draftUpsert({ plan: 'new' })];
    const bisection = asideOf(first);
    expect(next([first, second], { bisection, isEnd: false })).toBeUndefined();
    expect(bisection).toMatchObject({ aside: [idOf(first)], passed: 2 });
  });

  it('has no more bytes than the bisection allows', () => {
    expect(next([a, b], { bisection: { ...newBisection(60_000), most: 1 } })?.batch.items).toEqual([a]);
  });
});

describe('with receipts', () => {
  it('has an id, and asks about handovers, in its body only', () => {
    const open = [handed('x'), handed('y')];
    const { batch, sent, id, questions } = next([a], { receipts: receiptsOf(open) }) ?? {};
    expect([id, questions]).toEqual([ID, open]);
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ handover: ID, batch: [JSON.parse(a)] });
    expect(JSON.parse(sent?.body ?? '').handovers.map(([one]: [string]) => one)).toEqual(open.map((one) => one.id));
    expect(batch?.body).toBe(`{"batch":[${a}]}`);
  });

  it('asks about so many at once', () => {
    const open = Array.from({ length: MOST_ASKED + 1 }, () => handed('x'));
    expect(next([a], { receipts: receiptsOf(open) })?.questions).toEqual(open.slice(0, MOST_ASKED));
  });

  it('asks first about the handovers that keep events back', () => {
    const others = Array.from({ length: MOST_ASKED }, () => handed('x'));
    const blocking = handed(idOf(a));
    expect(next([a, b], { receipts: receiptsOf([...others, blocking]) })?.questions).toEqual(
      [blocking, ...others].slice(0, MOST_ASKED),
    );
  });

  it('only asks, while events that were handed over may not have arrived', () => {
    const open = [handed(idOf(a))];
    expect(next([a, b], { receipts: receiptsOf(open) })).toMatchObject({
      batch: { items: [] },
      questions: open,
      isLast: false,
    });
  });

  it('asks nothing in an upsert', () => {
    const receipts = receiptsOf([handed('x')]);
    expect(next([draftUpsert({})], { receipts })).toMatchObject({ id: ID, questions: [], isLast: true });
  });

  it('leaves room for the questions', () => {
    const bytes = byteLength(`{"batch":[${a},${b}]}`);
    const itemsIn = (largest: number) =>
      next([a, b], { receipts: receiptsOf(), bisection: newBisection(largest) })?.batch.items.length;
    expect([itemsIn(bytes + bytesOfQuestions(0)), itemsIn(bytes + bytesOfQuestions(0) - 1)]).toEqual([2, 1]);
  });

  it('sends an event as large as any without an id', () => {
    const bytes = byteLength(`{"batch":[${a}]}`);
    const { id, sent, batch } = next([a], { receipts: receiptsOf(), bisection: newBisection(bytes) }) ?? {};
    expect([id, sent]).toEqual(['', batch]);
  });
});
