import type ts from 'typescript';

/** TypeScript, as the project has it. */
export type Compiler = typeof ts;

/** Whether TypeScript has not found a type, for example of a package that is not installed. To its checker it is an `any`. */
export const isUnknownName = (type: ts.Type): boolean =>
  (type as ts.Type & { intrinsicName?: string }).intrinsicName === 'error';

/** The fault of such a type. */
export const UNKNOWN_NAME = 'TypeScript does not find the type. `npx tsc --noEmit` shows why';

/** What JSON makes of the kinds of types. */
export interface TypeKinds {
  /** Whether JSON leaves each value of the type out. */
  isLeftOut(type: ts.Type): boolean;
  /** Whether JSON may leave a value of the type out. */
  mayBeMissing(type: ts.Type): boolean;
  /** Whether JSON leaves a property out, because it is not one of the object itself, or has a symbol as its key. */
  isHidden(symbol: ts.Symbol): boolean;
  /** The list within an intersection, such as one with a brand, or among the bases of an interface. */
  listIn(type: ts.Type): ts.Type | undefined;
  /** Maps, sets, errors, promises and nodes of the page: JSON has none of their data. */
  isWithoutData(type: ts.Type): boolean;
  /** Whether such a type is a part of a type. */
  hasBuiltIn(type: ts.Type): boolean;
  /** Types of the compiler's libraries to which scalars or lists can be assigned, such as `String` and `ArrayLike`. */
  isOpen(type: ts.Type): boolean;
  /** `{}` and an empty interface accept everything but `null`. */
  isEmpty(type: ts.Type): boolean;
}

/** @param isBuiltIn whether the compiler's own libraries declare a symbol */
export const createTypeKinds = (
  compiler: Compiler,
  checker: ts.TypeChecker,
  isBuiltIn: (symbol: ts.Symbol | undefined) => boolean,
): TypeKinds => {
  const { TypeFlags, SymbolFlags } = compiler;

  const isInherited = (symbol: ts.Symbol): boolean =>
    !!(symbol.flags & SymbolFlags.Accessor) &&
    !!symbol.declarations?.some(({ parent }) => compiler.isClassLike(parent));

  const isPrivateName = (symbol: ts.Symbol): boolean =>
    !!symbol.declarations?.some((node) => {
      const { name } = node as ts.NamedDeclaration;
      return name && compiler.isPrivateIdentifier(name);
    });

  /** The checker names symbols as keys `__@…`, and private names such as `#cents` `__#…`. */
  const isHidden = (symbol: ts.Symbol): boolean =>
    /^__[@#]/.test(symbol.name) || isInherited(symbol) || isPrivateName(symbol);

  const isLeftOut = (type: ts.Type): boolean =>
    !!(type.flags & (TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never | TypeFlags.ESSymbolLike)) ||
    !!type.getCallSignatures()[0];

  /** `undefined` is also one of anything. */
  const mayBeMissing = (type: ts.Type): boolean =>
    (type.isUnion() ? type.types : [type]).some(
      (one) => isLeftOut(one) || !!(one.flags & (TypeFlags.Any | TypeFlags.Unknown)),
    );

  /** The types that an intersection, an interface or a class is made of. */
  const partsOf = (type: ts.Type): readonly ts.Type[] => {
    if (type.isIntersection()) return type.types;
    const { target = type } = type as Partial<ts.TypeReference>;
    return target.isClassOrInterface() ? checker.getBaseTypes(target) : [];
  };

  const listIn = (type: ts.Type): ts.Type | undefined =>
    checker.isTupleType(type) || checker.isArrayType(type)
      ? type
      : partsOf(type)
          .map(listIn)
          .find((one) => one);

  const isWithoutData = (type: ts.Type): boolean => {
    const { target = type } = type as Partial<ts.TypeReference>;
    return isBuiltIn(type.symbol) && target.isClassOrInterface();
  };

  const hasBuiltIn = (type: ts.Type): boolean => isWithoutData(type) || partsOf(type).some(hasBuiltIn);

  const isOpen = (type: ts.Type): boolean =>
    isBuiltIn(type.symbol) &&
    /^(Object|String|Number|Boolean|(Async)?Iterable|(Array|Promise)Like)$/.test(type.symbol.name);

  const isEmpty = (type: ts.Type): boolean =>
    !type.isClass() &&
    !checker.getPropertiesOfType(type)[0] &&
    !checker.getIndexInfosOfType(type)[0] &&
    !(isBuiltIn(type.symbol) && type.isClassOrInterface());

  return { isLeftOut, mayBeMissing, isHidden, listIn, isWithoutData, hasBuiltIn, isOpen, isEmpty };
};
