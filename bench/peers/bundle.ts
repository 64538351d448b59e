import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { type Plugin, rollup } from 'rollup';
import ts from 'typescript';

export interface Bundle {
  readonly code: string;
  /** Size after brotli at its highest quality. */
  readonly bytes: number;
}

/** Only removes the types, because `npm run check` checks them. */
const typescript: Plugin = {
  name: 'typescript',
  transform: (code, id) =>
    /\.ts$/.test(id)
      ? ts.transpileModule(code, {
          compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
        }).outputText
      : null,
  // The subjects import each other's compiled names, which end in `.js`.
  resolveId: (source, importer) =>
    importer && /subjects/.test(importer) && /^\.\/.*\.js$/.test(source)
      ? join(importer, '..', source.replace(/js$/, 'ts'))
      : null,
};

const weigh = (code: string): Bundle => ({ code, bytes: brotliCompressSync(code).length });

/** Bundles every subject alike, into one script. The script includes the modules that a peer would load later. */
export const bundle = async (subject: string): Promise<Bundle> => {
  const build = await rollup({
    input: join(import.meta.dirname, 'subjects', `${subject}.ts`),
    plugins: [typescript, nodeResolve({ browser: true }), commonjs()],
    // Some peers import in circles or use `this` at the top level, which is harmless. A missing import would break the script.
    onwarn(warning) {
      if (/UNRESOLVED|MISSING/.test(warning.code ?? '')) throw new Error(`${subject}: ${warning.message}`);
    },
  });
  const { output } = await build.generate({
    format: 'iife',
    inlineDynamicImports: true,
    plugins: [terser({ ecma: 2022, compress: { passes: 2 } })],
  });
  await build.close();
  return weigh(output[0].code);
};

/** The script tag as it ships, minified by the project's own build. */
export const shipped = async (): Promise<Bundle> =>
  weigh(await readFile(join(import.meta.dirname, '../../dist/clew.js'), 'utf8'));
