import { expect, it } from 'vitest';
import { filesOf, readResults } from '../../bench/peers/results.ts';
import { read } from './markdown.ts';

const files = await filesOf(await readResults());

it.each(Object.entries(files))('%s shows exactly the figures of the last benchmark', (path, text) => {
  expect(read(path)).toBe(text);
});

it('the README and the page about benchmarks show these files', () => {
  expect(files).toHaveProperty(['bench/results/arrivals.svg']);
  expect(read('README.md')).toContain('(bench/results/arrivals.svg)');
  for (const name of ['arrivals.svg', 'peers.md'])
    expect(read('docs/benchmarks.md')).toContain(`(../bench/results/${name})`);
});
