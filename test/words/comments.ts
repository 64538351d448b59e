import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../docs/markdown.ts';
import { CODE, type Passage } from './passage.ts';

/** Folders that contain installed or built files. */
const FOREIGN = /(^|\/)(node_modules|dist|cache|\.next|\.nuxt|\.output)\/|^docs\/api\//;

/** Every file of TypeScript or JavaScript whose comments are checked. */
export const sourceFiles: string[] = ['src', 'test', 'e2e', 'sim', 'demo', 'bench', 'docs']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`))
  .concat('rollup.config.mjs')
  .filter((path) => /\.(ts|tsx|js|jsx|mjs)$/.test(path) && !FOREIGN.test(path))
  .toSorted();

/** A line of a comment without its marks. */
interface Line {
  readonly text: string;
  /** The number of the line in the file. */
  readonly number: number;
}

/** The place of each comment. Consecutive lines of `//` are one comment. */
const placesIn = (source: string, path: string): [start: number, end: number][] => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const places = new Map<number, number>();
  const texts: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) texts.push(node);
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of ranges) places.set(pos, end);
    for (const child of node.getChildren()) visit(child);
  };
  visit(file);
  // A text between tags of JSX may look like a comment.
  const isText = (at: number) => texts.some((text) => text.pos <= at && at < text.end);
  const sorted = [...places].filter(([start]) => !isText(start)).toSorted(([one], [other]) => one - other);
  return sorted.reduce<[number, number][]>((joined, [start, end]) => {
    const last = joined.at(-1);
    const isNext = last && /^\n[ \t]*$/.test(source.slice(last[1], start)) && source.startsWith('//', last[0]);
    if (isNext && source.startsWith('//', start)) last[1] = end;
    else joined.push([start, end]);
    return joined;
  }, []);
};

/** Opens a paragraph: a tag of a docstring, or an item of a list. */
const OPENING = /^(@\w+|[-*] |\d+\. )/;

/** Groups the lines of a comment into paragraphs. The code of an example is not prose. */
const paragraphsOf = (lines: readonly Line[]): Line[][] => {
  const paragraphs: Line[][] = [[]];
  let isExample = false;
  for (const line of lines) {
    if (!line.text || OPENING.test(line.text)) {
      isExample = line.text ? line.text.startsWith('@example') : isExample;
      paragraphs.push([]);
    }
    if (line.text && !isExample) paragraphs.at(-1)?.push(line);
  }
  return paragraphs.filter((paragraph) => paragraph[0]);
};

/** The prose of a line: code, types, addresses, tags with their names, and directives of other tools are none. */
const proseOf = (text: string): string =>
  text
    .replace(/`[^`]*`|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|https?:\/\/\S*[\w/]/g, CODE)
    .replace(/^@(param|template)( CODE)? \S+( -)?|^@\w+|^[-*] |^\d+\. /, '')
    .replace(/^biome-ignore \S+:/, '')
    .replace(/^@ts-expect-error:?/, '');

const passageOf = (paragraph: readonly Line[]): Passage => {
  const numbers: number[] = [];
  let text = '';
  for (const line of paragraph) {
    const prose = `${proseOf(line.text)} `;
    for (const _ of prose.split('')) numbers.push(line.number);
    text += prose;
  }
  return { isCell: false, text: text.trimEnd(), lineAt: (index) => numbers[index] ?? 0 };
};

/**
 * The prose of a source's comments.
 *
 * @param path a path whose ending shows whether the source has JSX, in which `<T>` is an element
 */
export const commentsOf = (source: string, path: string): Passage[] =>
  placesIn(source, path).flatMap(([start, end]) => {
    const first = source.slice(0, start).split('\n').length;
    const lines = source
      .slice(start, end)
      .split('\n')
      .map(
        (text, index): Line => ({
          text: text.replace(/^\s*(\/\/\/?|\/\*\*?|\*(?!\/))?\s?|\s*\*\/\s*$/g, '').trim(),
          number: first + index,
        }),
      );
    return paragraphsOf(lines).map(passageOf);
  });
