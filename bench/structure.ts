/**
 * `npm run bench:structure`: the mutable variables, the lines and the longest function of each source file. With the root of another
 * checkout as argument it measures that one, to compare.
 */
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
/** The files of the core, in this version and in earlier ones. */
const CORE = /^src\/(recorder|visitor|outbox|courier|page|pipeline|tracker)(\/|\.ts)/;

const { fileNames, options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')).config,
  ts.sys,
  ROOT,
);
const program = ts.createProgram(fileNames, options);
const checker = program.getTypeChecker();

const functionAround = (node: ts.Node): ts.Node | undefined => ts.findAncestor(node.parent, ts.isFunctionLike);

/** Names of variables of a module or a factory that an inner function changes: they outlive its call, so they are state. */
const stateIn = (file: ts.SourceFile): Set<string> => {
  const state = new Set<string>();
  const note = (target: ts.Node) => {
    const declaration = ts.isIdentifier(target) && checker.getSymbolAtLocation(target)?.valueDeclaration;
    if (!declaration || !ts.isVariableDeclaration(declaration)) return;
    const factory = functionAround(declaration);
    const isOutermost = !factory || !functionAround(factory);
    if (isOutermost && functionAround(target) !== factory) state.add(`${target.text} ${declaration.pos}`);
  };
  const visit = (node: ts.Node) => {
    const isAssignment =
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
    if (isAssignment) note(node.left);
    const isUnary = ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node);
    if (isUnary && [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(node.operator))
      note(node.operand);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return state;
};

/** Lines of the longest function that contains no other one of more than three lines: a factory is as long as its file. */
const longestIn = (file: ts.SourceFile): number => {
  const linesOf = (node: ts.Node) =>
    file.getLineAndCharacterOfPosition(node.end).line -
    file.getLineAndCharacterOfPosition(node.getStart(file)).line +
    1;
  let longest = 0;
  /** Returns whether there is a function of more than three lines. */
  const visit = (node: ts.Node): boolean => {
    let hasInner = false;
    ts.forEachChild(node, (child) => {
      hasInner = visit(child) || hasInner;
    });
    if (!ts.isFunctionLike(node) || !('body' in node)) return hasInner;
    const lines = linesOf(node);
    if (!hasInner) longest = Math.max(longest, lines);
    return hasInner || lines > 3;
  };
  visit(file);
  return longest;
};

const rows = program
  .getSourceFiles()
  .filter(({ fileName }) => CORE.test(relative(ROOT, fileName)))
  .map((file) => ({
    name: relative(ROOT, file.fileName),
    state: stateIn(file).size,
    lines: file.text.split('\n').length - 1,
    longest: longestIn(file),
  }));

console.log('| file | variables | lines | longest function |\n|---|---|---|---|');
for (const { name, state, lines, longest } of rows.toSorted((a, b) => a.name.localeCompare(b.name)))
  console.log(`| ${name} | ${state} | ${lines} | ${longest} |`);
const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
/** The parts that record, store and send events. */
for (const part of ['recorder', 'outbox', 'courier', 'visitor', 'page/visit.ts']) {
  const of = rows.filter(({ name }) => name.startsWith(`src/${part}`));
  const total = (key: 'state' | 'lines') => of.reduce((all, row) => all + row[key], 0);
  const longest = Math.max(...of.map((row) => row.longest));
  console.log(`| **${part}**, ${of.length} files | ${total('state')} | ${total('lines')} | ${longest} |`);
}
console.log(`| ${rows.length} files | ${sum(({ state }) => state)} | ${sum(({ lines }) => lines)} | |`);
