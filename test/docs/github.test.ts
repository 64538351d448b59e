import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pages, read, root } from './markdown.ts';

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found ?? '');

it.each(workflows)('%s names scripts and files that exist, and actions by their major version', (file) => {
  const text = read(file);
  expect(all(text, /npm run ([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
  const paths = all(text, /(?<![\w/])((?:test|\.ci)\/[\w./-]+)/g);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(all(text, /uses: (.+)/g).filter((action) => !/^actions\/[\w-]+@v\d+$/.test(action))).toEqual([]);
});

it('the release asks for an id token and publishes with provenance', () => {
  const release = read('.github/workflows/release.yml');
  expect(release).toMatch(/^ +id-token: write$/m);
  expect(release).toContain('npm publish --provenance');
});

it('the changelog begins with unreleased entries and has the version of package.json', () => {
  const headings = all(read('CHANGELOG.md'), /^## (.+)$/gm);
  expect(headings[0]).toBe('[Unreleased]');
  const { version } = JSON.parse(read('package.json'));
  expect(headings.some((heading) => heading === version || heading.startsWith(`${version} - `))).toBe(true);
});

it('each page whose reader installs clew states that it is not on npm, until it is published', () => {
  const installs = pages.filter((page) => /\bnpm install (?:.* )?clew$|`npm install clew`/m.test(read(page)));
  const links = pages.filter((page) => /not on npm yet/.test(read(page)));
  expect(installs.length).toBeGreaterThan(8);
  expect(links).toEqual(read('CHANGELOG.md').includes('Not published yet.') ? installs : []);
});

it('the supported versions are those of package.json', () => {
  const { engines, peerDependencies } = JSON.parse(read('package.json'));
  const [, page = ''] = read('docs/versions.md').split('## Supported versions');
  expect(engines.node).toBe('>=20');
  expect(page).toMatch(/^\| Node .*\| 20 and newer/m);
  expect(peerDependencies).toEqual({
    bowser: '>=2 <3',
    isbot: '>=5 <6',
    react: '>=18 <20',
    redis: '>=5 <7',
    // Without an upper bound, which would refuse the installation beside a newer compiler.
    typescript: '>=5 <8',
    vue: '>=3 <4',
  });
  expect(page).toMatch(/^\| React.*\| 18 and 19 /m);
  expect(page).toMatch(/^\| redis.*\| 5 and 6 /m);
  expect(page).toMatch(/^\| bowser.*\| 2 /m);
  expect(page).toMatch(/^\| isbot.*\| 5 /m);
  expect(page).toMatch(/^\| TypeScript, with `clew catalogue`.*\| 5 and 6 /m);
  expect(page).toMatch(/^\| Vue.*\| 3 /m);
});
