import { expect, it } from 'vitest';
import { draftEvent, draftUpsert } from '../../src/recorder/event.ts';
import type { Finished } from '../../src/visitor/calls.ts';
import { createNumbering } from '../../src/visitor/number.ts';
import { visitorId } from './visitorOf.ts';

const event = (digit: number): Finished => [draftEvent(0, 'a'), { correlationValue: visitorId(digit) }];

it('counts the events of each visitor id and of each page load by themselves', () => {
  let page = 3;
  const number = createNumbering(() => page, true);
  const next = (digit: number) => JSON.parse(number(event(digit)));
  expect(next(1)).toMatchObject({ event: 'a', correlationValue: visitorId(1), seq: [3, 1] });
  expect([next(1).seq, next(2).seq, next(1).seq]).toEqual([
    [3, 2],
    [3, 1],
    [3, 3],
  ]);
  page = 4;
  expect(next(1).seq).toEqual([4, 1]);
});

it('numbers nothing while the page has no number, and counts from one afterwards', () => {
  let page = 0;
  const number = createNumbering(() => page, true);
  expect(JSON.parse(number(event(1)))).not.toHaveProperty('seq');
  page = 1;
  expect(JSON.parse(number(event(1))).seq).toEqual([1, 1]);
});

it('numbers no upsert, and no event for a service without a relay', () => {
  const upsert: Finished = [draftUpsert({ plan: 'pro' }), { primary_key: 'ann' }];
  const number = createNumbering(() => 1, true);
  expect(JSON.parse(number(upsert))).toEqual(expect.not.objectContaining({ seq: expect.anything() }));
  expect(JSON.parse(number(upsert))).toMatchObject({ primary_key: 'ann' });
  expect(JSON.parse(number(event(1))).seq).toEqual([1, 1]);
  const direct = JSON.parse(createNumbering(() => 1, false)(event(1)));
  expect(direct.correlationValue).toBe(visitorId(1));
  expect(direct).not.toHaveProperty('seq');
});
