import ts from 'typescript';
import { makeCatalogue } from '../../src/catalogue/catalogue.ts';
import { marksInJsx } from '../../src/catalogue/jsx.ts';
import { ownFiles, type Project, type ReadEvents, readTypes } from '../../src/catalogue/readTypes.ts';
import type { Catalogue } from '../../src/catalogue/schema.ts';

const options: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es5.d.ts', 'lib.es2015.collection.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.Preserve,
  noEmit: true,
  types: [],
};
const real = ts.createCompilerHost(options);
/** The compiler's libraries are parsed for the first program only. */
const libraries = new Map<string, ts.SourceFile | undefined>();

/** `createTracker`, as the package declares it. */
const CLEW = `
  export interface Tracker<Events extends object> { track<Name extends keyof Events>(name: Name, payload: Events[Name]): void }
  export declare const createTracker: <Events extends object = Record<string, unknown>>(options: object) => Tracker<Events>;
`;

/** A project of these files, which can import `createTracker` from './clew'. */
export const projectOf = (files: Readonly<Record<string, string>>): Project => {
  const all = new Map(Object.entries({ 'clew.d.ts': CLEW, ...files }).map(([name, text]) => [`/app/${name}`, text]));
  const host: ts.CompilerHost = {
    ...real,
    getCurrentDirectory: () => '/app',
    fileExists: (path) => all.has(path),
    readFile: (path) => all.get(path),
    directoryExists: (path) => path === '/app',
    getSourceFile(path, version) {
      const text = all.get(path);
      if (text !== undefined) return ts.createSourceFile(path, text, version, true);
      if (!libraries.has(path)) libraries.set(path, real.getSourceFile(path, version));
      return libraries.get(path);
    },
  };
  const program = ts.createProgram([...all.keys()], options, host);
  return { program, files: ownFiles(program) };
};

const IMPORT = "import { createTracker } from './clew';";

/** The events of a file that declares `Events`. */
export const readEvents = (source: string, others: Readonly<Record<string, string>> = {}): ReadEvents => {
  const project = projectOf({ 'tracker.ts': `${IMPORT} ${source}\n createTracker<Events>({});`, ...others });
  return readTypes(ts, [project]);
};

/** The catalogue of a file that declares `Events`. */
export const catalogueOf = (source: string, others: Readonly<Record<string, string>> = {}): Catalogue =>
  makeCatalogue(readEvents(source, others), []).catalogue;

/** The marks of JSX in a file. */
export const marksOfJsx = (source: string) => {
  const jsx = 'declare namespace JSX { interface IntrinsicElements { [name: string]: any } }';
  const project = projectOf({ 'page.tsx': `${jsx} ${source}` });
  return marksInJsx(ts, project, (path) => path.replace('/app/', ''));
};
