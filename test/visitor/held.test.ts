// @module-tag promise
import { expect, it } from 'vitest';
import { heldOf, withCall } from '../../src/visitor/held.ts';
import { reset, track } from './visitorOf.ts';

const weigh = (text: string) => (text ? 2 : 0);

it('counts the events of the calls, and not the changes of the visitor', () => {
  expect(heldOf([track('a'), reset(1), track('b')], weigh).size).toBe(4);
  expect(heldOf([], weigh)).toEqual({ calls: [], size: 0 });
});

it('takes a call at the end of the same list, and adds its weight', () => {
  const calls = [track('a')];
  const before = heldOf(calls, weigh);
  const call = track('b');
  const after = withCall(before, call, weigh);
  expect(after.calls).toBe(calls);
  expect(after.calls[1]).toBe(call);
  expect([before.size, after.size, withCall(after, reset(1), weigh).size]).toEqual([2, 4, 4]);
});
