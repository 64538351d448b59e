import type ts from 'typescript';
import { nameFault } from './nameFault.js';
import { type Definitions, type EventSchema, eventSchema, type Schema, unionOf } from './schema.js';
import { templatePattern } from './templates.js';
import { type Compiler, isUnknownName, UNKNOWN_NAME } from './typeKinds.js';
import { createTypeReader, type TypeReader } from './typeSchema.js';

/** A program, and those of its files that are the project's. */
export interface Project {
  readonly program: ts.Program;
  readonly files: readonly ts.SourceFile[];
}

/** The events of the types of projects. */
export interface ReadEvents {
  readonly events: readonly EventSchema[];
  readonly defs: Definitions;
  /** Types that clew cannot send or TypeScript does not find, each with its place. */
  readonly problems: readonly string[];
}

/** Reads one event map, such as the type of `createTracker<Events>`. */
const readMap = (
  compiler: Compiler,
  checker: ts.TypeChecker,
  { read, words: wordsOf, mayBeMissing }: TypeReader,
  map: ts.Type,
  onProblem: (text: string) => void,
): EventSchema[] => {
  const { SymbolFlags, TypeFlags } = compiler;
  const envelope = (event: Schema, title: string, payload: ts.Type, isOptional: boolean, words: object) => {
    return eventSchema(event, title, read(payload, `${title}: payload`), isOptional || mayBeMissing(payload), words);
  };
  const properties = checker.getPropertiesOfType(map);
  const faults = properties.map(({ name }) => nameFault(name)).filter((fault) => fault !== undefined);
  faults.forEach(onProblem);
  const named = properties
    .filter(({ name }) => !nameFault(name))
    .map((symbol) => {
      const payload = checker.getTypeOfSymbol(symbol);
      const own = wordsOf(symbol);
      // The comment of the payload's type describes the event if the event has none.
      const { description } = wordsOf(payload.aliasSymbol ?? namedSymbol(payload));
      const words = { ...(description && { description }), ...own };
      return envelope({ const: symbol.name }, symbol.name, payload, !!(symbol.flags & SymbolFlags.Optional), words);
    });
  const open = checker.getIndexInfosOfType(map).map(({ keyType, type }) => {
    const pattern =
      keyType.flags & TypeFlags.TemplateLiteral
        ? templatePattern(compiler, keyType as ts.TemplateLiteralType)
        : undefined;
    const title = pattern ? checker.typeToString(keyType).slice(1, -1) : 'any other event';
    return envelope({ type: 'string', ...(pattern !== undefined && { pattern }) }, title, type, false, {});
  });
  return [...named, ...open];
};

/** The symbol of an interface or a class, and not of an anonymous object. */
const namedSymbol = (type: ts.Type): ts.Symbol | undefined => (type.isClassOrInterface() ? type.symbol : undefined);

/** The event maps of all calls of `createTracker` in the app's own files. */
const mapsIn = (
  compiler: Compiler,
  checker: ts.TypeChecker,
  files: readonly ts.SourceFile[],
  onProblem: (text: string) => void,
): ts.Type[] => {
  const found: ts.Type[] = [];
  const mapOf = (call: ts.CallExpression): ts.Type | undefined => {
    const [given] = call.typeArguments ?? [];
    if (given) return checker.getTypeFromTypeNode(given);
    // `const tracker: Tracker<Events> = createTracker(…)`
    const type = checker.getTypeAtLocation(call);
    return type.aliasTypeArguments?.[0] ?? checker.getTypeArguments(type as ts.TypeReference)?.[0];
  };
  /** `(createTracker<Events>)(…)` and `createTracker!(…)` */
  const bare = (node: ts.Expression): ts.Expression =>
    compiler.isParenthesizedExpression(node) ||
    compiler.isNonNullExpression(node) ||
    compiler.isExpressionWithTypeArguments(node)
      ? bare(node.expression)
      : node;
  const nameOf = (callee: ts.Expression): string => {
    if (compiler.isPropertyAccessExpression(callee)) return callee.name.text;
    const name = compiler.isElementAccessExpression(callee) ? callee.argumentExpression : callee;
    return compiler.isStringLiteral(name) ? name.text : name.getText();
  };
  const isFactory = (callee: ts.Expression): boolean =>
    nameOf(callee) === 'createTracker' || originalName(compiler, checker, callee) === 'createTracker';
  const visit = (node: ts.Node): void => {
    if (compiler.isCallExpression(node) && isFactory(bare(node.expression))) {
      const map = mapOf(node);
      if (map && isUnknownName(map))
        onProblem(`${node.getSourceFile().fileName}: the events of createTracker: ${UNKNOWN_NAME}`);
      if (map && isClosed(compiler, checker, map)) found.push(map);
    }
    compiler.forEachChild(node, visit);
  };
  files.forEach(visit);
  return [...new Set(found)];
};

