import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocks, pages, placeOf, read, root } from './markdown.ts';

const shell = blocks.filter(({ lang }) => /^(ba)?sh$/.test(lang));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Scripts of the demo's apps, which have a `package.json` of their own. */
const IN_A_FOLDER = ['dev'];

it.each(pages)('every script that %s names exists', (page) => {
  const named = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name ?? '');
  expect(named.filter((name) => !(name in scripts) && !IN_A_FOLDER.includes(name))).toEqual([]);
});

describe.each(shell.map((block) => [placeOf(block), block.text] as const))('the commands of %s', (_, text) => {
  it('parse', () => {
    expect(() => execFileSync('bash', ['-n'], { input: text, stdio: ['pipe', 'ignore', 'pipe'] })).not.toThrow();
  });

  it('name existing files', () => {
    const files = [...text.matchAll(/(?<![\w./:-])((?:src|test|e2e|bench|demo|docs)\/[\w./-]+)/g)].map(
      ([, file]) => file ?? '',
    );
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
