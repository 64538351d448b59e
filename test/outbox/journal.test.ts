// @module-tag promise
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { carriedList } from '../../src/outbox/carryOver.ts';
import { createCarrier } from '../../src/outbox/journal.ts';
import { draftEvent, draftUpsert } from '../../src/recorder/event.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const SECOND = 1000;

beforeEach(() => {
  vi.stubGlobal('localStorage', {});
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const carriedBy = (page: string) => carriedList(`items ${page}`);

it('a page adopts the journals of unloaded pages and writes them into its own', () => {
  const left = [draftEvent(NOW - 5 * SECOND, 'a'), draftUpsert({ plan: 'pro' }), draftEvent(NOW - 2 * SECOND, 'b')];
  const [carryItems] = createCarrier('items ', 'gone');
  carryItems(left);
  const [, uncarry, adopt] = createCarrier('items ', 'next');
  expect(adopt(NOW - SECOND)).toEqual(left);
  expect(carriedBy('gone')).toEqual([]);
  expect(carriedBy('next')).toEqual(left);
  uncarry(left.slice(1));
  expect(carriedBy('next')).toEqual(left.slice(0, 1));
});

it('a page does not adopt journaled events that an open page has tracked since it started', () => {
  const [carryItems] = createCarrier('items ', 'alive');
  carryItems([draftEvent(NOW - SECOND, 'theirs')]);
  const [, , adopt] = createCarrier('items ', 'next');
  expect(adopt(NOW - 2 * SECOND)).toEqual([]);
  expect(carriedBy('alive')).toHaveLength(1);
  expect(adopt(NOW)).toHaveLength(1);
});

it('a page adopts journaled events with a future time, but not its own', () => {
  const ahead = draftEvent(NOW + 3600 * SECOND, 'before the clock was set back');
  createCarrier('items ', 'gone')[0]([ahead]);
  const [carryItems, , adopt] = createCarrier('items ', 'next');
  const mine = draftEvent(NOW, 'mine');
  carryItems([mine]);
  expect(adopt(NOW - SECOND)).toEqual([ahead]);
  expect(carriedBy('next')).toEqual([ahead, mine]);
});

it('a page never writes the journal of another page', () => {
  const text = draftEvent(NOW, 'theirs');
  const [carryItems] = createCarrier('items ', 'alive');
  carryItems([text]);
  const [, uncarry] = createCarrier('items ', 'next');
  uncarry([text]);
  expect(carriedBy('alive')).toEqual([text]);
});

it('a page deletes corrupt journals', () => {
  vi.stubGlobal('localStorage', { 'items a': '{not JSON', 'items b': '[5, null, {}]', elsewhere: 'stays' });
  const [, , adopt] = createCarrier('items ', 'next');
  expect(adopt(NOW)).toEqual([]);
  expect(localStorage).toEqual({ elsewhere: 'stays' });
});
