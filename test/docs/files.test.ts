import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { pages, read, root } from './markdown.ts';

const FOLDERS = ['src', 'test', 'e2e', 'bench', 'demo', 'docs'];

/** Files and folders of this repository that a page names in its text. */
const namedIn = (page: string): string[] =>
  [...read(page).matchAll(/`((?:src|test|e2e|bench|demo|docs)\/[\w./-]+)/g)].map(([, path]) => path ?? '');

/** Folders that the collector and the build make. */
const MADE = ['demo/data', 'docs/api'];

it.each(pages)('every file that %s names exists', (page) => {
  expect(namedIn(page).filter((path) => !MADE.includes(path) && !existsSync(join(root, path)))).toEqual([]);
});

it('every source that ARCHITECTURE.md names exists', () => {
  const files = FOLDERS.filter((folder) => folder !== 'demo')
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
    .concat(readdirSync(join(root, 'demo')), readdirSync(root));
  const names = new Set(files.map((file) => basename(file)));
  const named = read('ARCHITECTURE.md').match(/[\w-]+(?:\.[\w-]+)*\.m?ts\b/g) ?? [];
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !names.has(name))).toEqual([]);
});
