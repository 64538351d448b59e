import type ts from 'typescript';
import { withoutReturns } from './html.js';
import { ANY_NUMBER, ANY_TEXT, WHOLE_NUMBER } from './pattern.js';
import { type Literal, refTo, type Schema, unionOf } from './schema.js';

/** TypeScript, as the project has it. */
export type Compiler = typeof ts;

type Words = Pick<Schema, 'description' | 'deprecated'>;

const wordsOf = (compiler: Compiler, checker: ts.TypeChecker, symbol: ts.Symbol | undefined): Words => {
  const text = withoutReturns(compiler.displayPartsToString(symbol?.getDocumentationComment(checker))).trim();
  const isDeprecated = symbol?.getJsDocTags(checker).some(({ name }) => name === 'deprecated');
  return { ...(text && { description: text }), ...(isDeprecated && { deprecated: true }) };
};

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

/** Whether TypeScript has not found a type, for example of a package that is not installed. To its checker it is an `any`. */
export const isUnknownName = (type: ts.Type): boolean =>
  (type as ts.Type & { intrinsicName?: string }).intrinsicName === 'error';

/** The fault of such a type. */
export const UNKNOWN_NAME = 'TypeScript does not find the type. `npx tsc --noEmit` shows why';

/** Deeper instances of a generic type are read as anything: each may contain an even larger one. */
const MAX_DEPTH = 40;

/** A type that one payload has more often is a definition: the number of its copies may double with each type around it. */
const MAX_COPIES = 50;

/** Reads the JSON of types: what arrives at the service if an app tracks a value of the type. */
export interface TypeReader {
  /** Whether JSON may leave a value of the type out. */
  mayBeMissing(type: ts.Type): boolean;
  /** The schema, or `undefined` if JSON leaves such a value out. */
  read(type: ts.Type, place: string): Schema | undefined;
  /** Descriptions of a symbol, from its JSDoc comment. The compiler's own comments describe no event. */
  words(symbol: ts.Symbol | undefined): Words;
}

/**
 * @param defs takes the schemas of types that contain themselves, or that one payload has very often
 * @param isBuiltIn whether the compiler's own libraries declare a symbol
 * @param onProblem receives each type that clew cannot send or TypeScript does not find, with its place
 */
