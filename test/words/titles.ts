import ts from 'typescript';
import { CODE, type Passage } from './passage.ts';

/** Functions whose calls have a title, also as `it.each(…)(title)`. `fault` has its number before the title. */
const TITLED = new Set(['describe', 'fault', 'it', 'test']);

/** Whether a file has tests, or defines tests for several files. */
export const isTestFile = (path: string): boolean => /\.(test|spec|suite)\.ts$/.test(path);

/** The name at the left end of a callee: `it` of `it.each([])`. */
const rootOf = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootOf(node.expression);
  return '';
};

/** A title without its placeholders, of a string or of a template. */
const textOf = (node: ts.Expression): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.templateSpans.reduce((text, { literal }) => text + CODE + literal.text, node.head.text);
};

/** The titles of the tests in a TypeScript file: literal ones only, not those that a variable holds. */
export const titlesOf = (source: string): Passage[] => {
  const file = ts.createSourceFile('titles.ts', source, ts.ScriptTarget.Latest, true);
  const titles: Passage[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.arguments.length > 1 && TITLED.has(rootOf(node.expression))) {
      const title = node.arguments.find((argument) => textOf(argument) !== undefined);
      if (title) {
        const line = file.getLineAndCharacterOfPosition(title.getStart()).line + 1;
        titles.push({
          isCell: false,
          text: textOf(title)?.replaceAll(/%[a-z]|\$[a-z]\w*/gi, CODE) ?? '',
          lineAt: () => line,
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
};
