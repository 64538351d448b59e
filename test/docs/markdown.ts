import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { remark } from 'remark';

/** A code block of the documentation. */
export interface Block {
  /** The page, from the repository's root. */
  file: string;
  /** The line of the page that the block's first line is on. */
  line: number;
  lang: string;
  text: string;
}

export const root = join(import.meta.dirname, '../..');
export const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Every page of the documentation. */
export const pages: string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  '.github/RELEASING.md',
  '.github/SECURITY.md',
  'demo/broker/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

interface MarkdownNode {
  type: string;
  lang?: string | null;
  value?: string;
  url?: string;
  position?: { start: { line: number } };
  children?: MarkdownNode[];
}

const walk = (node: MarkdownNode, see: (node: MarkdownNode) => void): void => {
  see(node);
  for (const child of node.children ?? []) walk(child, see);
};

const nodesOf = (file: string): MarkdownNode[] => {
  const nodes: MarkdownNode[] = [];
  walk(remark().parse(read(file)) as MarkdownNode, (node) => nodes.push(node));
  return nodes;
};

export const blocksOf = (file: string): Block[] =>
  nodesOf(file)
    .filter(({ type }) => type === 'code')
    .map(({ lang, value = '', position }) => ({
      file,
      line: (position?.start.line ?? 0) + 1,
      lang: lang ?? '',
      text: value,
    }));

export const blocks: Block[] = pages.flatMap(blocksOf);

/** `docs/relay.md:12`, as editors and terminals open it. */
export const placeOf = ({ file, line }: Block): string => `${file}:${line}`;

/** Addresses that a page refers to, with their lines. */
export const linksOf = (file: string): [url: string, line: number][] =>
  nodesOf(file).flatMap(({ url, position }) => (url === undefined ? [] : [[url, position?.start.line ?? 0]]));
