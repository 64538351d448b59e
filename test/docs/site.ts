import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** A file of the built site, from its folder. */
interface SiteFile {
  path: string;
  text: string;
}

/** Attributes with an address that the browser fetches by itself. */
const FETCHED = /<(?:script|img|source|iframe|video|audio|link)\b[^>]*?\s(?:src|href|srcset)="([^"]*)"/g;
const LINKS = /<a\b[^>]*?\shref="([^"]*)"/g;
const IDS = /\sid="([^"]*)"/g;
const ADDRESSES_OF_CSS = /(?:url\(\s*['"]?|@import\s+['"])([^'")]+)/g;

const decode = (text: string): string => decodeURIComponent(text.replaceAll('&amp;', '&'));
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found]) => found ?? '');
const isElsewhere = (url: string): boolean => /^(?:[a-z]+:)?\/\//i.test(url);

/** The file that a path of the site opens, as every server of files does it. */
const fileOf = (url: string, from: string): string => {
  const path = decode(url.replace(/[?#].*/, ''));
  const file = path.startsWith('/') ? path.slice(1) : join(dirname(from), path);
  return path === '' ? from : path.endsWith('/') ? join(file, 'index.html') : file;
};

/** Links and anchors without a target, and files that a page would fetch from elsewhere, on a site in a folder. */
export const siteFaults = (folder: string): string[] => {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const known = new Set(paths);
  const files = (ending: string): SiteFile[] =>
    paths
      .filter((path) => path.endsWith(ending))
      .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
  const pages = files('.html');
  const ids = new Map(pages.map(({ path, text }) => [path, new Set(all(text, IDS).map(decode))]));

  const fetchFault = (url: string, from: string): string | undefined => {
    if (url.startsWith('data:')) return undefined;
    if (isElsewhere(url)) return `${from}: needs the network for ${url}`;
    return known.has(fileOf(url, from)) ? undefined : `${from}: no file ${url}`;
  };
  const linkFault = (url: string, from: string): string | undefined => {
    if (/^[a-z]+:/i.test(url)) return undefined;
    const file = fileOf(url, from);
    if (!known.has(file)) return `${from}: no file ${url}`;
    const [, id] = url.split('#');
    return id && !ids.get(file)?.has(decode(id)) ? `${from}: no anchor ${url}` : undefined;
  };
  return [
    ...pages.flatMap(({ path, text }) => all(text, FETCHED).map((url) => fetchFault(url, path))),
    ...pages.flatMap(({ path, text }) => all(text, LINKS).map((url) => linkFault(url, path))),
    ...files('.css').flatMap(({ path, text }) => all(text, ADDRESSES_OF_CSS).map((url) => fetchFault(url, path))),
  ].filter((fault) => fault !== undefined);
};
