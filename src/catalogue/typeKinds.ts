import type ts from 'typescript';

/** TypeScript, as the project has it. */
export type Compiler = typeof ts;

/** Whether TypeScript has not found a type, for example of a package that is not installed. To its checker it is an `any`. */
export const isUnknownName = (type: ts.Type): boolean =>
  (type as ts.Type & { intrinsicName?: string }).intrinsicName === 'error';

/** The fault of such a type. */
export const UNKNOWN_NAME = 'TypeScript does not find the type. `npx tsc --noEmit` shows why';

/** The members of a union, or a type that is none. */
export const membersOf = (type: ts.Type | undefined): readonly ts.Type[] => {
  if (!type) return [];
  return type.isUnion() ? type.types : [type];
};

/** Questions about a type, and how JSON writes its values. */
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
  /** `{}` and an empty interface accept everything but `null`. An interface with a member of scalars, such as `length`, accepts these. */
  takesScalars(type: ts.Type): boolean;
  /** The type of the result of `toJSON`. Undefined without that method. */
  jsonOf(type: ts.Type): ts.Type | undefined;
  /** Whether a value of an enum is one of bit flags. TypeScript also assigns their combinations to the enum. */
  isFlag(type: ts.Type): boolean;
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
    !!type.getCallSignatures()[0] ||
    !!type.getConstructSignatures()[0] ||
    (isBuiltIn(type.symbol) && /^(Callable|Newable)?Function$/.test(type.symbol.name));

  /** `undefined` is also one of anything. */
  const isMissing = (type: ts.Type): boolean => isLeftOut(type) || !!(type.flags & (TypeFlags.Any | TypeFlags.Unknown));

  const jsonOf = (type: ts.Type): ts.Type | undefined => {
    const method = checker.getPropertyOfType(type, 'toJSON');
    return method && checker.getTypeOfSymbol(method).getCallSignatures()[0]?.getReturnType();
  };

  /** `JSON.stringify` does not call `toJSON` of the result of a `toJSON`. */
  const mayBeMissing = (type: ts.Type): boolean =>
    membersOf(type).some((one) => isMissing(one) || membersOf(jsonOf(one)).some(isMissing));

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

  const scalars = [checker.getStringType(), checker.getNumberType(), checker.getBooleanType()];

  const takesScalars = (type: ts.Type): boolean => {
    if (type.isClass()) return false;
    if (checker.getPropertiesOfType(type)[0]) return scalars.some((one) => checker.isTypeAssignableTo(one, type));
    return !checker.getIndexInfosOfType(type)[0] && !(isBuiltIn(type.symbol) && type.isClassOrInterface());
  };

  /** Members that are numbered by themselves are no flags: `enum Level { Low, Mid, High }`. */
  const isWrittenPower = (member: ts.EnumMember): boolean => {
    const value = checker.getConstantValue(member);
    return !!member.initializer && typeof value === 'number' && Number.isInteger(Math.log2(value));
  };

  const isFlag = (type: ts.Type): boolean => {
    const around = type.symbol?.valueDeclaration?.parent;
    return !!around && compiler.isEnumDeclaration(around) && around.members.filter(isWrittenPower).length > 1;
  };

  return { isLeftOut, mayBeMissing, isHidden, listIn, isWithoutData, hasBuiltIn, isOpen, takesScalars, jsonOf, isFlag };
};