/** The name of a function that an import may have renamed. */
const originalName = (compiler: Compiler, checker: ts.TypeChecker, node: ts.Node): string | undefined => {
  const symbol = checker.getSymbolAtLocation(node);
  return symbol && symbol.flags & compiler.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol).name : symbol?.name;
};

/** Whether a map declares events. `AnyEvents`, the default, declares none. */
const isClosed = ({ TypeFlags }: Compiler, checker: ts.TypeChecker, map: ts.Type): boolean =>
  !(map.flags & (TypeFlags.Any | TypeFlags.Unknown)) &&
  (checker.getPropertiesOfType(map).length > 0 ||
    checker.getIndexInfosOfType(map).some(({ keyType }) => keyType.flags & TypeFlags.TemplateLiteral));

/** One event for several of one name: apps may have several trackers, and types and marks the names of clew's own events. */
export const mergeEvents = (events: readonly EventSchema[]): EventSchema[] => {
  const byName = new Map<string, EventSchema[]>();
  for (const event of events) {
    const name = JSON.stringify(event.properties.event);
    byName.set(name, [...(byName.get(name) ?? []), event]);
  }
  return [...byName.values()].map((same) => {
    const [first, ...others] = same as [EventSchema, ...EventSchema[]];
    if (!others[0]) return first;
    const payloads = same.flatMap(({ properties: { payload } }) => (payload ? [payload] : []));
    const isOptional = same.some(({ required }) => !required.includes('payload'));
    const { deprecated } = first;
    const description = same.map((one) => one.description).find((text) => text);
    const words = { ...(description && { description }), ...(deprecated && { deprecated }) };
    return eventSchema(first.properties.event, first.title, payloads[0] && unionOf(payloads), isOptional, words);
  });
};

/** The exported type of a file, by its name. */
const typeNamed = (checker: ts.TypeChecker, file: ts.SourceFile, name: string): ts.Type | undefined => {
  const module = checker.getSymbolAtLocation(file);
  const locals = (file as ts.SourceFile & { locals?: ReadonlyMap<string, ts.Symbol> }).locals;
  const exported = module && checker.getExportsOfModule(module).find((symbol) => symbol.name === name);
  const symbol = exported ?? locals?.get(name);
  return symbol && checker.getDeclaredTypeOfSymbol(symbol);
};

/**
 * Reads the events of projects.
 *
 * @param given the file and the name of an event map. Without it, those of all calls of `createTracker` are read.
 * @throws Error if there is no such type
 */
export const readTypes = (
  compiler: Compiler,
  projects: readonly Project[],
  given?: { readonly file: string; readonly name: string },
): ReadEvents => {
  const problems: string[] = [];
  const onProblem = (text: string) => void problems.push(text);
  const defs: Record<string, Schema> = {};
  const own = given ? projects.filter(({ program }) => program.getSourceFile(given.file)).slice(0, 1) : projects;
  const read = own.map(({ program, files }) => {
    const checker = program.getTypeChecker();
    const isBuiltIn = (symbol: ts.Symbol | undefined) =>
      !!symbol?.declarations?.some((node) => program.isSourceFileDefaultLibrary(node.getSourceFile()));
    const file = given && program.getSourceFile(given.file);
    const map = file && typeNamed(checker, file, given.name);
    const maps = given ? (map ? [map] : []) : mapsIn(compiler, checker, files, onProblem);
    const reader = createTypeReader(compiler, checker, defs, isBuiltIn, onProblem);
    return { maps, events: maps.flatMap((one) => readMap(compiler, checker, reader, one, onProblem)) };
  });
  if (given && !read[0]?.maps[0]) throw new Error(`${given.file} has no type ${given.name}`);
  return { events: mergeEvents(read.flatMap(({ events }) => events)), defs, problems };
};

/** A package that a workspace links to is the project's own: TypeScript resolves the link to a path outside `node_modules`. */
const isOfPackage = (program: ts.Program, file: ts.SourceFile): boolean =>
  program.isSourceFileFromExternalLibrary(file) && file.fileName.includes('/node_modules/');

/** The files of the project itself. */
export const ownFiles = (program: ts.Program): ts.SourceFile[] =>
  program.getSourceFiles().filter((file) => !file.isDeclarationFile && !isOfPackage(program, file));
