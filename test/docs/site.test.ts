import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OUTSIDE, onSite } from '../../docs/.vitepress/outside.ts';
import { sidebar, withLinks } from '../../docs/.vitepress/pages.ts';
import { pages, read, root } from './markdown.ts';
import { siteFaults } from './site.ts';

const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> };

it('the sidebar has every page once', () => {
  const linked = sidebar.flatMap(({ items = [] }) => items.map(({ link = '' }) => link.slice(1)));
  const own = pages.filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
  const entries = Object.keys(exports)
    .map((entry) => entry.replace(/^\.\/?/, '') || 'index')
    .filter((name) => existsSync(join(root, `src/${name}.ts`)));
  const expected = [
    ...own.map((file) => file.replace(/^docs\/|\.md$/g, '')),
    // A script without exports has no reference.
    ...entries.filter((name) => name !== 'stub.js' && name !== 'clew.js').map((name) => `api/${name}`),
    ...Object.keys(OUTSIDE).map((page) => page.replace(/\.md$/, '')),
  ];
  expect(linked.toSorted()).toEqual(expected.toSorted());
});

it('every page of the repository outside of docs is on the site', () => {
  const outside = pages.filter((file) => !file.startsWith('docs/'));
  expect(outside.filter((file) => !Object.values(OUTSIDE).includes(file))).toEqual([]);
  expect(Object.values(OUTSIDE).filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it.each([
  ['relay.md#limits', 'delivery.md', './relay.md#limits'],
  ['README.md', 'delivery.md', './index.md'],
  ['relay.md', 'index.md', './relay.md'],
  ['../CHANGELOG.md', 'versions.md', './project/changelog.md'],
  ['docs/relay.md#answers', 'project/readme.md', '../relay.md#answers'],
  ['docs/images/event.svg', 'project/readme.md', '../images/event.svg'],
  ['../docs/relay.md', 'project/security.md', '../relay.md'],
  ['ARCHITECTURE.md', 'project/contributing.md', './architecture.md'],
  ['https://a.example/b', 'relay.md', 'https://a.example/b'],
  ['#limits', 'relay.md', '#limits'],
])('a link to %s on %s leads to %s', (url, page, expected) => {
  expect(onSite(url, page)).toBe(expected);
});

it('the API reference links to pages that a docstring names', () => {
  expect(withLinks('Ends it. docs/relay.md explains why, but docs/none.md and a/docs/relay.md do not.')).toBe(
    'Ends it. [Relay](../relay.md) explains why, but docs/none.md and a/docs/relay.md do not.',
  );
});

it('finds links, anchors and files without a target, and all that needs the network', () => {
  mkdirSync(join(root, 'test-results'), { recursive: true });
  const folder = mkdtempSync(join(root, 'test-results/site-'));
  const files: Record<string, string> = {
    'index.html':
      '<h1 id="top">A</h1><a href="/sub/">a</a><a href="/sub/b.html#part">a</a><a href="https://a.example">a</a>',
    'sub/index.html': '<a href="../index.html#top">a</a><a href="../none.html">a</a><a href="#nowhere">a</a>',
    'sub/b.html': '<i id="part"></i><script type="module" src="/app.js"></script><img src="//a.example/c.png">',
    'style.css': '@import "https://fonts.example/a.css"; a { background: url(data:image/png;base64,x) }',
  };
  try {
    mkdirSync(join(folder, 'sub'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    expect(siteFaults(folder).toSorted()).toEqual([
      'style.css: needs the network for https://fonts.example/a.css',
      'sub/b.html: needs the network for //a.example/c.png',
      'sub/b.html: no file /app.js',
      'sub/index.html: no anchor #nowhere',
      'sub/index.html: no file ../none.html',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
