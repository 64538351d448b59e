import { expect, it } from 'vitest';
import { factsOf, factsOfEvent } from '../../demo/pages/facts.js';

it.each([
  [{ path: '/pricing', plan: 'pro' }, 'path=/pricing plan=pro'],
  [{ lines: [1, { a: null }], none: null }, 'lines=[1,{"a":null}] none=null'],
  ['a string', '=a string'],
  [[1, 'two'], '=[1,"two"]'],
  [0, '=0'],
  [null, ''],
  [undefined, ''],
])('the facts of the payload %j are “%s”', (payload, facts) => {
  expect(
    factsOf(payload)
      .map((fact) => fact.join('='))
      .join(' '),
  ).toBe(facts);
});

it('an event shows all its facts, but a page view only its path', () => {
  const payload = { path: '/pricing', title: 'Pricing' };
  expect(factsOfEvent({ event: 'page_view', payload })).toEqual([['path', '/pricing']]);
  expect(factsOfEvent({ event: 'plan_seen', payload })).toHaveLength(2);
});
