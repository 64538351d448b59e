import type ts from 'typescript';
import { ANY_NUMBER, ANY_TEXT, WHOLE_NUMBER } from './pattern.js';
import type { Compiler } from './typeKinds.js';

/** The text of one part of a template literal type, as a pattern. */
const patternOf = (compiler: Compiler, type: ts.Type): string => {
  const { TypeFlags } = compiler;
  if (type.isUnion()) return `(${type.types.map((one) => patternOf(compiler, one)).join('|')})`;
  if (type.isStringLiteral() || type.isNumberLiteral()) return escapeText(`${type.value}`);
  if (type.flags & TypeFlags.NumberLike) return ANY_NUMBER;
  if (type.flags & TypeFlags.BigIntLike) return WHOLE_NUMBER;
  return ANY_TEXT;
};

const escapeText = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** The pattern of a template literal type, such as `` `step_${number}` ``. */
export const templatePattern = (compiler: Compiler, { texts, types }: ts.TemplateLiteralType): string =>
  `^${texts.map((text, at) => escapeText(text) + (types[at] ? patternOf(compiler, types[at]) : '')).join('')}$`;
