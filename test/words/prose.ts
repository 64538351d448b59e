import type { Nodes } from 'mdast';
import { remark } from 'remark';
import remarkGfm from 'remark-gfm';
import { attributesIn, textsIn } from './html.ts';
import { CODE, type Passage } from './passage.ts';

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

/** Texts that a reader sees beside the passage: titles of links and pictures, and attributes of HTML. */
const asidesIn = (node: Nodes): Passage[] => {
  const line = node.position?.start.line ?? 0;
  if (node.type === 'html') return attributesIn(node.value, line);
  const title = 'title' in node && node.title;
  const own: Passage[] = title ? [{ isCell: false, text: title.replaceAll('\n', ' '), lineAt: () => line }] : [];
  return 'children' in node ? [...own, ...node.children.flatMap(asidesIn)] : own;
};

const passagesIn = (node: Nodes): Passage[] => {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell')
    return [passageOf(node), ...asidesIn(node)];
  if (node.type === 'html') return [...textsIn(node.value, node.position?.start.line ?? 0), ...asidesIn(node)];
  return 'children' in node ? node.children.flatMap(passagesIn) : asidesIn(node);
};

const parser = remark().use(remarkGfm);

/** The prose of a Markdown page, with that of its HTML. Code, comments and the targets of links are not prose. */
export const proseOf = (markdown: string): Passage[] => passagesIn(parser.parse(markdown));
