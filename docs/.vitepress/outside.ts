import { dirname, join, relative } from 'node:path/posix';

/** The repository's root. */
export const root = join(import.meta.dirname, '../..');

/** Pages of the site whose files are outside of `docs`, because GitHub or npm expect them there. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  'project/readme.md': 'README.md',
  'project/architecture.md': 'ARCHITECTURE.md',
  'project/changelog.md': 'CHANGELOG.md',
  'project/contributing.md': 'CONTRIBUTING.md',
  'project/releasing.md': '.github/RELEASING.md',
  'project/security.md': '.github/SECURITY.md',
  'project/figures.md': 'bench/results/peers.md',
  'project/broker.md': 'demo/broker/README.md',
  'project/licence.md': 'LICENSE',
};

const PAGES = new Map(Object.entries(OUTSIDE).map(([page, file]) => [file, page]));

/** The file of a page, from the root. */
const fileOf = (page: string): string => OUTSIDE[page] ?? `docs/${page === 'index.md' ? 'README.md' : page}`;

/** The page of a file, from `docs`. A file without a page is its own page. */
const pageOf = (file: string): string =>
  PAGES.get(file) ?? (file === 'docs/README.md' ? 'index.md' : relative('docs', file));

/**
 * A link or the source of a picture as it has to be on the site. Pages link to each other as files, so that the links also work
 * in an editor and on GitHub. A page and its file may be in different folders.
 */
export const onSite = (url: string, page: string): string => {
  if (/^([a-z]+:|#|\/)/i.test(url)) return url;
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/.exec(url) ?? [];
  const target = pageOf(join(dirname(fileOf(page)), path));
  const to = relative(dirname(page), target);
  return (to.startsWith('.') ? to : `./${to}`) + rest;
};
