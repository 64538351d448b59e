import ts from 'typescript';
import { read } from './markdown.ts';

/** The members of an interface in the package's types, each with its `@default` if it has one. */
export const membersOf = (file: string, name: string): Map<string, string | undefined> => {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2022, true);
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  const defaultOf = (member: ts.TypeElement) =>
    ts.getTextOfJSDocComment(ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default')?.comment);
  return new Map(found?.members.map((member) => [(member.name as ts.Identifier).text, defaultOf(member)]));
};
