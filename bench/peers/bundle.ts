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
  /** Its size, brotli at its best. */
  readonly bytes: number;
}

/** The types are checked elsewhere: here they are only taken away. */
const typescript: Plugin = {
  name: 'typescript',
  transform: (code, id) =>
    /\.ts$/.test(id)
      ? ts.transpileModule(code, {
          compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
        }).outputText
      : null,
  // Our own files import each other as what they will be.
  resolveId: (source, importer) =>
    importer && /subjects/.test(importer) && /^\.\/.*\.js$/.test(source)
      ? join(importer, '..', source.replace(/js$/, 'ts'))
      : null,
};

const weigh = (code: string): Bundle => ({ code, bytes: brotliCompressSync(code).length });

/** All are bundled alike, into one script; what a peer would load later is in it, too. */
export const bundle = async (subject: string): Promise<Bundle> => {
  const build = await rollup({
    input: join(import.meta.dirname, 'subjects', `${subject}.ts`),
    plugins: [typescript, nodeResolve({ browser: true }), commonjs()],
    // Peers import in circles and know of `this`; what cannot be resolved would be dead on arrival.
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

/** The script tag as it ships: its own build is part of it. */
export const shipped = async (): Promise<Bundle> =>
  weigh(await readFile(join(import.meta.dirname, '../../dist/clew.js'), 'utf8'));
