import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { knownBreaks } from '../../sim/walk/knownBreaks.ts';

const PAGES = ['delivery.md', 'privacy.md'];

const named = knownBreaks.map(({ name, source }) => [name, source] as const);

it.each(named)('%s: the docs name this limit', async (_name, source) => {
  const texts = await Promise.all(PAGES.map((page) => readFile(join(import.meta.dirname, '../../docs', page), 'utf8')));
  expect(
    'issue' in source || texts.some((text) => text.includes(`**${source.docs}**`)),
    'add the limit to the docs, in bold words, or name the issue that is to fix it',
  ).toBe(true);
});
