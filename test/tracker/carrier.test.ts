import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { carriedList } from '../../src/page/carryOver.ts';
import { draftEvent, draftUpsert } from '../../src/pipeline/event.ts';
import { createCarrier } from '../../src/tracker/carrier.ts';

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

it('finds what pages have carried that are gone', () => {
  const left = [draftEvent(NOW - 5 * SECOND, 'a'), draftUpsert({ plan: 'pro' }), draftEvent(NOW - 2 * SECOND, 'b')];
  const [carryItems] = createCarrier('items');
  carryItems(left);
  const [, , , , , found] = createCarrier('items');
  expect(found(NOW - SECOND)).toEqual(left.map((text) => [text, false]));
});

it('leaves to another page that is alive what it has tracked since this one began, and leaves it where it is', () => {
  const [, , addEarly, carryEarly] = createCarrier('items');
  addEarly(draftEvent(NOW - SECOND, 'theirs'));
  carryEarly();
  const [, , , , , found] = createCarrier('items');
  expect(found(NOW - 2 * SECOND)).toEqual([]);
  expect(carriedList('items')).toHaveLength(1);
  expect(found(NOW)).toHaveLength(1);
});

it('finds its own early events as such, and what bears a time that has not come yet', () => {
  const [carryItems, , addEarly, carryEarly, , found] = createCarrier('items');
  const ahead = draftEvent(NOW + 3600 * SECOND, 'before the clock was set back');
  carryItems([ahead]);
  const mine = draftEvent(NOW, 'mine');
  addEarly(mine);
  carryEarly();
  expect(found(NOW - SECOND)).toEqual([
    [mine, true],
    [ahead, false],
  ]);
});
