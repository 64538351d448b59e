import type ts from 'typescript';
import { plainText, withoutReturns } from './html.js';
import { type Attribute, type Mark, marksOf, type Values } from './marks.js';
import type { Project } from './readTypes.js';
import type { Compiler } from './typeKinds.js';

/** The texts that React and others make of the values of a type, and whether they may leave the attribute out. */
const attributeOf = (compiler: Compiler, checker: ts.TypeChecker, type: ts.Type): Attribute => {
  const { TypeFlags } = compiler;
  const members = type.isUnion() ? type.types : [type];
  const isMissing = ({ flags }: ts.Type) => flags & (TypeFlags.Undefined | TypeFlags.Null | TypeFlags.Void);
  const given = members.filter((one) => !isMissing(one));
  const texts = given.map((one) => {
    if (one.isStringLiteral() || one.isNumberLiteral()) return `${one.value}`;
    return one.flags & TypeFlags.BooleanLiteral ? checker.typeToString(one) : undefined;
  });
  const values: Values = texts.every((text) => text !== undefined) ? [...new Set(texts)].sort() : undefined;
  return { values, isOptional: given.length < members.length };
};

/** A text in quotes has the names of characters, as in HTML. */
const textOf = (written: string): Attribute => {
  const lines = withoutReturns(written);
  const text = lines.includes('&') ? plainText(lines) : lines;
  return { values: text === undefined ? undefined : [text] };
};

/** The marks of JSX in the project's own files. */
export const marksInJsx = (
  compiler: Compiler,
  { program, files }: Project,
  nameOfFile: (path: string) => string,
): Mark[] => {
  const checker = program.getTypeChecker();
  const marks: Mark[] = [];
  const readAttribute = ({ initializer }: ts.JsxAttribute): Attribute => {
    if (!initializer) return { values: ['true'] };
    if (compiler.isStringLiteral(initializer)) return textOf(initializer.text);
    const expression = compiler.isJsxExpression(initializer) ? initializer.expression : undefined;
    return expression ? attributeOf(compiler, checker, checker.getTypeAtLocation(expression)) : { values: undefined };
  };
  const visit = (node: ts.Node): void => {
    if (compiler.isJsxAttributes(node)) {
      const attributes = new Map<string, Attribute>();
      for (const property of node.properties)
        if (compiler.isJsxAttribute(property)) attributes.set(property.name.getText(), readAttribute(property));
      const file = node.getSourceFile();
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      marks.push(...marksOf(attributes, `${nameOfFile(file.fileName)}:${line + 1}`));
    }
    compiler.forEachChild(node, visit);
  };
  files.forEach(visit);
  return marks;
};
