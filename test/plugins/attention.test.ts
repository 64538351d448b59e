import { expect, it } from 'vitest';
import { attend, beginAttention, type Fact } from '../../src/plugins/attention.ts';

/** The active time after facts, each at its moment. A visitor is idle after 30. */
const activeAfter = (...facts: [at: number, fact: Fact][]): number =>
  facts.reduce((state, [at, fact]) => attend(state, at, fact, 30), beginAttention(0, true)).active;

it.each<[string, number, [number, Fact][]]>([
  [
    'all time counts while input follows input',
    50,
    [
      [20, 'input'],
      [40, 'input'],
      [50, 'pass'],
    ],
  ],
  ['no time counts once the visitor is idle', 30, [[100, 'pass']]],
  [
    'time counts again from the next input on',
    40,
    [
      [100, 'input'],
      [110, 'pass'],
    ],
  ],
  [
    'no time counts while the page is not seen',
    15,
    [
      [10, 'unseen'],
      [50, 'seen'],
      [55, 'pass'],
    ],
  ],
  [
    'input to a page that is not seen does not count',
    10,
    [
      [10, 'unseen'],
      [20, 'input'],
      [40, 'pass'],
    ],
  ],
  [
    'a page that is seen again has the visitor at it',
    35,
    [
      [5, 'unseen'],
      [100, 'seen'],
      [200, 'pass'],
    ],
  ],
  [
    'a second look at a page that is seen is no input',
    30,
    [
      [25, 'seen'],
      [100, 'pass'],
    ],
  ],
])('%s', (_title, active, facts) => {
  expect(activeAfter(...facts)).toBe(active);
});
