import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';

const DIST = join(import.meta.dirname, '../dist');

/** The files that a simulation runs. */
export interface Scripts {
  readonly tag: vm.Script;
  readonly stub: vm.Script;
  readonly relay: vm.Script;
  /** The npm build. It leaves its exports in the global `npm`. */
  readonly npm: vm.Script;
}

/** A module with chunks and packages: bundled into one script that leaves its exports in the global `name`, otherwise as it is. */
const bundleModule = async (input: string, name: string): Promise<vm.Script> => {
  const bundle = await rollup({
    input,
    external: /^node:/,
    plugins: [nodeResolve({ browser: true })],
  });
  const { output } = await bundle.generate({ format: 'iife', name });
  return new vm.Script(output[0].code, { filename: `${name}.js` });
};

/** @param folder where `clew.js`, `stub.js`, `relay.js` and `index.js` are. Default: `dist` */
export const loadScripts = async (folder = DIST): Promise<Scripts> => {
  const script = (name: string) => new vm.Script(readFileSync(join(folder, name), 'utf8'), { filename: name });
  return {
    tag: script('clew.js'),
    stub: script('stub.js'),
    relay: await bundleModule(join(folder, 'relay.js'), 'relay'),
    npm: await bundleModule(join(folder, 'index.js'), 'npm'),
  };
};
