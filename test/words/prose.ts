import type { Nodes } from 'mdast';
import { remark } from 'remark';
import remarkGfm from 'remark-gfm';

/** A paragraph, a heading, or a cell of a table, as a reader sees it. */
export interface Passage {
  isCell: boolean;
  /** With a space for each line break, since `Intl.Segmenter` ends a sentence there, and `CODE` for inline code. */
  text: string;
  /** The line of the page that a character of `text` is on. */
  lineAt(index: number): number;
}

/** Stands for inline code, which is not prose. In capitals, since `Intl.Segmenter` ends no sentence before a small letter. */
export const CODE = 'CODE';

/** The text of a node that stands in a line, with the line that it begins on. */
const piecesOf = (node: Nodes): [text: string, line: number][] => {
  const line = node.position?.start.line ?? 0;
  if (node.type === 'text') return [[node.value, line]];
  if (node.type === 'inlineCode') return [[CODE, line]];
  if (node.type === 'image' || node.type === 'imageReference') return [[node.alt ?? '', line]];
  if (node.type === 'break') return [[' ', line]];
  return 'children' in node ? node.children.flatMap(piecesOf) : [];
};

const passageOf = (node: Nodes): Passage => {
  const lines: number[] = [];
  let text = '';
  for (const [piece, start] of piecesOf(node)) {
    let line = start;
    for (const character of piece.split('')) {
      lines.push(line);
      if (character === '\n') line += 1;
    }
    text += piece.replaceAll('\n', ' ');
  }
  return { isCell: node.type === 'tableCell', text, lineAt: (index) => lines[index] ?? 0 };
};

const passagesIn = (node: Nodes): Passage[] => {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') return [passageOf(node)];
  return 'children' in node ? node.children.flatMap(passagesIn) : [];
};

const parser = remark().use(remarkGfm);

/** The prose of a Markdown page. Code, HTML, comments and the targets of links are not prose. */
export const proseOf = (markdown: string): Passage[] => passagesIn(parser.parse(markdown));
