import { expect, it } from 'vitest';
import { tableLines } from '../../e2e/engines/routers/rows.ts';
import { read } from './markdown.ts';

it('the table of routers has the views that the tests count in browsers', () => {
  const [, below = ''] = read('docs/without-code.md').split('\n### Routers and frameworks\n');
  const [section = ''] = below.split('\n## ');
  const lines = section.split('\n').filter((line) => /^\| (?!-)/.test(line));
  expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual(tableLines());
});
