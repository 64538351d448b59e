/**
 * `npm run bench:size`: where the bytes of `clew.js` go. Each module is made hollow in turn, all others staying; what the
 * bundle is smaller by then is what the module costs, with what nobody else needs.
 */
import { relative, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { type OutputChunk, type Plugin, rollup } from 'rollup';
import { loadConfigFile } from 'rollup/loadConfigFile';

const ROOT = resolve(import.meta.dirname, '..');
const { options } = await loadConfigFile(`${ROOT}/rollup.config.mjs`, {});
const { input = '', plugins } = options.find(({ output: [output] }) => output?.file === 'dist/clew.js') ?? {};

const pack = async (hollow: Readonly<Record<string, readonly string[]>> = {}) => {
  const override: Plugin = {
    name: 'hollow',
    load: (id) => hollow[id]?.map((name) => `export const ${name} = () => {};`).join('\n') ?? null,
  };
  const bundle = await rollup({ input, plugins: [override, plugins] });
  const { output } = await bundle.generate({ file: 'dist/clew.js', format: 'iife' });
  return output[0];
};
const bytes = ({ code }: OutputChunk) => brotliCompressSync(code).length;

const whole = await pack();
const modules = Object.entries(whole.modules).filter(([id]) => id.startsWith(`${ROOT}/src/`));
const costs: [bytes: number, file: string][] = [];
for (const [id, { renderedExports, removedExports }] of modules) {
  // A constant that was inlined counts as removed, and is imported all the same.
  const names = [...renderedExports, ...removedExports];
  if (renderedExports.length) costs.push([bytes(whole) - bytes(await pack({ [id]: names })), relative(ROOT, id)]);
}
console.log(`\n| clew.js, ${bytes(whole)} bytes of brotli, without | bytes fewer |\n|---|---|`);
for (const [cost, file] of costs.sort(([a], [b]) => b - a)) console.log(`| ${file} | ${cost} |`);
