import { describe, expect, it } from 'vitest';
import { engagement, forms } from '../../src/plugins.ts';

const WRONG = ['30s', '30000', Number.NaN, -5, null];

describe.each<[string, 0 | 1, (value: never) => unknown]>([
  ['idleAfter', 1, (idleAfter) => engagement({ idleAfter })],
  ['hiddenFor', 0, (hiddenFor) => engagement({ hiddenFor })],
  ['hiddenFor', 0, (hiddenFor) => forms({ hiddenFor })],
])('%s', (name, least, create) => {
  it.each(WRONG)('refuses %s', (value) => {
    const expected = `clew: ${name}: expected a number of ms, ${least} or more`;
    expect(() => create(value as never)).toThrow(new TypeError(expected));
  });

  it.each([least, Number.POSITIVE_INFINITY, undefined])('takes %s', (value) => {
    expect(() => create(value as never)).not.toThrow();
  });
});
