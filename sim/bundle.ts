import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import { createProgram, type Program } from './world/program.ts';

const DIST = join(import.meta.dirname, '../dist');

/** The files that a simulation runs. */
export interface Scripts {
  readonly tag: Program;
  readonly stub: Program;
  /** Returns the exports of `relay.js`. */
  readonly relay: Program;
  /** The npm build. Returns the exports of `index.js`. */
  readonly npm: Program;
  /** Returns the exports of `plugins.js`. */
  readonly plugins: Program;
}

/** Bundles a module with its chunks and packages into one script, and changes nothing else. */
const bundleModule = async (input: string, name: string): Promise<Program> => {
  const bundle = await rollup({ input, external: /^node:/, plugins: [nodeResolve({ browser: true })] });
  const { output } = await bundle.generate({ format: 'iife', name });
  return createProgram(`${output[0].code}\nreturn ${name};`, `${name}.js`);
};

/** @param folder where `relay.js` is. Default: `dist` */
export const loadRelay = (folder = DIST): Promise<Program> => bundleModule(join(folder, 'relay.js'), 'relay');

/** @param folder where `clew.js`, `stub.js`, `relay.js`, `index.js` and `plugins.js` are. Default: `dist` */
export const loadScripts = async (folder = DIST): Promise<Scripts> => {
  const script = (name: string) => createProgram(readFileSync(join(folder, name), 'utf8'), name);
  return {
    tag: script('clew.js'),
    stub: script('stub.js'),
    relay: await loadRelay(folder),
    npm: await bundleModule(join(folder, 'index.js'), 'npm'),
    plugins: await bundleModule(join(folder, 'plugins.js'), 'plugins'),
  };
};
