import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import typescript from '@rollup/plugin-typescript';

/** A warning is a defect: an unresolved import would become an undefined global, and a snippet dead on arrival. */
const onwarn = (warning) => {
  // `clew/global` declares types only.
  if (warning.code === 'EMPTY_BUNDLE' && warning.names?.join() === 'global') return;
  throw Object.assign(new Error(), warning);
};

/**
 * Names of properties that never leave a bundle: not an option, a method, a signal, a wire field or anything stored, where
 * other builds and other people hold on to them, and nothing of the browser's. One that is missing here costs bytes, no more.
 * What the signal `trace` tells (`tab`, `bytes`, `leaving`, `outcome`, `retryAfter`) leaves the bundle, too.
 */
const internal = [
  'added begin counts end enter receive items leave limits',
  'onError onReport onSettled persist post queue record remove reopen restore rows send service singles',
  'transact emit read most largest aside proven refusals strikes isDirect onLink onAnswer onLost unsaved defer isOpen generation pack forget meet tell write settled',
  'isSure isLate adopt lend untake arrive onVisitor onLoad onChange onRefused onMissed elsewhere journal others grant check carry refuse',
  'settle isAway isStarted isBusy asked known collect note keep drop take drain rest start steps clock isFull replayedId attempt fail',
  'isMissing isOwn adopted lent number stored mine wasEmpty excessOf hasOlder measure saw onSize publish',
  'does settling change writes isDue entered holder remaining hasSettled isForced isReading hasLeft flight soon renew isReported db isResting timer',
].flatMap((line) => line.split(' '));

/**
 * uuid's v4, for the one form in which it is called here: without arguments. `crypto.randomUUID` is missing on plain http.
 * Each 0, 1 and 8 is a place for a digit; what a 1 or an 8 adds to it is the version and the variant (RFC 9562, section 5.4).
 */
const shortUuid = {
  name: 'short-uuid',
  load: (id) =>
    /uuid\/dist\/v4\.js$/.test(id)
      ? {
          code: `export default () =>
          crypto.randomUUID?.() ??
          '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
            (digit ^ ((crypto.getRandomValues(new Uint8Array(1))[0] & 15) >> (digit / 4))).toString(16));`,
          meta: { isOwn: true },
        }
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
      ? {
          code: 'export const { HTMLElement = class {}, customElements } = globalThis;',
          meta: { isOwn: true },
        }
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

const APACHE_END = 'END OF TERMS AND CONDITIONS';

/** A package's name, version, licence and the text of that licence. */
const licenceOf = async (folder) => {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((path) => /^licen[cs]e/i.test(path));
  if (!file) throw new Error(`${name} has no licence file`);
  const texts = [await readFile(join(folder, file), 'utf8')];
  // idb-keyval's file only links to the Apache licence, which asks for a copy: TypeScript ships one.
  if (license === 'Apache-2.0' && !texts[0].includes(APACHE_END)) {
    texts.push(await readFile('node_modules/typescript/LICENSE.txt', 'utf8'));
    if (!texts[1].includes(APACHE_END)) throw new Error('typescript/LICENSE.txt is not the Apache licence');
  }
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join('\n\n');
};

/**
 * MIT, BSD and Apache-2.0 ask that their texts go with the code: they are in a file beside the bundle, which a comment of the
 * bundle names.
 */
const licences = {
  name: 'licences',
  async generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      const rendered = Object.keys(chunk.modules).filter((id) => chunk.modules[id].renderedLength > 0);
      const packages = rendered
        .filter((id) => !this.getModuleInfo(id)?.meta.isOwn)
        .map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? '.');
      const texts = await Promise.all([...new Set(['.', ...packages])].map(licenceOf));
      const fileName = `${chunk.fileName}.LICENSE.txt`;
      this.emitFile({ type: 'asset', fileName, source: `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n` });
      // The compile hint stays first: Chromium takes it before anything else only.
      chunk.code = chunk.code.replace(/^(\/\/#.*\n)?/, `$&/*! ${fileName} */\n`);
    }
  },
};

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
    input: ['index', 'react', 'vue', 'service', 'relay', 'testing', 'inspector', 'global', 'stub'].map(
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
      licences,
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
      licences,
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
