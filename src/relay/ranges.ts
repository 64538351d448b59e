/** Whole numbers as pairs of a first and a last one, in order and without overlap: `[1, 5, 8, 8]`. */
export type Ranges = readonly number[];

/** The numbers of both. Pairs that touch become one. */
export const union = (one: Ranges, other: Ranges): Ranges => {
  const pairs: [number, number][] = [];
  for (const ranges of [one, other])
    for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at] ?? 0, ranges[at + 1] ?? 0]);
  const merged: number[] = [];
  for (const [first, last] of pairs.sort(([a], [b]) => a - b)) {
    const end = merged.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (first > end + 1) merged.push(first, last);
    else merged[merged.length - 1] = Math.max(end, last);
  }
  return merged;
};

/** These numbers, in any order. */
export const rangesOf = (numbers: readonly number[]): Ranges => {
  const ranges: number[] = [];
  for (const n of [...numbers].sort((one, other) => one - other)) {
    const end = ranges.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (n > end + 1) ranges.push(n, n);
    else ranges[ranges.length - 1] = n;
  }
  return ranges;
};

/** How many numbers up to `most` there are. */
export const sizeOf = (ranges: Ranges, most = Number.POSITIVE_INFINITY): number => {
  let size = 0;
  for (let at = 0; at < ranges.length; at += 2)
    size += Math.max(Math.min(ranges[at + 1] ?? 0, most) - (ranges[at] ?? 0) + 1, 0);
  return size;
};

/** The numbers of `ranges` that are not in `removed`. */
export const without = (ranges: Ranges, removed: Ranges): Ranges => {
  const left: number[] = [];
  let gap = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    let first = ranges[at] ?? 0;
    const last = ranges[at + 1] ?? 0;
    for (; (removed[gap] ?? Number.POSITIVE_INFINITY) <= last; gap += 2) {
      const [from = 0, to = 0] = [removed[gap], removed[gap + 1]];
      if (from > first) left.push(first, from - 1);
      first = Math.max(first, to + 1);
      // The next range may begin in this gap.
      if (to > last) break;
    }
    if (first <= last) left.push(first, last);
  }
  return left;
};