export const createTypeReader = (
  compiler: Compiler,
  checker: ts.TypeChecker,
  defs: Record<string, Schema>,
  isBuiltIn: (symbol: ts.Symbol | undefined) => boolean,
  onProblem: (text: string) => void,
): TypeReader => {
  const { TypeFlags, SymbolFlags } = compiler;
  /** The objects around the type that is read. */
  const open: ts.Type[] = [];
  /** The names of types that have a definition. */
  const names = new Map<ts.Type, string>();
  /** How often the payload that is read has each type. */
  const copies = new Map<ts.Type, number>();

  const words = (symbol: ts.Symbol | undefined) => (isBuiltIn(symbol) ? {} : wordsOf(compiler, checker, symbol));

  const nameFor = (type: ts.Type): string => {
    const known = names.get(type);
    if (known) return known;
    const given = (type.aliasSymbol ?? type.symbol)?.name ?? '';
    const base = /^\w+$/.test(given) && !given.startsWith('__') ? given : 'Type';
    const taken = new Set([...Object.keys(defs), ...names.values()]);
    let name = base;
    for (let at = 2; taken.has(name); at++) name = `${base}${at}`;
    names.set(type, name);
    return name;
  };

  const readUnion = (types: readonly ts.Type[], place: string): Schema | undefined => {
    const schemas = types.map((one) => read(one, place)).filter((schema) => schema !== undefined);
    return schemas[0] && unionOf(schemas);
  };

  /** In a list, JSON writes `null` for what it leaves out elsewhere. */
  const readItem = (type: ts.Type, place: string): Schema => {
    const members = type.isUnion() ? type.types : [type];
    const schemas = members.map((one) => read(one, place) ?? ({ type: 'null' } as const));
    return unionOf(schemas);
  };

  const readTuple = (type: ts.TypeReference, place: string): Schema => {
    const { elementFlags } = type.target as ts.TupleType;
    const items = checker.getTypeArguments(type).map((one, at) => readItem(one, `${place}[${at}]`));
    const { Rest, Variadic, Required } = compiler.ElementFlags;
    const from = elementFlags.findIndex((flag) => flag & (Rest | Variadic));
    const minItems = elementFlags.filter((flag) => flag & Required).length;
    // Items after a rest have no fixed place.
    const fixed = from < 0 ? items : items.slice(0, from);
    return {
      type: 'array',
      ...(fixed[0] && { prefixItems: fixed }),
      items: from < 0 ? false : unionOf(items.slice(from)),
      ...(minItems && { minItems }),
    };
  };

  /** Whether JSON leaves a property out, because it is not one of the object itself. */
  const isInherited = (symbol: ts.Symbol): boolean =>
    !!(symbol.flags & SymbolFlags.Accessor) &&
    !!symbol.declarations?.some(({ parent }) => compiler.isClassLike(parent));

  const isPrivateName = (symbol: ts.Symbol): boolean =>
    !!symbol.declarations?.some((node) => {
      const { name } = node as ts.NamedDeclaration;
      return name && compiler.isPrivateIdentifier(name);
    });

  const readObject = (type: ts.Type, place: string): Schema => {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    const isDerived = hasBuiltIn(type);
    for (const symbol of checker.getPropertiesOfType(type)) {
      // Symbols as keys, and private names such as `#cents`.
      if (/^__[@#]/.test(symbol.name) || isInherited(symbol) || isPrivateName(symbol)) continue;
      // The name of an error, or the size of a map.
      if (isDerived && isBuiltIn(symbol)) continue;
      const own = checker.getTypeOfSymbol(symbol);
      const schema = read(own, `${place}.${symbol.name}`);
      if (!schema) continue;
      const members = own.isUnion() ? own.types : [own];
      const isOptional = symbol.flags & SymbolFlags.Optional || members.some(mayBeMissing);
      properties[symbol.name] = { ...schema, ...words(symbol) };
      if (!isOptional) required.push(symbol.name);
    }
    // Those of numbers and of template literals leave other names open.
    const indexes = checker.getIndexInfosOfType(type).filter(({ keyType }) => keyType.flags & TypeFlags.String);
    const others = indexes.map((index) => read(index.type, `${place}[…]`)).filter((schema) => schema !== undefined);
    return {
      type: 'object',
      ...(Object.keys(properties)[0] !== undefined && { properties }),
      ...(required[0] !== undefined && { required }),
      ...(others[0] && { additionalProperties: unionOf(others) }),
    };
  };

  const isLeftOut = (type: ts.Type): boolean =>
    !!(type.flags & (TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never | TypeFlags.ESSymbolLike)) ||
    !!type.getCallSignatures()[0];

  /** `undefined` is also one of anything. */
  const mayBeMissing = (type: ts.Type): boolean =>
    isLeftOut(type) || !!(type.flags & (TypeFlags.Any | TypeFlags.Unknown));

  /** The types that an intersection, an interface or a class is made of. */
  const partsOf = (type: ts.Type): readonly ts.Type[] => {
    if (type.isIntersection()) return type.types;
    const { target = type } = type as Partial<ts.TypeReference>;
    return target.isClassOrInterface() ? checker.getBaseTypes(target) : [];
  };

  /** The list within an intersection, such as one with a brand, or among the bases of an interface. */
  const listIn = (type: ts.Type): ts.Type | undefined =>
    checker.isTupleType(type) || checker.isArrayType(type)
      ? type
      : partsOf(type)
          .map(listIn)
          .find((one) => one);

  /** Maps, sets, errors, promises and nodes of the page: JSON has none of their data. */
  const isWithoutData = (type: ts.Type): boolean => {
    const { target = type } = type as Partial<ts.TypeReference>;
    return isBuiltIn(type.symbol) && target.isClassOrInterface();
  };

  /** Whether such a type is a part of a type. */
  const hasBuiltIn = (type: ts.Type): boolean => isWithoutData(type) || partsOf(type).some(hasBuiltIn);

  /** Types of the compiler's libraries to which scalars or lists can be assigned, such as `String` and `ArrayLike`. */
  const isOpen = (type: ts.Type): boolean =>
    isBuiltIn(type.symbol) &&
    /^(Object|String|Number|Boolean|(Async)?Iterable|(Array|Promise)Like)$/.test(type.symbol.name);

  /** `{}` and an empty interface accept everything but `null`. */
  const isEmpty = (type: ts.Type): boolean =>
    !type.isClass() &&
    !checker.getPropertiesOfType(type)[0] &&
    !checker.getIndexInfosOfType(type)[0] &&
    !(isBuiltIn(type.symbol) && type.isClassOrInterface());

  const readParts = (type: ts.Type, place: string): Schema | undefined => {
    const toJson = checker.getPropertyOfType(type, 'toJSON');
    const [written] = toJson ? checker.getTypeOfSymbol(toJson).getCallSignatures() : [];
    if (isBuiltIn(type.symbol) && type.symbol.name === 'Date') return { type: 'string', format: 'date-time' };
    if (written) return read(written.getReturnType(), place);
    const list = listIn(type);
    if (list && checker.isTupleType(list)) return readTuple(list as ts.TypeReference, place);
    if (list) {
      const [item] = checker.getTypeArguments(list as ts.TypeReference);
      return { type: 'array', items: item ? readItem(item, `${place}[]`) : {} };
    }
    if (isOpen(type) || (open[1] && isEmpty(type))) return {};
    if (isWithoutData(type)) return { type: 'object' };
    return readObject(type, place);
  };

  /** Whether too many instances of a type are around this one. Lists of different types are not: only a list in a list counts. */
  const isTooDeep = (type: ts.Type): boolean =>
    open.filter(({ symbol }) => symbol === type.symbol).length > MAX_DEPTH &&
    (!checker.isArrayType(type) || open.at(-1)?.symbol === type.symbol);

  /** Reads an object, unless it is within itself or has a definition. */
  const readGuarded = (type: ts.Type, place: string): Schema | undefined => {
    const known = names.get(type);
    if (known !== undefined && Object.hasOwn(defs, known)) return refTo(known);
    if (!open[0]) copies.clear();
    const count = (copies.get(type) ?? 0) + 1;
    copies.set(type, count);
    if (open.includes(type)) return refTo(nameFor(type));
    if (count > MAX_COPIES) nameFor(type);
    if (isTooDeep(type)) return {};
    open.push(type);
    const schema = readParts(type, place);
    open.pop();
    const name = names.get(type);
    if (!name || !schema) return schema;
    defs[name] = schema;
    return refTo(name);
  };

  const literalOf = (type: ts.Type): Literal | undefined => {
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
    if (type.flags & TypeFlags.BooleanLiteral) return checker.typeToString(type) === 'true';
    return undefined;
  };

  const readScalar = (type: ts.Type): Schema | undefined => {
    const value = literalOf(type);
    if (value !== undefined) return { const: value };
    const { flags } = type;
    if (flags & TypeFlags.TemplateLiteral)
      return { type: 'string', pattern: templatePattern(compiler, type as ts.TemplateLiteralType) };
    if (flags & TypeFlags.StringLike) return { type: 'string' };
    if (flags & TypeFlags.NumberLike) return { type: 'number' };
    if (flags & TypeFlags.BooleanLike) return { type: 'boolean' };
    return flags & TypeFlags.Null ? { type: 'null' } : undefined;
  };

  const read = (type: ts.Type, place: string): Schema | undefined => {
    const { flags } = type;
    if (isUnknownName(type)) onProblem(`${place}: ${UNKNOWN_NAME}`);
    if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return {};
    if (isLeftOut(type)) return undefined;
    if (flags & TypeFlags.BigIntLike) {
      onProblem(`${place}: a bigint has no JSON, so clew drops the event`);
      return {};
    }
    if (type.isUnion()) return readUnion(type.types, place);
    const scalar = readScalar(type);
    if (scalar) return scalar;
    if (type.isIntersection()) {
      const big = type.types.find((one) => one.flags & TypeFlags.BigIntLike);
      if (big) return read(big, place);
      // A text with a brand.
      const plain = type.types.map((one) => readScalar(one)).find((schema) => schema);
      if (plain) return plain;
    }
    if (flags & (TypeFlags.Object | TypeFlags.Intersection)) return readGuarded(type, place);
    // A list is one, too.
    if (flags & TypeFlags.NonPrimitive) return unionOf([{ type: 'object' }, { type: 'array', items: {} }]);
    // A type parameter, or a type that depends on one.
    const bound = checker.getBaseConstraintOfType(type);
    return bound && bound !== type ? read(bound, place) : {};
  };
  return { read, words, mayBeMissing: (type) => (type.isUnion() ? type.types : [type]).some(mayBeMissing) };
};
