import type ts from 'typescript';
import { withoutReturns } from './html.js';
import { type Literal, refTo, type Schema, unionOf } from './schema.js';
import { templatePattern } from './templates.js';
import { type Compiler, createTypeKinds, isUnknownName, membersOf, UNKNOWN_NAME } from './typeKinds.js';

type Words = Pick<Schema, 'description' | 'deprecated'>;

const wordsOf = (compiler: Compiler, checker: ts.TypeChecker, symbol: ts.Symbol | undefined): Words => {
  const text = withoutReturns(compiler.displayPartsToString(symbol?.getDocumentationComment(checker))).trim();
  const isDeprecated = symbol?.getJsDocTags(checker).some(({ name }) => name === 'deprecated');
  return { ...(text && { description: text }), ...(isDeprecated && { deprecated: true }) };
};

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
  const kinds = createTypeKinds(compiler, checker, isBuiltIn);
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

  const readMembers = (types: readonly ts.Type[], place: string): Schema[] => {
    // One member of an enum, such as the kind of a form, is a value.
    const isOneOfFlags = (one: ts.Type) =>
      kinds.isFlag(one) && membersOf(checker.getBaseTypeOfLiteralType(one)).every((other) => types.includes(other));
    return types
      .map((one) => (isOneOfFlags(one) ? ({ type: 'number' } as const) : read(one, place)))
      .filter((schema) => schema !== undefined);
  };

  const readUnion = (types: readonly ts.Type[], place: string): Schema | undefined => {
    const schemas = readMembers(types, place);
    return schemas[0] && unionOf(schemas);
  };

  /** In a list, JSON writes `null` for what it leaves out elsewhere. */
  const readItem = (type: ts.Type, place: string): Schema => {
    const schemas = readMembers(membersOf(type), place);
    return unionOf(kinds.mayBeMissing(type) ? [...schemas, { type: 'null' }] : schemas);
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

  const readObject = (type: ts.Type, place: string): Schema => {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    const isDerived = kinds.hasBuiltIn(type);
    for (const symbol of checker.getPropertiesOfType(type)) {
      if (kinds.isHidden(symbol)) continue;
      // The name of an error, or the size of a map.
      if (isDerived && isBuiltIn(symbol)) continue;
      const own = checker.getTypeOfSymbol(symbol);
      const schema = read(own, `${place}.${symbol.name}`);
      if (!schema) continue;
      const isOptional = symbol.flags & SymbolFlags.Optional || kinds.mayBeMissing(own);
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

  const readParts = (type: ts.Type, place: string): Schema | undefined => {
    const written = kinds.jsonOf(type);
    if (isBuiltIn(type.symbol) && type.symbol.name === 'Date') return { type: 'string', format: 'date-time' };
    if (written) return read(written, place);
    const list = kinds.listIn(type);
    if (list && checker.isTupleType(list)) return readTuple(list as ts.TypeReference, place);
    if (list) {
      const [item] = checker.getTypeArguments(list as ts.TypeReference);
      return { type: 'array', items: item ? readItem(item, `${place}[]`) : {} };
    }
    if (kinds.isOpen(type) || (open[1] && kinds.takesScalars(type))) return {};
    if (kinds.isWithoutData(type)) return { type: 'object' };
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
    if (kinds.isLeftOut(type)) return undefined;
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
  return { read, words, mayBeMissing: kinds.mayBeMissing };
};
