import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import typescript from '@rollup/plugin-typescript';

/** A warning is a defect: an unresolved import would become an undefined global, and a snippet dead on arrival. */
const onwarn = (warning) => {
  throw Object.assign(new Error(), warning);
};

/**
 * Names of properties that never leave a bundle: not an option, a method, a signal, a wire field or anything stored, where
 * other builds and other people hold on to them, and nothing of the browser's. One that is missing here costs bytes, no more.
 * What the signal `trace` tells (`tab`, `bytes`, `leaving`, `outcome`, `retryAfter`) leaves the bundle, too.
 */
const internal = [
  'added begin counts end enter hear items leave limits',
  'onError onReport onSettled persist post queue record remove reopen restore rows send service singles',
  'transact emit read most largest aside proven refusals strikes isDirect phase onLink onAnswer unsaved defer isOpen generation pack forget meet tell knows write settled',
].flatMap((line) => line.split(' '));

/**
 * uuid's v4, for the one way in which it is called here: without arguments. Browsers draw ids themselves, but on plain http,
 * where anybody can read them anyway: there the numbers need not be secret, only different. Each 0, 1 and 8 is a place for
 * a digit; what a 1 or an 8 adds to it is the version and the variant (RFC 9562, section 5.4).
 */
const shortUuid = {
  name: 'short-uuid',
  load: (id) =>
    /uuid\/dist\/v4\.js$/.test(id)
      ? `export default () =>
          crypto.randomUUID?.() ??
          '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
            (digit ^ ((Math.random() * 16) >> (digit / 4))).toString(16));`
      : null,
};

/** uPlot listens to the page from its import on, for a cursor that the inspector's chart does not have: then nobody may. */
const quietPlot = {
  name: 'quiet-plot',
  transform(code, id) {
    if (!/uPlot\.esm\.js$/.test(id)) return null;
    const quiet = code.replace(/\nif \(domEnv\) \{\s+on\(resize, win.+?\n\}/s, '');
    if (quiet === code) throw new Error('uPlot has changed: where does it listen now?');
    return { code: quiet, map: null };
  },
};

/** What Lit's builds for Node ask of a page. In one they take it; elsewhere the inspector is imported, and never opened. */
const noShim = {
  name: 'no-shim',
  load: (id) =>
    /ssr-dom-shim\/index\.js$/.test(id)
      ? 'export const { HTMLElement = class {}, customElements } = globalThis;'
      : null,
};

/** What is bundled keeps the notices that its licences ask for. */
const format = { comments: /@license|copyright/i };

/** One keyword for both kinds of declaration is fewer bytes; what is constant was checked in the source. */
const let_ = { name: 'let', renderChunk: (code) => code.replace(/\bconst /g, 'let ') };

const compress = {
  inline: 1,
  unsafe: true,
  unsafe_arrows: true,
  unsafe_methods: true,
  pure_getters: true,
  keep_fargs: false,
};
const minify = terser({
  ecma: 2022,
  module: true,
  compress,
  mangle: { properties: { builtins: true, regex: new RegExp(`^(${internal.join('|')})$`), keep_quoted: true } },
});

/** Shorter names leave more to shorten; all of it in the first place would come out larger. */
const again = terser({ ecma: 2022, module: true, compress: { ...compress, passes: 3 } });

/**
 * Almost all of it runs as the page loads: what is compiled at once is not parsed twice, and no call waits for it.
 * https://github.com/WICG/explicit-javascript-compile-hints-file-based
 */
const hint = { name: 'hint', renderChunk: (code) => `//# allFunctionsCalledOnLoad\n${code}` };

/** An inline script's hash is that of every character between its tags: the file has nothing that an editor may leave out. */
const trim = {
  name: 'trim',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) chunk.code = chunk.code.trim();
  },
};

/** Says what a strict Content-Security-Policy, or `integrity`, has to name. https://w3.org/TR/sri-2 */
const hashes = {
  name: 'hashes',
  async writeBundle() {
    const hash = async (kind, file) =>
      `${kind}-${createHash(kind)
        .update(await readFile(file))
        .digest('base64')}`;
    this.info(`dist/stub.js, inline, in script-src: '${await hash('sha256', 'dist/stub.js')}'`);
    this.info(`dist/clew.js: integrity="${await hash('sha384', 'dist/clew.js')}"`);
  },
};

/** TypeScript is compiled once, and again for `clew.js`: in the order of its modules it packs smaller than in that of the chunks. */
export default [
  {
    input: ['index', 'react', 'vue', 'service', 'relay', 'testing', 'inspector', 'stub'].map(
      (name) => `src/${name}.ts`,
    ),
    external: ['uuid', 'idb-keyval', 'react', 'vue', /^lit\b/, 'uplot'],
    plugins: [typescript()],
    output: { dir: 'dist', chunkFileNames: 'chunks/[name].js' },
    onwarn,
  },
  {
    input: 'src/snippet.ts',
    plugins: [
      typescript({ compilerOptions: { declaration: false } }),
      shortUuid,
      nodeResolve({ browser: true }),
      let_,
      minify,
      again,
      hint,
    ],
    output: { file: 'dist/clew.js', format: 'iife' },
    onwarn,
  },
  {
    input: 'dist/inspector.js',
    // Lit's builds for Node run in browsers, too: an app that renders on a server may import the inspector there.
    plugins: [
      quietPlot,
      noShim,
      nodeResolve({ exportConditions: ['node'] }),
      terser({ ecma: 2022, module: true, format }),
    ],
    output: { file: 'dist/inspector.js' },
    onwarn,
  },
  {
    input: 'dist/stub.js',
    plugins: [minify, trim, hashes],
    output: { file: 'dist/stub.js', format: 'iife' },
    onwarn,
  },
];
