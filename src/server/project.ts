import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type ts from 'typescript';
import { ownFiles, type Project } from '../catalogue/readTypes.js';
import type { Compiler } from '../catalogue/typeKinds.js';

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

/**
 * The files and options of a `tsconfig.json`. One that only refers to others, as Vite's templates have it, stands for these.
 *
 * @throws Error that names the file that is missing or is no JSON
 */
const readConfigs = (compiler: Compiler, path: string, seen: readonly string[] = []): ts.ParsedCommandLine[] => {
  const { config, error } = compiler.readConfigFile(path, compiler.sys.readFile);
  if (error) throw new Error(`${path}: ${compiler.flattenDiagnosticMessageText(error.messageText, '\n')}`);
  const parsed = compiler.parseJsonConfigFileContent(config, compiler.sys, dirname(path), {}, path);
  const others = (parsed.projectReferences ?? []).map((one) => compiler.resolveProjectReferencePath(one));
  if (parsed.fileNames[0] || !others[0]) return [parsed];
  return others
    .filter((other) => !seen.includes(other))
    .flatMap((other) => readConfigs(compiler, other, [...seen, path]));
};

/** Whether there are types to read. A site of HTML has none, and needs no TypeScript. */
export const hasTypes = (cwd: string, tsconfig: string | undefined, extra: readonly string[]): boolean =>
  tsconfig !== undefined || extra[0] !== undefined || existsSync(resolve(cwd, 'tsconfig.json'));

/** Projects that are opened, and the folders of their built files. */
export interface Opened {
  readonly projects: readonly Project[];
  readonly outDirs: readonly string[];
}

/**
 * Opens the project of a `tsconfig.json`, or the projects that it refers to. Each has its own options: two apps may have the alias
 * `@/*`.
 *
 * @param extra further files, such as that of `--events`
 */
export const openProjects = (
  compiler: Compiler,
  cwd: string,
  given: string | undefined,
  extra: readonly string[],
): Opened => {
  const path = resolve(cwd, given ?? 'tsconfig.json');
  if (given && !existsSync(path)) throw new Error(`${given} does not exist`);
  const configs = existsSync(path) ? readConfigs(compiler, compiler.resolveProjectReferencePath({ path })) : [];
  const listed = new Set(configs.flatMap(({ fileNames }) => fileNames));
  const unlisted = extra.filter((file) => !listed.has(file));
  const [first = { fileNames: [], options: {} }, ...others] = configs;
  const seen = new Set<string>();
  const projects = [{ ...first, fileNames: [...first.fileNames, ...unlisted] }, ...others].map(
    ({ fileNames, options: own }): Project => {
      const options: ts.CompilerOptions = {
        target: compiler.ScriptTarget.ES2022,
        module: compiler.ModuleKind.ESNext,
        moduleResolution: compiler.ModuleResolutionKind.Bundler,
        jsx: compiler.JsxEmit.Preserve,
        ...own,
        // The types as they are written: without this, `undefined` is a part of none.
        strictNullChecks: true,
        noEmit: true,
        skipLibCheck: true,
      };
      const program = compiler.createProgram(fileNames, options);
      const roots = new Set(fileNames);
      // A file that several projects import is read once, with the options of the project that lists it.
      const files = ownFiles(program).filter(
        ({ fileName }) => !seen.has(fileName) && (roots.has(fileName) || !listed.has(fileName)),
      );
      for (const { fileName } of files) seen.add(fileName);
      return { program, files };
    },
  );
  return { projects, outDirs: configs.flatMap(({ options: { outDir } }) => outDir ?? []) };
};
