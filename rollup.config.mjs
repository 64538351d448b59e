import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import typescript from '@rollup/plugin-typescript';

/** A warning is a defect: an unresolved import would become an undefined global, and a snippet dead on arrival. */
const onwarn = (warning) => {
  throw Object.assign(new Error(), warning);
};

const minify = terser({ ecma: 2022, module: true, compress: { passes: 3, unsafe_arrows: true }, mangle: true });

/** TypeScript is compiled once; the script-tag files are bundled from what that emitted. */
export default [
  {
    input: ['index', 'service', 'relay', 'snippet', 'stub'].map((name) => `src/${name}.ts`),
    external: ['uuid', 'idb-keyval'],
    plugins: [typescript()],
    output: { dir: 'dist', chunkFileNames: 'chunks/[name].js' },
    onwarn,
  },
  {
    input: 'dist/snippet.js',
    plugins: [nodeResolve({ browser: true }), minify],
    output: { file: 'dist/clew.js', format: 'iife' },
    onwarn,
  },
  { input: 'dist/stub.js', plugins: [minify], output: { file: 'dist/stub.js', format: 'iife' }, onwarn },
];
