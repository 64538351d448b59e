import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Ranges, sizeOf, union, without } from '../../src/relay/ranges.ts';

const numbersOf = (ranges: Ranges): number[] => {
  const numbers: number[] = [];
  for (let at = 0; at < ranges.length; at += 2)
    for (let n = ranges[at] ?? 0; n <= (ranges[at + 1] ?? 0); n++) numbers.push(n);
  return numbers;
};
const rangesOf = (numbers: readonly number[]): Ranges => numbers.reduce<Ranges>((all, n) => union(all, [n, n]), []);
/** Half of the numbers up to 12, so that ranges and gaps of two lists often overlap. */
const some = fc
  .array(fc.boolean(), { minLength: 12, maxLength: 12 })
  .map((isIn) => isIn.flatMap((is, at) => (is ? at + 1 : [])));

it('a union has the numbers of both, in as few pairs as possible', () => {
  fc.assert(
    fc.property(some, some, (one, other) => {
      const both = union(rangesOf(one), rangesOf(other));
      expect(numbersOf(both)).toEqual([...new Set([...one, ...other])].sort((a, b) => a - b));
      for (let at = 2; at < both.length; at += 2) expect(both[at]).toBeGreaterThan((both[at - 1] ?? 0) + 1);
    }),
  );
});

it('without others, a range has the numbers that are left', () => {
  fc.assert(
    fc.property(some, some, (one, other) => {
      const left = one.filter((n) => !other.includes(n));
      expect(without(rangesOf(one), rangesOf(other))).toEqual(rangesOf(left));
    }),
  );
});

it('counts its numbers up to a bound', () => {
  fc.assert(
    fc.property(some, fc.integer({ min: 0, max: 13 }), (numbers, most) => {
      expect(sizeOf(rangesOf(numbers), most)).toBe(numbers.filter((n) => n <= most).length);
    }),
  );
});
