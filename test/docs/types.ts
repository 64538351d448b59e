import ts from 'typescript';
import { read } from './markdown.ts';

/** What the package's types say of an interface: its members, and their defaults where they are written down. */
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
