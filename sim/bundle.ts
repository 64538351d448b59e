import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rollup } from 'rollup';
import { createProgram, type Program } from './world/program.ts';

const DIST = join(import.meta.dirname, '../dist');

/** The files that a simulation runs. */
export interface Scripts {
  readonly tag: Program;
  readonly stub: Program;
  /** Returns the exports of `relay.js`. */
  readonly relay: Program;
}

/** The relay is a module with chunks: bundled into one script, otherwise as it is. */
const bundleRelay = async (folder: string): Promise<string> => {
  const bundle = await rollup({ input: join(folder, 'relay.js'), external: /^node:/ });
  const { output } = await bundle.generate({ format: 'iife', name: 'relay' });
  return `${output[0].code}\nreturn relay;`;
};

/** @param folder where `clew.js`, `stub.js` and `relay.js` are. Default: `dist` */
export const loadScripts = async (folder = DIST): Promise<Scripts> => {
  const script = (name: string) => createProgram(readFileSync(join(folder, name), 'utf8'), name);
  return {
    tag: script('clew.js'),
    stub: script('stub.js'),
    relay: createProgram(await bundleRelay(folder), 'relay.js'),
  };
};
