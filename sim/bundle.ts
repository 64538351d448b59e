import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { rollup } from 'rollup';

const DIST = join(import.meta.dirname, '../dist');

/** The files that a simulation runs. */
export interface Scripts {
  readonly tag: vm.Script;
  readonly stub: vm.Script;
  readonly relay: vm.Script;
}

/** The relay is a module with chunks: bundled into one script, otherwise as it is. */
const bundleRelay = async (folder: string): Promise<string> => {
  const bundle = await rollup({ input: join(folder, 'relay.js'), external: /^node:/ });
  const { output } = await bundle.generate({ format: 'iife', name: 'relay' });
  return output[0].code;
};

/** @param folder where `clew.js`, `stub.js` and `relay.js` are. Default: `dist` */
export const loadScripts = async (folder = DIST): Promise<Scripts> => {
  const script = (name: string) => new vm.Script(readFileSync(join(folder, name), 'utf8'), { filename: name });
  return {
    tag: script('clew.js'),
    stub: script('stub.js'),
    relay: new vm.Script(await bundleRelay(folder), { filename: 'relay.js' }),
  };
};
