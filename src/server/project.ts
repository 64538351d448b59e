import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type ts from 'typescript';
import type { Compiler } from '../catalogue/typeSchema.js';

/** The project's files, for the reader of types. */
export interface Project {
  readonly program: ts.Program;
  /** The folder of built files. */
  readonly outDir: string | undefined;
}

/** The second one has the compiler's functions for a project whose `typescript` is version 7, which has none. */
const PACKAGES = ['typescript', '@typescript/typescript6'];
const HOW =
  'npm install --save-dev typescript@6, or beside TypeScript 7: npm install --save-dev @typescript/typescript6';

/**
 * Loads TypeScript: the project's own, or the peer of clew.
 *
 * @throws Error with the command that installs it
 */
export const loadCompiler = (cwd: string): Compiler => {
  for (const from of [join(cwd, 'package.json'), import.meta.url])
    for (const name of PACKAGES) {
      try {
        const compiler = createRequire(from)(name) as Partial<Compiler>;
        if (compiler.createProgram) return compiler as Compiler;
      } catch {}
    }
  throw new Error(`typescript 5 or 6 is missing, and reads the types of your events: ${HOW}`);
};

/** The files and options of a `tsconfig.json`. One that only refers to others, as Vite's templates have it, stands for these. */
const readConfig = (compiler: Compiler, path: string, seen: readonly string[] = []): ts.ParsedCommandLine => {
  const { config, error } = compiler.readConfigFile(path, compiler.sys.readFile);
  if (error) throw new Error(compiler.flattenDiagnosticMessageText(error.messageText, '\n'));
  const parsed = compiler.parseJsonConfigFileContent(config, compiler.sys, dirname(path), {}, path);
  if (parsed.fileNames[0] || seen.includes(path)) return parsed;
  const others = (parsed.projectReferences ?? [])
    .map((reference) => compiler.resolveProjectReferencePath(reference))
    .filter(existsSync)
    .map((one) => readConfig(compiler, one, [...seen, path]));
  const [main] = [...others].sort((a, b) => b.fileNames.length - a.fileNames.length);
  return main ? { ...main, fileNames: [...new Set(others.flatMap(({ fileNames }) => fileNames))] } : parsed;
};

/** Whether there are types to read. A site of HTML has none, and needs no TypeScript. */
export const hasTypes = (cwd: string, tsconfig: string | undefined, extra: readonly string[]): boolean =>
  tsconfig !== undefined || extra[0] !== undefined || existsSync(resolve(cwd, 'tsconfig.json'));

/**
 * Opens the project of a `tsconfig.json`.
 *
 * @param extra further files, such as that of `--events`
 */
export const openProject = (
  compiler: Compiler,
  cwd: string,
  given: string | undefined,
  extra: readonly string[],
): Project => {
  const path = resolve(cwd, given ?? 'tsconfig.json');
  if (given && !existsSync(path)) throw new Error(`${given} does not exist`);
  const config = existsSync(path) ? readConfig(compiler, path) : undefined;
  const options: ts.CompilerOptions = {
    target: compiler.ScriptTarget.ES2022,
    module: compiler.ModuleKind.ESNext,
    moduleResolution: compiler.ModuleResolutionKind.Bundler,
    jsx: compiler.JsxEmit.Preserve,
    ...config?.options,
    // The types as they are written: without this, `undefined` is a part of none.
    strictNullChecks: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const program = compiler.createProgram([...new Set([...(config?.fileNames ?? []), ...extra])], options);
  return { program, outDir: config?.options.outDir };
};
