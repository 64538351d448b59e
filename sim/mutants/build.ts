import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { type Plugin, rollup } from 'rollup';
import ts from 'typescript';
import type { Mutant } from './mutant.ts';

const SOURCE = join(import.meta.dirname, '../../src');

/** The JavaScript of each file of `src`, by its TypeScript. Most files are the same in all mutants. */
const transpiled = new Map<string, string>();

const transpile = (text: string): string => {
  const known = transpiled.get(text);
  if (known !== undefined) return known;
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  });
  transpiled.set(text, outputText);
  return outputText;
};

/**
 * The text of a file with the mutant's replacement in it.
 *
 * @throws Error unless the text to replace occurs exactly once in the file
 */
export const mutate = (text: string, { name, file, find, replace }: Mutant): string => {
  const count = text.split(find).length - 1;
  if (count !== 1)
    throw new Error(
      `mutant "${name}": src/${file} has its text ${count} times, expected once: ${JSON.stringify(find)}`,
    );
  return text.replace(find, () => replace);
};

/** Compiles `src` without a check of types, and with the mutant's replacement. */
const source = (mutant: Mutant | undefined): Plugin => ({
  name: 'source',
  resolveId(id, importer) {
    if (!importer?.startsWith(SOURCE) || !id.startsWith('.')) return null;
    return join(importer, '..', id).replace(/\.js$/, '.ts');
  },
  load(id) {
    if (!id.startsWith(SOURCE)) return null;
    const text = readFileSync(id, 'utf8');
    return transpile(mutant && relative(SOURCE, id) === mutant.file ? mutate(text, mutant) : text);
  },
});

const bundle = async (entry: string, to: string, format: 'iife' | 'es', mutant?: Mutant): Promise<void> => {
  const built = await rollup({
    input: join(SOURCE, entry),
    plugins: [source(mutant), nodeResolve({ browser: true })],
    external: /^node:/,
    onwarn(warning) {
      throw new Error(warning.message);
    },
  });
  await built.write({ file: to, format });
  await built.close();
};

/** Builds `relay.js` alone, with the mutant's replacement. */
export const buildRelay = async (folder: string, mutant: Mutant): Promise<string> => {
  mutate(readFileSync(join(SOURCE, mutant.file), 'utf8'), mutant);
  await bundle('relay.ts', join(folder, 'relay.js'), 'es', mutant);
  return folder;
};

/**
 * Builds the files that a simulation runs into a new folder, like `npm run build` without a minifier.
 *
 * @param mutant Default: none, which builds clew unchanged
 * @param plain a folder built without a mutant. Files that the mutant does not change are copied from there
 */
export const build = async (folder: string, mutant?: Mutant, plain?: string): Promise<string> => {
  if (mutant) mutate(readFileSync(join(SOURCE, mutant.file), 'utf8'), mutant);
  mkdirSync(folder, { recursive: true });
  const isRelay = !!mutant?.file.startsWith('relay');
  const make = async (entry: string, name: string, format: 'iife' | 'es', isTouched: boolean) => {
    if (plain && !isTouched) cpSync(join(plain, name), join(folder, name));
    else await bundle(entry, join(folder, name), format, mutant);
  };
  await make('snippet.ts', 'clew.js', 'iife', !isRelay);
  await make('stub.ts', 'stub.js', 'iife', mutant?.file === 'stub.ts');
  await make('relay.ts', 'relay.js', 'es', isRelay);
  await make('index.ts', 'index.js', 'es', !isRelay);
  await make('plugins.ts', 'plugins.js', 'es', !isRelay);
  return folder;
};
