import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readResults, withResults } from '../../bench/peers/results.ts';

it('the README shows beside its peers what the last benchmark measured, and nothing else', async () => {
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');
  expect(withResults(readme, await readResults())).toBe(readme);
});
