import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import typescript from '@rollup/plugin-typescript';

/** A warning is a defect: an unresolved import would become an undefined global, and a snippet dead on arrival. */
const onwarn = (warning) => {
  throw Object.assign(new Error(), warning);
};

/**
 * Names of properties that never leave a bundle: not an option, a method, a signal, a wire field or anything stored, where
 * other builds and other people hold on to them. One that is missing here costs bytes, nothing else.
 */
const internal = [
  'added batchesWithin busy byteLength counts draft end endings enter fault hear held isRefused limits linkName onError onReport',
  'onSettled persist queue record removed reopen rewrite rows send service singles size stored tab transact wake post restore json',
].flatMap((line) => line.split(' '));

/** One keyword for both kinds of declaration is fewer bytes; what is constant was checked in the source. */
const let_ = { name: 'let', renderChunk: (code) => code.replace(/\bconst /g, 'let ') };

const minify = terser({
  ecma: 2022,
  module: true,
  compress: { passes: 5, unsafe_arrows: true, unsafe_methods: true, pure_getters: true, keep_fargs: false },
  mangle: { properties: { regex: new RegExp(`^(${internal.join('|')})$`), keep_quoted: true } },
});

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
    plugins: [nodeResolve({ browser: true }), let_, minify],
    output: { file: 'dist/clew.js', format: 'iife' },
    onwarn,
  },
  { input: 'dist/stub.js', plugins: [minify], output: { file: 'dist/stub.js', format: 'iife' }, onwarn },
];
