/** Numbers in order, with a dash for those that follow each other: `1–3, 5`. A dash alone if there are none. */
export const rangesOf = (numbers: Iterable<number>): string => {
  const ranges: [from: number, to: number][] = [];
  for (const n of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else ranges.push([n, n]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ') || '–';
};
