/**
 * `npm run bench:size`: how many bytes of `clew.js` each module costs. Empty functions replace the exports of one module at a
 * time. The bundle then also lacks the modules that only this module imports.
 */
import { relative, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { type OutputChunk, type Plugin, rollup } from 'rollup';
import { loadConfigFile } from 'rollup/loadConfigFile';

const ROOT = resolve(import.meta.dirname, '..');
const { options } = await loadConfigFile(`${ROOT}/rollup.config.mjs`, {});
const { input = '', plugins } = options.find(({ output: [output] }) => output?.file === 'dist/clew.js') ?? {};

/** Modules as the plugins have compiled them. Compiling takes most of the time, so it happens once. */
const { cache } = await rollup({ input, plugins });
const compiled = new Map(cache?.modules.map((module) => [module.id, module]));

const pack = async (hollow: Readonly<Record<string, readonly string[]>> = {}) => {
  const override: Plugin = {
    name: 'hollow',
    resolveId: (source, importer) => compiled.get(importer ?? '')?.resolvedIds[source]?.id ?? null,
    load: (id) =>
      hollow[id]?.map((name) => `export const ${name} = () => {};`).join('\n') ?? compiled.get(id)?.code ?? null,
  };
  const minifiers = [plugins].flat().filter((plugin) => plugin && 'renderChunk' in plugin);
  const bundle = await rollup({ input, plugins: [override, minifiers] });
  const { output } = await bundle.generate({ file: 'dist/clew.js', format: 'iife' });
  return output[0];
};
const bytes = ({ code }: OutputChunk) => brotliCompressSync(code).length;

const whole = await pack();
const modules = Object.entries(whole.modules).filter(([id]) => id.startsWith(`${ROOT}/src/`));
const costs: [bytes: number, file: string][] = [];
for (const [id, { renderedExports, removedExports }] of modules) {
  // Rollup lists a constant that it has inlined as removed, although other modules import it.
  const names = [...renderedExports, ...removedExports];
  if (renderedExports.length) costs.push([bytes(whole) - bytes(await pack({ [id]: names })), relative(ROOT, id)]);
}
console.log(`\n| clew.js, ${bytes(whole)} bytes of brotli, without | bytes fewer |\n|---|---|`);
for (const [cost, file] of costs.sort(([a], [b]) => b - a)) console.log(`| ${file} | ${cost} |`);
